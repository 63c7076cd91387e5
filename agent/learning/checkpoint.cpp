#include "agent/learning/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/error.h"

namespace saccade {
namespace {

constexpr const char* kFormat = "saccade checkpoint ";  // followed by the version
constexpr int kVersion = 1;
constexpr std::int64_t kMostUpdates = 1'000'000'000'000'000;
constexpr const char* kRate = "learning_rate_factor";
constexpr const char* kAveraged = "ema/";
constexpr const char* kFirst = "optimizer.first/";
constexpr const char* kSecond = "optimizer.second/";
constexpr const char* kMoments = "optimizer.";

void add_block(std::vector<NamedTensor>& tensors, const ParameterLayout& layout,
               const std::string& prefix, std::span<const float> block) {
  if (block.empty()) return;  // this optimiser does not have this moment
  for (const Parameter& p : layout.parameters())
    tensors.push_back({prefix + p.name,
                       {static_cast<std::size_t>(p.rows), static_cast<std::size_t>(p.cols)},
                       block.subspan(p.offset, p.size())});
}

std::vector<std::size_t> shape_of(const Parameter& p) {
  return {static_cast<std::size_t>(p.rows), static_cast<std::size_t>(p.cols)};
}

}  // namespace

std::string exact(double value) { return fmt::format("{}", value); }

double from_exact(const std::string& text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw InputError(fmt::format("'{}' in the checkpoint is not a number", text));
  return value;
}

namespace {

std::string exact(const std::vector<double>& values) {
  return fmt::format("{}", fmt::join(values, " "));
}

// Returns one average per step. Checkpoints of version 0.2 and earlier hold one for all steps.
std::vector<double> averages_of(const std::string& text, std::size_t steps) {
  std::vector<double> values;
  std::istringstream words(text);
  for (std::string word; words >> word;) values.push_back(from_exact(word));
  if (values.size() == 1) values.assign(steps, values[0]);
  if (values.size() != steps)
    throw InputError(fmt::format("average_reward: {} numbers in the checkpoint; allowed: {}",
                                 values.size(), steps));
  return values;
}

std::map<std::string, std::string> metadata_of(const Learner& learner,
                                               const std::string& config_yaml,
                                               const std::map<std::string, std::string>& notes) {
  std::map<std::string, std::string> metadata{{"format", kFormat + std::to_string(kVersion)},
                                              {"config", config_yaml},
                                              {"updates", std::to_string(learner.updates())},
                                              {"average_reward", exact(learner.average_returns)}};
  if (learner.optimizer.rate_factor != 1.0)
    metadata[kRate] = saccade::exact(learner.optimizer.rate_factor);
  for (const auto& [name, text] : notes) metadata["note." + name] = text;
  return metadata;
}

}  // namespace

void save_checkpoint(const std::filesystem::path& path, const Learner& learner,
                     const std::string& config_yaml,
                     const std::map<std::string, std::string>& notes) {
  const ParameterLayout& layout = learner.model().layout();
  std::vector<NamedTensor> tensors;
  add_block(tensors, layout, "", flat(learner.parameters));
  add_block(tensors, layout, kAveraged, flat(learner.optimizer.averaged));
  add_block(tensors, layout, kFirst, flat(learner.optimizer.first));
  add_block(tensors, layout, kSecond, flat(learner.optimizer.second));
  write_safetensors(path, tensors, metadata_of(learner, config_yaml, notes));
}

void save_averaged(const std::filesystem::path& path, const Learner& learner,
                   const std::string& config_yaml,
                   const std::map<std::string, std::string>& notes) {
  write_averaged(path, flat(learner.optimizer.averaged), learner.model().layout(),
                 metadata_of(learner, config_yaml, notes));
}

Checkpoint::Checkpoint(const std::filesystem::path& path)
    : Checkpoint(read_safetensors(path), path.string()) {}

Checkpoint::Checkpoint(SafetensorsFile file, const std::string& origin)
    : path_(origin), file_(std::move(file)) {
  check_format();
  check_finite();
}

void Checkpoint::check_format() const {
  const auto format = file_.metadata.find("format");
  const std::string text = format == file_.metadata.end() ? "" : format->second;
  int version = 0;
  if (text.starts_with(kFormat))
    std::from_chars(text.data() + std::string_view(kFormat).size(), text.data() + text.size(),
                    version);
  if (version > kVersion)
    throw NewerCheckpoint(
        fmt::format("{}: was written by a later version of this program ('{}'; this one reads "
                    "'{}{}'): read it with that one",
                    path_.string(), text, kFormat, kVersion));
  if (version < 1)
    throw InputError(fmt::format("{}: not a checkpoint of this program ('{}{}' expected as format)",
                                 path_.string(), kFormat, kVersion));
  if (!file_.has_checksum)
    throw InputError(path_.string() + ": altered: it has no crc32, as every checkpoint has");
}

void Checkpoint::check_finite() const {
  for (const NamedTensor& tensor : file_.tensors)
    if (!tensor.name.starts_with(kMoments) &&
        !std::ranges::all_of(tensor.data, [](float x) { return std::isfinite(x); }))
      throw InputError(
          fmt::format("{}: '{}' has values that are not finite", path_.string(), tensor.name));
}

std::int64_t Checkpoint::updates() const {
  const std::string& text = entry("updates");
  std::int64_t updates = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), updates);
  if (error != std::errc{} || end != text.data() + text.size() || updates < 0 ||
      updates > kMostUpdates)
    throw InputError(
        fmt::format("{}: updates: {}; allowed: 0 to {}", path_.string(), text, kMostUpdates));
  return updates;
}

