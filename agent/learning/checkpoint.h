#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agent/learning/learner.h"
#include "base/error.h"
#include "nn/safetensors.h"

namespace saccade {

/// Saves a learner's complete state as a safetensors file: each parameter under its name, its
/// average as `ema/<name>`, the optimiser's moments as `optimizer.first/<name>` and
/// `optimizer.second/<name>`; the metadata holds the configuration (YAML), the counters, and the
/// caller's `notes`.
///
/// Every tensor is (rows, cols) of float32, or of float16 as `export --half` writes it, row-major,
/// and is multiplied from the right: y = x W + b, b (1, cols). Tensors without a prefix are the
/// weights from which training continues; evaluation, pictures and `init_from` read `ema/`.
/// Metadata: "format", "config", "updates", "average_reward" (T), "learning_rate_factor" if it is
/// not 1, "note.<name>".
///
/// The parameters, if the agent has the part. Each `x.weight`, except those of scores and gates,
/// has an `x.bias` of as many columns. D is the size of a glimpse, (scale, channel, row, col); F is
/// model.feature_size, H model.hidden_size, C classes, V symbols; [a | b] are side by side.
///
///   glimpse.what.weight (D, glimpse_hidden), glimpse.where.weight (2, location_hidden) of (x, y),
///     glimpse.joint.weight (both, F): g = relu([relu(what) | relu(where)] W + b)
///   glimpse.filters.weight (kernel^2 x channels, filters), rows as (row, col, channel), whose
///     outputs (scale, row, col, filter) glimpse.what.weight reads in place of D: conv
///   glimpse.filters.stage<n>.enter.weight (9 x channels, filters) and for each of its blocks
///     glimpse.filters.stage<n>.block<n>.first.weight (9 x filters, filters) and
///     glimpse.filters.stage<n>.block<n>.second.weight (9 x filters, filters), rows as (row, col,
///     channel). The first reads channels (scale, channel); the outputs of the last, (row, col,
///     filter), are what glimpse.what.weight reads in place of D: residual
///   canvas.hidden.weight (pixels, canvas_hidden), canvas.feature.weight (canvas_hidden, F): mlp
///   canvas.conv1.weight, canvas.conv2.weight (kernel^2 x channels in, channels out), rows and
///     images as (row, col, channel), canvas.feature.weight (what conv2 gives, F): cnn
///   gate.state.weight (H, F), gate.input.weight (F, F), gate.bias (1, F), gate.log_alpha (1, 1)
///   core.* of features F and a state of H:
///     rnn          core.weight (F + H, H): h = relu([g | h] W + b)
///     feedforward  core.weight (F, H): h = relu(g W + b)
///     lstm         core.weight (F + H, 4H); columns in the order [i, f, o, g]
///     gru          core.gates.weight (F + H, 2H); columns [r, z]; core.content.weight (F, H);
///                  core.recurrent.weight (H, H); with n = tanh(g W_c + b_c + r (h W_r + b_r)):
///                  h = n + z (h - n)
///     attention    core.input.weight (F, H): x = g W + b + code(t), where code(t)_j = sin(t r),
///                  odd j cos(t r), r = 10000^(-2 floor(j / 2) / H), and t counts from 0. Then each
///                  layer n, from 0, adds two parts to x, each behind its norm (gain and shift
///                  (1, H)): core.layer<n>.attention.norm.gain, core.layer<n>.attention.norm.shift,
///                  core.layer<n>.attention.qkv.weight (H, 3H) as [q | k | v], the heads side by
///                  side in each, core.layer<n>.attention.output.weight (H, H);
///                  core.layer<n>.forward.norm.gain, core.layer<n>.forward.norm.shift,
///                  core.layer<n>.forward.hidden.weight (H, 2H), a relu,
///                  core.layer<n>.forward.output.weight (2H, H). At the end core.norm.gain,
///                  core.norm.shift
///   locator.hidden.weight (H, locator_hidden), a relu, and then of locator_hidden
///     locator.mean.weight (.., 2): the mean (x, y) of a point, tanh of it
///     locator.logits.weight (.., cells): of a grid by location, row by row
///     locator.window.weight (.., 5): (x, y, log sigma^2, log delta, log gamma)
///   locator.context.weight (channels x context_size^2, context_hidden) of the thumbnail, a relu,
///     and locator.context.hidden.weight (context_hidden, locator_hidden), without a bias, added
///     to what locator.hidden gives
///   locator.score.*: of a grid by content, a score of queries Q = H and keys K = F, of width S:
///     locator.score.weight (Q, K): general; locator.score.key.weight (K, S),
///     locator.score.query.weight (Q, S), locator.score.bias, locator.score.v (1, S): additive and,
///     without query, location_free
///   hidden.*: the read of the states: hidden.score.weight, hidden.score.key.weight,
///     hidden.score.query.weight, hidden.score.bias, hidden.score.v as above with Q = K = H;
///     of a predicted position hidden.position.weight (Q, S), hidden.position.v (1, S);
///     self: hidden.hidden.weight (H, S), hidden.hops.weight (S, hops), both without a bias
///   classifier.weight (what is read, C): classes or actions; [context | last state]
///   decoder.core.*: a core as above, of features [symbol before, one-hot | context], V + H;
///     decoder.attend.*: a read as hidden.*, Q = decoder.hidden_size, K = H;
///     decoder.output.weight (decoder.hidden_size + H, V) of [state | context]
///   baseline.hidden.weight (H, critic_hidden), a relu, baseline.output.weight (critic_hidden, 1):
///     of a critic mlp; of a privileged one (H + C + 2, ..), of [h | label, one-hot | x, y]
///   stop.weight (H, 1): the logit of stopping after a look, to which, of agents that answer one
///     class, stop.sureness (1, 1) times the log odds of the most probable class are added
///     (agent/answering/stopping.h)
///   baseline.weight (H, 1), locator.first (1, 2; with a zoom 1, 3) before its tanh,
///     locator.log_std (1, 1)
///
/// A test checks that this list has every parameter of every kind.
///
/// The file is replaced atomically. Equal states give equal bytes.
void save_checkpoint(const std::filesystem::path& path, const Learner& learner,
                     const std::string& config_yaml,
                     const std::map<std::string, std::string>& notes);

/// Saves only the averaged weights and the same metadata, in the format of
/// Checkpoint::write_averaged.
void save_averaged(const std::filesystem::path& path, const Learner& learner,
                   const std::string& config_yaml, const std::map<std::string, std::string>& notes);

/// Parameter names of a model and of a checkpoint: those in both with one shape, those in only one
/// of them, and those whose shapes differ: "classifier.weight: (128, 10) there, (128, 4) here".
struct SharedParameters {
  std::vector<std::string> both, model_only, checkpoint_only, reshaped;
};

/// A checkpoint of a newer version than this program can read.
struct NewerCheckpoint : InputError {
  using InputError::InputError;
};

/// A checkpoint that was read and verified.
class Checkpoint {
 public:
  /// Throws InputError with path and fault: missing, truncated, altered (its checksum is verified),
  /// not a checkpoint of this program, a weight that is not finite; NewerCheckpoint.
  explicit Checkpoint(const std::filesystem::path& path);
  /// The same of a file that was read already; `origin` stands for its path in messages.
  Checkpoint(SafetensorsFile file, const std::string& origin);

