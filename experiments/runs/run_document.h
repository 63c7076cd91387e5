#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "experiments/files/metrics.h"

namespace saccade {

// A run folder may come from anywhere, so whatever is read from its files is checked here: the size
// is bounded, and each value is present, of its type and in its range. All functions throw
// InputError with the file, the key, the value and what is allowed.

/// Upper bounds in bytes that no real run reaches.
inline constexpr std::uintmax_t kMostFacts = 1 << 20;     // command.txt and *.json other than:
inline constexpr std::uintmax_t kMostDetails = 32 << 20;  // test.json
inline constexpr std::uintmax_t kMostMetrics = 64 << 20;  // metrics.csv

/// Returns a metric's value if it is finite and within its unit's range: shares from 0 to 1, counts
/// and times from 0, scenes and images at most 2^31 - 1, all at most 10^12. Magnitudes below 10^-12
/// become 0. `where` begins the error message.
double checked(Metric metric, double value, const std::string& where);

/// Range of a list's length.
struct Sizes {
  std::size_t least, most;
};

/// A JSON file of a run folder, or an object within it.
class RunDocument {
 public:
  /// Reads a whole file, which must contain a JSON object.
  RunDocument(const std::filesystem::path& path, std::uintmax_t most_bytes);
  /// Reads a text instead; `name` stands for the file in messages.
  static RunDocument of_text(const std::string& text, const std::string& name);

  bool has(const std::string& key) const;
  bool has_number(Metric metric) const;

  double number(Metric metric) const;
  std::vector<double> numbers(Metric metric, Sizes sizes) const;
  /// Returns an integer from 1 to `most`.
  int count(const std::string& key, int most) const;
  /// Like numbers(), for a key that is not a metric's name but holds values of one.
  std::vector<double> numbers(const std::string& key, Metric metric, Sizes sizes) const;
  /// The same, of numbers from 1 to `most`.
  std::vector<double> numbers_up_to(double most, const std::string& key, Metric metric,
                                    Sizes sizes) const;
  std::string text(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key, Sizes sizes) const;
  std::map<std::string, std::string> texts_by_name(const std::string& key, Sizes sizes) const;
  /// Returns the object under a key.
  RunDocument part(const std::string& key) const;

 private:
  using Json = nlohmann::json;
  RunDocument(std::string name, std::shared_ptr<const Json> json);

  std::string where(const std::string& key) const;
  const Json& value(const std::string& key) const;
  [[noreturn]] void fail(const std::string& key, const Json& value,
                         const std::string& allowed) const;
  void check_size(const std::string& key, std::size_t size, Sizes sizes) const;

  std::string name_;  // the file, and the place within it
  std::shared_ptr<const Json> json_;
};

}  // namespace saccade