double Checkpoint::learning_rate_factor() const {
  if (!file_.metadata.contains(kRate)) return 1.0;
  const double factor = from_exact(entry(kRate));
  if (!kRateFactor.contains(factor))
    throw InputError(fmt::format("{}: {}: {}; allowed: {} to {}", path_.string(), kRate, factor,
                                 kRateFactor.low, kRateFactor.high));
  return factor;
}

const std::string& Checkpoint::entry(const std::string& key) const {
  const auto found = file_.metadata.find(key);
  if (found == file_.metadata.end())
    throw InputError(fmt::format("{}: the checkpoint has no entry '{}'", path_.string(), key));
  return found->second;
}

void Checkpoint::restore(Learner& learner) const {
  const ParameterLayout& layout = learner.model().layout();
  Optimizer& optimizer = learner.optimizer;
  const std::pair<const char*, Tensor<1>*> blocks[] = {{"", &learner.parameters},
                                                       {kAveraged, &optimizer.averaged},
                                                       {kFirst, &optimizer.first},
                                                       {kSecond, &optimizer.second}};
  std::size_t expected = 0;
  for (const auto& [prefix, block] : blocks) {
    if (block->size() == 0) continue;
    check_shapes(layout, prefix);
    expected += layout.parameters().size();
  }
  if (file_.tensors.size() != expected)
    throw InputError(fmt::format("{}: {} tensors, but this model and optimiser have {}",
                                 path_.string(), file_.tensors.size(), expected));
  const std::vector<double> returns =
      averages_of(entry("average_reward"), learner.average_returns.size());
  const std::int64_t count = updates();
  if (count > learner.total_updates())
    throw InputError(fmt::format("{}: updates: {}; this training makes {}", path_.string(), count,
                                 learner.total_updates()));
  const double factor = learning_rate_factor();
  for (const auto& [prefix, block] : blocks)
    if (block->size() > 0) copy(*block, layout, prefix);
  learner.average_returns = returns;
  optimizer.updates = count;
  optimizer.rate_factor = factor;
}

void Checkpoint::restore_averaged(Tensor<1>& parameters, const ParameterLayout& layout) const {
  check_shapes(layout, kAveraged);
  copy(parameters, layout, kAveraged);
}

void Checkpoint::write_averaged(const std::filesystem::path& path, Precision precision) const {
  std::vector<NamedTensor> averaged;
  std::ranges::copy_if(file_.tensors, std::back_inserter(averaged), [](const NamedTensor& tensor) {
    return tensor.name.starts_with(kAveraged);
  });
  write_safetensors(path, averaged, file_.metadata, precision);
}

void write_averaged(const std::filesystem::path& path, std::span<const float> weights,
                    const ParameterLayout& layout, std::map<std::string, std::string> metadata) {
  std::vector<NamedTensor> tensors;
  add_block(tensors, layout, kAveraged, weights);
  for (const NamedTensor& tensor : tensors)
    if (!std::ranges::all_of(tensor.data, [](float x) { return std::isfinite(x); }))
      throw InputError(
          fmt::format("parameters: '{}' has values that are not finite; allowed: finite ones",
                      tensor.name.substr(std::string_view(kAveraged).size())));
  write_safetensors(path, tensors, std::move(metadata));
}

SharedParameters Checkpoint::copy_shared(Tensor<1>& parameters,
                                         const ParameterLayout& layout) const {
  SharedParameters names;
  for (const NamedTensor& tensor : file_.tensors)
    if (tensor.name.starts_with(kAveraged))
      names.checkpoint_only.push_back(tensor.name.substr(std::string(kAveraged).size()));
  for (const Parameter& p : layout.parameters()) {
    const auto found = std::ranges::find(names.checkpoint_only, p.name);
    if (found == names.checkpoint_only.end()) {
      names.model_only.push_back(p.name);
      continue;
    }
    names.checkpoint_only.erase(found);
    const NamedTensor& tensor = file_.find(kAveraged + p.name);
    if (tensor.shape != shape_of(p)) {
      names.reshaped.push_back(fmt::format("{}: ({}) there, ({}, {}) here", p.name,
                                           fmt::join(tensor.shape, ", "), p.rows, p.cols));
      continue;
    }
    names.both.push_back(p.name);
    std::ranges::copy(tensor.data, parameters.data() + p.offset);
  }
  return names;
}

void Checkpoint::check_shapes(const ParameterLayout& layout, const std::string& prefix) const {
  for (const Parameter& p : layout.parameters()) {
    const auto tensor = std::ranges::find(file_.tensors, prefix + p.name, &NamedTensor::name);
    if (tensor == file_.tensors.end())
      throw InputError(fmt::format("{}: has no tensor '{}', which this model has", path_.string(),
                                   prefix + p.name));
    check_shape(*tensor, p);
  }
}

void Checkpoint::check_shape(const NamedTensor& tensor, const Parameter& p) const {
  if (tensor.shape != shape_of(p))
    throw InputError(fmt::format("{}: '{}' is ({}), but this model has ({}, {})", path_.string(),
                                 tensor.name, fmt::join(tensor.shape, ", "), p.rows, p.cols));
}

void Checkpoint::copy(Tensor<1>& block, const ParameterLayout& layout,
                      const std::string& prefix) const {
  for (const Parameter& p : layout.parameters())
    std::ranges::copy(file_.find(prefix + p.name).data, block.data() + p.offset);
}

}  // namespace saccade
