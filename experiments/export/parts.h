#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/model/model.h"
#include "attention/moves.h"
#include "env/retina.h"
#include "experiments/export/graph.h"
#include "experiments/task/task.h"

// The parts of an agent as graph operations: each repeats, for an exported model, the computation
// of the part of that name in agent/ and attention/.
namespace saccade {

// ---- Looking ----

/// The observation of a step. Which members are set depends on the kind of look.
struct ExportedObservation {
  Value glimpse;     // (B, D)
  Value location;    // (B, L)
  Value candidates;  // (B, G, D): glimpses at all candidates of a grid
  Value embeddings;  // (B, G, F): their features from the glimpse network
  Value weights;     // (B, G): of the candidates, for a soft read
  Value canvas;      // (B, channels, rows, cols): if it is read directly, possibly shrunk,
  Value feature;     // (B, F): and the part of it that is read
  Value context;     // (B, locator_hidden): added to the locator's hidden layer
};

/// The location of a step's look.
struct ExportedChoice {
  Value location = {};  // (B, L)
  Value weights = {};   // (B, G): for a grid; one-hot if one is chosen
  Value chances = {};   // (B, G): its probabilities
  Value window = {};    // (B, 5): for Gaussian filters
};

/// A kind of look.
class ExportedLook {
 public:
  virtual ~ExportedLook() = default;

  /// Whether next() needs the index of the look.
  virtual bool counts_looks() const { return false; }
  /// Whether the first look is sampled.
  virtual bool draws_first() const { return false; }
  /// Declares the inputs of one step.
  virtual ExportedObservation inputs(Graph& graph) const = 0;
  /// Returns the core's input (B, F).
  virtual Value feature(Graph& graph, const ExportedObservation& spec) const = 0;
  /// Returns the location of the look after state (B, H); `look` (1) int64 is the index of the
  /// previous one, from 0. Empty if the agent does not choose it.
  virtual ExportedChoice next(Graph& graph, const Value& state, const ExportedObservation& spec,
                              const Value& look) const = 0;

