#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/output.h"
#include "experiments/files/metrics.h"

namespace saccade {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4).
std::uint32_t crc32c_of(std::string_view bytes);
/// The same as stored in TFRecord files: rotated and offset, so that it may appear within
/// checksummed data.
std::uint32_t masked_crc32c_of(std::string_view bytes);

/// A file of TensorBoard events: TFRecord frames (length as 8 bytes little-endian, its masked
/// CRC-32C, the message, its masked CRC-32C), each an Event of tensorboard.proto. The first holds
/// the version of the format. Each event is written in one piece, unbuffered.
class EventFile {
 public:
  /// Opens for appending after the last event of a step <= `keep_step` that precedes any later
  /// step. What follows it, events of later steps or an incomplete one, is dropped first. Throws
  /// std::runtime_error naming a file that cannot be written.
  EventFile(const std::filesystem::path& path, std::int64_t keep_step);

  /// Adds one event with a scalar for each value, as float32, tagged with the metric's name.
  void add_scalars(std::int64_t step, const MetricValues& values);
  /// Adds one event with a picture: the bytes of a PNG or GIF file. Throws std::runtime_error for
  /// other formats.
  void add_picture(std::int64_t step, const std::string& tag, const std::string& encoded);

  /// As AppendedFile.
  void sync() const { file_.sync(); }

 private:
  void append(const std::string& message);

  AppendedFile file_;
};

}  // namespace saccade
