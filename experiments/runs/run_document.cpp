#include "experiments/runs/run_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.h"
#include "base/read_text.h"

namespace saccade {
namespace {

using AnyJson = nlohmann::json;

constexpr double kMostValue = 1e12, kLeastValue = 1e-12;
constexpr double kRounding = 1e-3;  // of a share that is a sum of single-precision weights

struct ValueBounds {
  double least, most;
};

ValueBounds bounds_of(Metric metric) {
  const auto facts = std::ranges::find(kMetrics, metric.name(), &MetricFacts::name);
  if (facts->unit == "share") return {0.0, 1.0};
  if (facts->unit == "scenes" || facts->unit == "images")
    return {0.0, std::numeric_limits<int>::max()};
  if (facts->unit.empty() || facts->unit == "nats" || facts->unit == "half canvases")
    return {-kMostValue, kMostValue};
  return {0.0, kMostValue};
}

// The beginning of a value as written in the file.
std::string excerpt(const AnyJson& value) {
  constexpr std::size_t kMost = 40;
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  const std::string text =
      value.dump(-1, ' ', /*ensure_ascii=*/true, AnyJson::error_handler_t::replace);
  return text.size() <= kMost ? text : text.substr(0, kMost) + "..";
}

}  // namespace

double checked(Metric metric, double value, const std::string& where) {
  const auto [least, most] = bounds_of(metric);
  if (!(value >= least - kRounding && value <= most + kRounding))
    throw InputError(fmt::format("{}: {}; allowed: {} to {}", where, value, least, most));
  return std::abs(value) < kLeastValue ? 0.0 : value;
}

RunDocument::RunDocument(const std::filesystem::path& path, std::uintmax_t most_bytes)
    : RunDocument(of_text(read_text(path, most_bytes), path.string())) {}

RunDocument RunDocument::of_text(const std::string& text, const std::string& name) {
  const auto json =
      std::make_shared<const Json>(Json::parse(text, nullptr, /*allow_exceptions=*/false));
  if (!json->is_object()) throw InputError(fmt::format("{}: is not a JSON object", name));
  return RunDocument(name, json);
}

RunDocument::RunDocument(std::string name, std::shared_ptr<const Json> json)
    : name_(std::move(name)), json_(std::move(json)) {}

bool RunDocument::has(const std::string& key) const { return json_->contains(key); }

bool RunDocument::has_number(Metric metric) const {
  return has(metric.name()) && value(metric.name()).is_number();
}

double RunDocument::number(Metric metric) const {
  const std::string key = metric.name();
  const Json& found = value(key);
  if (!found.is_number()) fail(key, found, "a number");
  return checked(metric, found.get<double>(), where(key));
}

std::vector<double> RunDocument::numbers(Metric metric, Sizes sizes) const {
  return numbers(metric.name(), metric, sizes);
}

std::vector<double> RunDocument::numbers(const std::string& key, Metric metric, Sizes sizes) const {
  const Json& list = value(key);
  if (!list.is_array()) fail(key, list, "a list of numbers");
  check_size(key, list.size(), sizes);
  std::vector<double> numbers;
  numbers.reserve(list.size());
  for (const Json& one : list) {
    if (!one.is_number()) fail(key, one, "numbers");
    numbers.push_back(checked(metric, one.get<double>(), where(key)));
  }
  return numbers;
}

std::vector<double> RunDocument::numbers_up_to(double most, const std::string& key, Metric metric,
                                               Sizes sizes) const {
  const std::vector<double> all = numbers(key, metric, sizes);
  for (const double one : all)
    if (one < 1.0 || one > most) fail(key, one, fmt::format("1 to {}", most));
  return all;
}

int RunDocument::count(const std::string& key, int most) const {
  const Json& found = value(key);
  const double number = found.is_number_integer() ? found.get<double>() : 0.0;
  if (!(number >= 1.0 && number <= most)) fail(key, found, fmt::format("1 to {}", most));
  return static_cast<int>(number);
}

std::string RunDocument::text(const std::string& key) const {
  const Json& found = value(key);
  if (!found.is_string()) fail(key, found, "text");
  return found.get<std::string>();
}

std::vector<std::string> RunDocument::texts(const std::string& key, Sizes sizes) const {
  const Json& list = value(key);
  if (!list.is_array()) fail(key, list, "a list of texts");
  check_size(key, list.size(), sizes);
  std::vector<std::string> texts;
  for (const Json& one : list) {
    if (!one.is_string()) fail(key, one, "texts");
    texts.push_back(one.get<std::string>());
  }
  return texts;
}

std::map<std::string, std::string> RunDocument::texts_by_name(const std::string& key,
                                                              Sizes sizes) const {
  const Json& object = value(key);
  if (!object.is_object()) fail(key, object, "an object of texts");
  check_size(key, object.size(), sizes);
  std::map<std::string, std::string> texts;
  for (const auto& [name, one] : object.items()) {
    if (!one.is_string()) fail(key, one, "texts");
    texts[name] = one.get<std::string>();
  }
  return texts;
}

RunDocument RunDocument::part(const std::string& key) const {
  const Json& found = value(key);
  if (!found.is_object()) fail(key, found, "an object");
  return {where(key), {json_, &found}};  // keeps the whole document alive
}

std::string RunDocument::where(const std::string& key) const {
  return fmt::format("{}: '{}'", name_, key);
}

const RunDocument::Json& RunDocument::value(const std::string& key) const {
  const auto found = json_->find(key);
  if (found == json_->end()) throw InputError(where(key) + " is missing");
  return *found;
}

void RunDocument::fail(const std::string& key, const Json& value,
                       const std::string& allowed) const {
  throw InputError(fmt::format("{}: {}; allowed: {}", where(key), excerpt(value), allowed));
}

void RunDocument::check_size(const std::string& key, std::size_t size, Sizes sizes) const {
  if (size >= sizes.least && size <= sizes.most) return;
  throw InputError(
      fmt::format("{} has {} value{}; allowed: {}", where(key), size, size == 1 ? "" : "s",
                  sizes.least == sizes.most ? fmt::format("{}", sizes.most)
                                            : fmt::format("{} to {}", sizes.least, sizes.most)));
}

}  // namespace saccade