  /// Returns what is visible on canvas (B, channels, rows, cols) before the first look.
  virtual ExportedObservation begin(Graph& graph, const Value& canvas) const = 0;
  /// Returns the location of the first look, for the batch of `like`. Declares an input if it is
  /// sampled.
  virtual ExportedChoice first(Graph& graph, const Value& like,
                               const ExportedObservation& spec) const = 0;
  /// Returns the observation of look t at `choice`.
  virtual ExportedObservation see(Graph& graph, const Value& canvas, const ExportedChoice& choice,
                                  const ExportedObservation& spec, int t) const = 0;
};

// The kinds of look. `task` must outlive them.
std::unique_ptr<const ExportedLook> export_points(const Task& task, std::span<const float> weights);
std::unique_ptr<const ExportedLook> export_grid(const Task& task, std::span<const float> weights);
std::unique_ptr<const ExportedLook> export_window(const Task& task, std::span<const float> weights);
std::unique_ptr<const ExportedLook> export_whole(const Task& task, std::span<const float> weights);
/// For a model.kind that reads the whole canvas at once.
std::unique_ptr<const ExportedLook> export_canvas(const Task& task, std::span<const float> weights);

/// A square convolution.
struct ExportedConvolution {
  int channels;     // of the input
  int kernel_size;  // side in pixels
  int stride;
  int padding;  // zeros on each side
};
/// relu(conv(x) + b) of images (N, channels, rows, cols), as (N, filters, rows, cols), with the
/// parameters of a Convolution (nn/convolution.h).
Value export_convolution(Graph& graph, const Value& images, const std::string& name,
                         const ExportedConvolution& shape);
/// The same without the relu.
Value export_linear_convolution(Graph& graph, const Value& images, const std::string& name,
                                const ExportedConvolution& shape);

/// "(x, y) in [-1, 1], y down", and the zoom where there is one.
std::string location_text(const Task& task);

/// Declares the input canvas (B, channels, rows, cols).
Value canvas_input(Graph& graph, const Task& task);

/// Scales pictures (.., channel, plane) as the networks expect (PixelScale), and reshapes to
/// `shape`.
Value export_scaled(Graph& graph, const Task& task, const Value& pixels, std::int64_t plane,
                    const std::vector<std::int64_t>& shape);

/// Returns the feature (B, F) of glimpse (B, D) at location (B, L).
Value export_glimpse_network(Graph& graph, const Task& task, const Value& glimpse,
                             const Value& location);
/// Returns the features of candidates (B, G, D) at fixed places (G, 2): (B, G, F).
Value export_embeddings(Graph& graph, const Task& task, const Value& candidates,
                        ConstMatrix places);
/// Returns the locator's output `locator.<output>` for state (B, H) and context (B, width) or none.
Value export_locator(Graph& graph, const Value& state, const Value& context,
                     const std::string& output);
/// Returns the contribution of a thumbnail (B, pixels) to the locator's hidden layer.
Value export_context(Graph& graph, const Task& task, const Value& thumbnail);
/// Returns that of canvas (B, channels, rows, cols); none without model.context.
Value export_context_of_canvas(Graph& graph, const Task& task, const Value& canvas);
/// Declares the thumbnail that the context reads and returns its contribution; none without
/// model.context.
Value export_context_input(Graph& graph, const Task& task);

/// Shrinks canvas (B, channels, rows, cols) to (B, channels, to_rows, to_cols) by area averages.
Value export_shrunk(Graph& graph, const Value& canvas, CanvasSize size, int to_rows, int to_cols);
/// Returns the location (B, 2) that an action (B, 2) of relative moves leads to from `from` (B, 2).
Value export_move(Graph& graph, const Moves& moves, const Value& action, const Value& from);
/// Returns the retina's output for canvas (B, channels, rows, cols) at location (B, L): (B, D).
/// `smooth`: interpolates between pixels.
Value export_retina(Graph& graph, const Task& task, const Value& canvas, const Value& location,
                    bool smooth);
/// The same at all places (G, 2): (B, G, D).
Value export_retina_at_all(Graph& graph, const Task& task, const Value& canvas, ConstMatrix places);

// ---- Core ----

/// A value that a core carries from step to step besides its state h: (batch, sides).
struct ExportedState {
  std::string name;
  std::vector<std::int64_t> sides;  // 0: grows with the number of steps
  std::string about;
};

class ExportedCore {
 public:
  virtual ~ExportedCore() = default;

  virtual bool reads_state() const = 0;
  virtual std::vector<ExportedState> states() const { return {}; }
  /// Returns h_t (B, H) from feature (B, F) and h_{t-1}; updates `states` to those after the step.
  virtual Value step(Graph& graph, const Value& feature, const Value& state,
                     std::vector<Value>& states) const = 0;
};

/// Returns the agent's core. Throws InputError for an unknown one.
std::unique_ptr<const ExportedCore> export_core(const AgentConfig& config, int steps);
/// h = g, for a model that reads the whole canvas at once.
std::unique_ptr<const ExportedCore> export_identity_core();
/// Several layers of attention over earlier inputs.
std::unique_ptr<const ExportedCore> export_attention_core(const ModelConfig& model, int steps);

/// Returns the core's input from feature (B, F) if attention.input is a gate; state (B, H).
Value export_gate(Graph& graph, const AgentConfig& config, const Value& feature,
                  const Value& state);

// ---- Answer ----

/// Returns what attention.hidden reads from states (B, n, H), the last of which is that of this
/// step: (B, R). Throws InputError for an unknown kind.
Value export_read(Graph& graph, const HiddenConfig& config, const Value& states, int state_size,
                  int steps);
/// Returns the score of query (B, Q), or none, against keys (B, n, K): (B, n). Parameters
/// `<name>.<..>`. Throws InputError for an unknown one.
Value export_score(Graph& graph, const std::string& kind, const std::string& name,
                   const Value& query, const Value& keys, int key_size);
/// Returns the REINFORCE baseline for state (B, H): (B, 1); none if it is not learned or also reads
/// the true label.
Value export_baseline(Graph& graph, const Model& model, const Value& state);
/// Returns lambda, the probability of stopping in state (B, H) after a look whose answer has these
/// logarithms of the classes' probabilities (B, C): (B, 1); none if the agent does not learn when
/// to stop.
Value export_stop(Graph& graph, const Value& state, const Value& log_probabilities);

}  // namespace saccade
