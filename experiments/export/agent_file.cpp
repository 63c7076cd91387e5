#include "experiments/export/agent_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "base/error.h"
#include "experiments/files/json_text.h"

namespace saccade {
namespace {

constexpr std::size_t kLengthBytes = 8;  // of a safetensors file's header
constexpr int kMostClasses = 256;        // a label has one byte

// The length of what comes before the numbers.
std::size_t head_of(const std::string& checkpoint, std::size_t width) {
  std::uint64_t header = 0;
  if (checkpoint.size() >= kLengthBytes) std::memcpy(&header, checkpoint.data(), kLengthBytes);
  const std::uint64_t head = kLengthBytes + header;
  if (head > checkpoint.size() || (checkpoint.size() - head) % width != 0)
    throw std::logic_error("an agent's weights are no safetensors file of this precision");
  return head;
}

}  // namespace

std::string agent_file(const nlohmann::json& about, const std::string& checkpoint,
                       Precision precision, const std::string& digits) {
  const std::size_t width = size_of(precision);
  const std::size_t head = head_of(checkpoint, width);
  nlohmann::json lengths = {{"about", about}, {"head", head}, {"width", width}};
  lengths["numbers"] = (checkpoint.size() - head) / width;
  lengths["digits"] = digits.size();
  const std::string header = json_text(lengths);
  std::string file = "SACCADE1";
  for (int shift = 0; shift < 32; shift += 8)
    file += static_cast<char>(header.size() >> shift & 255);
  file += header;
  file.append(checkpoint, 0, head);
  for (std::size_t place = width; place-- > 0;)
    for (std::size_t i = head + place; i < checkpoint.size(); i += width) file += checkpoint[i];
  return file + digits;
}

std::string some_digits(const Dataset& set, int count) {
  if (set.classes > kMostClasses)
    throw InputError(fmt::format("{} classes, where labels are bytes; allowed: up to {}",
                                 set.classes, kMostClasses));
  const std::size_t pixels = set.images.size() / set.labels.size();
  std::string images, labels;
  for (int i = 0; i < count; ++i) {
    const auto from = static_cast<std::int64_t>(i) * set.size() / count;
    images.append(reinterpret_cast<const char*>(set.images.data()) + from * pixels, pixels);
    labels += static_cast<char>(set.labels(from));
  }
  return images + labels;
}

}  // namespace saccade
