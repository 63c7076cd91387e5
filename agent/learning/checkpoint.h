#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agent/learning/learner.h"
#include "nn/safetensors.h"

namespace saccade {

/// A learner's complete state as a safetensors file: each parameter by its name, its average as
/// `ema/<name>`, the optimiser's moments as `optimizer.first/<name>` and `optimizer.second/<name>`;
/// in the metadata the configuration (YAML), the counters, and `notes` of the caller.
///
/// Every tensor is float32 (rows, cols), row-major, and is multiplied from the right: y = x W + b,
/// b (1, cols). Without a prefix are the weights that training goes on from; evaluation, pictures
/// and `init_from` read `ema/`. Metadata: "format", "config", "updates", "average_reward",
/// "note.<name>". With F features and a state of H the cores are
///
///   rnn          core.weight (F + H, H), core.bias: h = relu([g | h] W + b)
///   feedforward  core.weight (F, H), core.bias
///   lstm         core.weight (F + H, 4H), core.bias; columns in the order [i, f, o, g]
///   gru          core.gates.weight (F + H, 2H), .bias; columns [r, z]; core.content.weight (F, H),
///                .bias; core.recurrent.weight (H, H), .bias; with n = tanh(g W_c + b_c +
///                r (h W_r + b_r)): h = n + z (h - n)
///   attention    core.input.weight (F, H), .bias; before the layers x = g W + b + code(t), where
///                code(t)_j = sin(t r), odd j cos(t r), r = 10000^(-2 floor(j / 2) / H),
///                and t counts from 0; in each layer qkv.weight (H, 3H) holds [q | k | v], heads
///                side by side in each
///
/// The file is replaced as a whole or not at all. Equal states give equal bytes.
void save_checkpoint(const std::filesystem::path& path, const Learner& learner,
                     const std::string& config_yaml,
                     const std::map<std::string, std::string>& notes);

/// The names of the parameters of a model and of a checkpoint: those that both have, and those that
/// one has alone.
struct SharedParameters {
  std::vector<std::string> both, model_only, checkpoint_only;
};

/// A checkpoint that was read and found whole.
class Checkpoint {
 public:
  /// Throws InputError naming the path and the fault: missing, truncated, altered, or not a
  /// checkpoint of this program.
  explicit Checkpoint(const std::filesystem::path& path);

  const std::string& config_yaml() const { return entry("config"); }
  std::int64_t updates() const;
  /// A note of the caller; throws InputError if there is none of that name.
  const std::string& note(const std::string& name) const { return entry("note." + name); }

  /// Copies the whole state. Throws InputError naming the first parameter that the file lacks or
  /// has in another shape, or the number of tensors where it has too many, before anything changes.
  void restore(Learner& learner) const;
  /// Copies the averaged weights alone, as evaluation uses them. Throws as restore() does.
  void restore_averaged(Tensor<1>& parameters, const ParameterLayout& layout) const;

  /// Copies the averaged weights of every parameter that both have by name. Throws InputError
  /// naming a parameter whose shapes differ, before anything changes.
  SharedParameters copy_shared(Tensor<1>& parameters, const ParameterLayout& layout) const;

 private:
  const std::string& entry(const std::string& key) const;
  void check_shapes(const ParameterLayout& layout, const std::string& prefix) const;
  void check_shape(const NamedTensor& tensor, const Parameter& parameter) const;
  void copy(Tensor<1>& block, const ParameterLayout& layout, const std::string& prefix) const;

  std::filesystem::path path_;
  SafetensorsFile file_;
};

/// A double as text that reads back to the same bits.
std::string exact(double value);
double from_exact(const std::string& text);

}  // namespace saccade
