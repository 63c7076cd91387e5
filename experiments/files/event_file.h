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
/// The same as TFRecord files keep it: turned and shifted, so that it may stand among the bytes.
std::uint32_t masked_crc32c_of(std::string_view bytes);

/// A file of events that TensorBoard reads: TFRecord frames (length as 8 bytes little-endian, its
/// masked CRC-32C, the message, its masked CRC-32C), each an Event of tensorboard.proto. The first
/// names the version of the file. Each event is written whole and at once.
class EventFile {
 public:
  /// Opens for appending, behind the last event of a step <= `keep_step` that stands before any
  /// later one: what follows - of later steps, or cut in its middle - is dropped first. Throws
  /// std::runtime_error naming a file that cannot be written.
  EventFile(const std::filesystem::path& path, std::int64_t keep_step);

  /// One event with a scalar of each value, as float32, under the metrics' names.
  void add_scalars(std::int64_t step, const MetricValues& values);
  /// One event with a picture: the bytes of a PNG or GIF file. Throws std::runtime_error for
  /// others.
  void add_picture(std::int64_t step, const std::string& tag, const std::string& encoded);

  /// As AppendedFile.
  void sync() const { file_.sync(); }

 private:
  void append(const std::string& message);

  AppendedFile file_;
};

}  // namespace saccade
