#include "experiments/files/event_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <stdexcept>

#include "base/input_file.h"
#include "base/output.h"
#include "tensorboard.pb.h"

namespace saccade {
namespace {

namespace fs = std::filesystem;
using tensorboard::Event;

constexpr const char* kVersion = "brain.Event:2";
constexpr const char* kStart = "_hparams_/session_start_info";
constexpr const char* kEnd = "_hparams_/session_end_info";
constexpr std::size_t kHead = 12, kTail = 4;  // bytes of a frame before and after the message

// Table by byte, for the reflected polynomial.
constexpr std::array<std::uint32_t, 256> crc32c_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78U : 0U);
    table[byte] = crc;
  }
  return table;
}

std::string little_endian(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> 8 * i & 0xFF);
  return text;
}

std::uint64_t number_of(std::string_view bytes, bool little = true) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    number = number << 8 | static_cast<std::uint8_t>(bytes[little ? bytes.size() - 1 - i : i]);
  return number;
}

std::string checksum(std::string_view bytes) { return little_endian(masked_crc32c_of(bytes), 4); }

// Reads the next bytes; fewer at the end of the file.
std::string take(std::istream& file, std::uint64_t count) {
  std::string bytes(count, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

// Reads the event of the next frame; returns false at the end or if the frame is incomplete.
bool read_event(std::istream& file, std::uint64_t bytes_left, Event& event) {
  const std::string head = take(file, std::min<std::uint64_t>(kHead, bytes_left));
  if (head.size() != kHead || head.substr(8) != checksum(head.substr(0, 8))) return false;
  const std::uint64_t length = number_of(head.substr(0, 8));
  if (bytes_left < kHead + kTail || length > bytes_left - kHead - kTail) return false;
  const std::string message = take(file, length);
  return take(file, kTail) == checksum(message) && event.ParseFromString(message);
}

bool has_tag(const Event& event, const char* tag) {
  return event.summary().value_size() > 0 && event.summary().value(0).tag() == tag;
}

struct Kept {
  std::uint64_t bytes = 0;  // of the file, up to the first event that is to be dropped
  bool session = false;     // whether these begin one
};

Kept events_to_keep(const fs::path& path, std::int64_t keep_step) {
  const std::unique_ptr<InputFile> file = InputFile::if_there(path);
  Kept kept;
  Event event;
  while (file && read_event(*file, file->size() - kept.bytes, event)) {
    const bool begins = event.what_case() == Event::kFileVersion;
    if (begins != (kept.bytes == 0) || (!begins && event.step() > keep_step)) break;
    if (has_tag(event, kEnd)) break;
    kept.bytes = static_cast<std::uint64_t>(file->tellg());
    kept.session |= has_tag(event, kStart);
  }
  return kept;
}

Event event_of(std::int64_t step) {
  Event event;
  event.set_wall_time(
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
  event.set_step(step);
  return event;
}

void add(Event& event, const char* tag, const tensorboard::HParams& content) {
  tensorboard::Summary::Value* value = event.mutable_summary()->add_value();
  value->set_tag(tag);
  value->mutable_metadata()->mutable_plugin()->set_name("hparams");
  value->mutable_metadata()->mutable_plugin()->set_content(content.SerializeAsString());
}

void add(Event& event, const MetricValues& values) {
  for (const auto& [metric, number] : values) {
    tensorboard::Summary::Value* value = event.mutable_summary()->add_value();
    value->set_tag(metric.name());
    value->set_simple_value(static_cast<float>(number));
  }
}

void set(tensorboard::HParams::Value& value, bool flag) { value.set_flag(flag); }
void set(tensorboard::HParams::Value& value, double number) { value.set_number(number); }
void set(tensorboard::HParams::Value& value, const std::string& text) { value.set_text(text); }

// Reads width and height from the header of a PNG or GIF file.
void describe(tensorboard::Summary::Image& image, std::string_view encoded) {
  const auto number = [&](std::size_t place, std::size_t bytes, bool little) {
    return static_cast<int>(number_of(encoded.substr(place, bytes), little));
  };
  if (encoded.size() > 24 && encoded.starts_with("\x89PNG")) {
    image.set_width(number(16, 4, false));
    image.set_height(number(20, 4, false));
  } else if (encoded.size() > 10 && encoded.starts_with("GIF8")) {
    image.set_width(number(6, 2, true));
    image.set_height(number(8, 2, true));
  } else {
    throw std::runtime_error("a picture for TensorBoard is neither a PNG nor a GIF");
  }
  image.set_colorspace(3);
}

}  // namespace

std::uint32_t crc32c_of(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> table = crc32c_table();
  std::uint32_t crc = ~0U;
  for (const char byte : bytes)
    crc = crc >> 8 ^ table[(crc ^ static_cast<std::uint8_t>(byte)) & 0xFF];
  return ~crc;
}

std::uint32_t masked_crc32c_of(std::string_view bytes) {
  const std::uint32_t crc = crc32c_of(bytes);
  return (crc >> 15 | crc << 17) + 0xA282EAD8U;
}

EventFile::EventFile(const fs::path& path, std::int64_t keep_step) {
  const Kept kept = events_to_keep(path, keep_step);
  has_session_ = kept.session;
  if (kept.bytes > 0) fs::resize_file(path, kept.bytes);
  file_ = AppendedFile(path, /*anew=*/kept.bytes == 0);
  if (kept.bytes > 0) return;
  Event event = event_of(0);
  event.set_file_version(kVersion);
  append(event.SerializeAsString());
}

void EventFile::add_scalars(std::int64_t step, const MetricValues& values) {
  Event event = event_of(step);
  add(event, values);
  append(event.SerializeAsString());
}

void EventFile::begin_session(const std::vector<std::pair<std::string, EventSetting>>& settings) {
  if (has_session_) return;
  has_session_ = true;
  tensorboard::HParams content;
  content.mutable_start();  // even of no settings
  for (const auto& [name, value] : settings) {
    tensorboard::HParams::Entry* entry = content.mutable_start()->add_settings();
    entry->set_name(name);
    std::visit([&](const auto& v) { set(*entry->mutable_value(), v); }, value);
  }
  Event event = event_of(0);
  add(event, kStart, content);
  append(event.SerializeAsString());
}

void EventFile::end_session(std::int64_t step, const MetricValues& values) {
  tensorboard::HParams content;
  content.mutable_end()->set_status(1);
  Event event = event_of(step);
  add(event, kEnd, content);
  add(event, values);
  append(event.SerializeAsString());
}

void EventFile::add_picture(std::int64_t step, const std::string& tag, const std::string& encoded) {
  Event event = event_of(step);
  tensorboard::Summary::Value* value = event.mutable_summary()->add_value();
  value->set_tag(tag);
  describe(*value->mutable_image(), encoded);
  value->mutable_image()->set_encoded_image_string(encoded);
  append(event.SerializeAsString());
}

void EventFile::append(const std::string& message) {
  const std::string length = little_endian(message.size(), 8);
  file_.append(length + checksum(length) + message + checksum(message));
}

}  // namespace saccade
