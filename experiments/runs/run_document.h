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

// A run folder may come from anywhere. What is read of its files is checked here: that they are no
// larger than they can be, and that each value is there, of its kind and in its range. All throw
// InputError with the file, the key, the value and what is allowed.

/// Sizes that no run has, in bytes.
inline constexpr std::uintmax_t kMostFacts = 1 << 20;     // command.txt, *.json but:
inline constexpr std::uintmax_t kMostDetails = 32 << 20;  // test.json
inline constexpr std::uintmax_t kMostMetrics = 64 << 20;  // metrics.csv

/// A value of a metric, if it is finite and what its unit allows: shares from 0 to 1, what is
/// counted or takes time from 0 on, all at most 10^12. What is nearer to 0 than 10^-12 is 0.
/// `where` begins the message.
double checked(Metric metric, double value, const std::string& where);

/// Sizes of a list.
struct Sizes {
  std::size_t least, most;
};

/// A JSON file of a run folder, or an object in it.
class RunDocument {
 public:
  /// Reads a whole file, which must be a JSON object.
  RunDocument(const std::filesystem::path& path, std::uintmax_t most_bytes);

  bool has(const std::string& key) const;
  bool has_number(Metric metric) const;

  double number(Metric metric) const;
  std::vector<double> numbers(Metric metric, Sizes sizes) const;
  /// From 1 to `most`.
  int count(const std::string& key, int most) const;
  /// As numbers(), of a key that is no metric's name but holds values of one.
  std::vector<double> numbers(const std::string& key, Metric metric, Sizes sizes) const;
  std::string text(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key, Sizes sizes) const;
  std::map<std::string, std::string> texts_by_name(const std::string& key, Sizes sizes) const;
  /// The object that a key holds.
  RunDocument part(const std::string& key) const;

 private:
  using Json = nlohmann::json;
  RunDocument(std::string name, std::shared_ptr<const Json> json);

  std::string where(const std::string& key) const;
  const Json& value(const std::string& key) const;
  [[noreturn]] void fail(const std::string& key, const Json& value,
                         const std::string& allowed) const;
  void check_size(const std::string& key, std::size_t size, Sizes sizes) const;

  std::string name_;  // of the file, and where in it
  std::shared_ptr<const Json> json_;
};

}  // namespace saccade