  const std::string& config_yaml() const { return entry("config"); }
  /// In [0, 10^15]. Throws InputError if the entry is anything else.
  std::int64_t updates() const;
  bool has_note(const std::string& name) const { return file_.metadata.contains("note." + name); }
  /// Returns one of the caller's notes; throws InputError if there is none of that name.
  const std::string& note(const std::string& name) const { return entry("note." + name); }

  /// Copies the whole state into `learner`. Throws InputError, before any change, naming the first
  /// parameter that the file lacks or has in another shape, the number of tensors if there are too
  /// many, the updates if there are more than the learner makes, or a factor on the learning rate
  /// that is not in kRateFactor.
  void restore(Learner& learner) const;
  /// Copies only the averaged weights, which evaluation uses. Throws as restore() does.
  void restore_averaged(Tensor<1>& parameters, const ParameterLayout& layout) const;

  /// Writes only the averaged weights and the metadata: a third of the file or less, in half
  /// precision a sixth. Enough to use a trained agent, but not to continue training.
  void write_averaged(const std::filesystem::path& path, Precision precision) const;
  /// How the file stores its numbers.
  Precision precision() const { return file_.precision; }

  const std::map<std::string, std::string>& metadata() const { return file_.metadata; }

  /// Copies the averaged weights of every parameter that both have with one name and shape.
  SharedParameters copy_shared(Tensor<1>& parameters, const ParameterLayout& layout) const;

 private:
  const std::string& entry(const std::string& key) const;
  double learning_rate_factor() const;
  void check_format() const;
  void check_finite() const;
  void check_shapes(const ParameterLayout& layout, const std::string& prefix) const;
  void check_shape(const NamedTensor& tensor, const Parameter& parameter) const;
  void copy(Tensor<1>& block, const ParameterLayout& layout, const std::string& prefix) const;

  std::filesystem::path path_;
  SafetensorsFile file_;
};

/// Writes weights (a block of `layout`) as the averaged weights of a checkpoint with this metadata,
/// in the format of Checkpoint::write_averaged. Throws InputError naming a parameter that is not
/// finite.
void write_averaged(const std::filesystem::path& path, std::span<const float> weights,
                    const ParameterLayout& layout, std::map<std::string, std::string> metadata);

/// Formats a double as text that reads back to the same bits.
std::string exact(double value);
double from_exact(const std::string& text);

}  // namespace saccade
