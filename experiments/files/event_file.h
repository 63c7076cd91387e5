#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/output.h"
#include "experiments/files/metrics.h"

namespace saccade {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4).
std::uint32_t crc32c_of(std::string_view bytes);
/// The same as stored in TFRecord files: rotated and offset, so that it may appear within
/// checksummed data.
std::uint32_t masked_crc32c_of(std::string_view bytes);

/// The value of a setting, as TensorBoard's hyperparameters are.
using EventSetting = std::variant<bool, double, std::string>;

/// A file of TensorBoard events: TFRecord frames (length as 8 bytes little-endian, its masked
/// CRC-32C, the message, its masked CRC-32C), each an Event of tensorboard.proto. The first holds
/// the version of the format. Each event is written in one piece, unbuffered.
class EventFile {
 public:
  /// Opens for appending after the last event of a step <= `keep_step` that precedes any later
  /// step and the end of the session. What follows it is dropped first, an incomplete event too.
  /// Throws std::runtime_error naming a file that cannot be written.
  EventFile(const std::filesystem::path& path, std::int64_t keep_step);

  /// Adds one event with a scalar for each value, as float32, tagged with the metric's name.
  void add_scalars(std::int64_t step, const MetricValues& values);
  /// Adds one event with a picture: the bytes of a PNG or GIF file. Throws std::runtime_error for
  /// other formats.
  void add_picture(std::int64_t step, const std::string& tag, const std::string& encoded);

  /// Begins what the tab for hyperparameters calls a session: adds an event with the settings, by
  /// name, unless the file has one.
  void begin_session(const std::vector<std::pair<std::string, EventSetting>>& settings);
  /// Ends it as successful: adds one event with that and a scalar for each value.
  void end_session(std::int64_t step, const MetricValues& values);

  /// As AppendedFile.
  void sync() const { file_.sync(); }

 private:
  void append(const std::string& message);

  AppendedFile file_;
  bool has_session_ = false;
};

}  // namespace saccade
