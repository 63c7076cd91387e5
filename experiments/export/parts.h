#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/model/model.h"
#include "env/retina.h"
#include "experiments/export/graph.h"
#include "experiments/task/task.h"

// The parts of an agent, as operations of a graph: each says once more, for an exported model, what
// the part of that name in agent/ and attention/ computes.
namespace saccade {

// ---- Looking ----

/// What a step sees. Which of it there is, the family of looking says.
struct ExportedSight {
  Value glimpse;     // (B, D)
  Value location;    // (B, 2)
  Value candidates;  // (B, G, D): glimpses of all candidates of a grid
  Value embeddings;  // (B, G, F): what the glimpse network makes of them
  Value weights;     // (B, G): of the candidates, where the mean is taken
  Value canvas;      // (B, channels, rows, cols): where it is read as it is, perhaps shrunk,
  Value feature;     // (B, F): and the part of it that is read
  Value context;     // (B, locator_hidden): what is added to the locator's hidden layer
};

/// Where a step looks.
struct ExportedChoice {
  Value location = {};  // (B, 2)
  Value weights = {};   // (B, G): of a grid: one-hot where one is chosen
  Value chances = {};   // (B, G): their distribution
  Value window = {};    // (B, 5): of Gaussian filters
};

/// A family of looking.
class ExportedLook {
 public:
  virtual ~ExportedLook() = default;

  /// Whether next() wants to know which look it is.
  virtual bool counts_looks() const { return false; }
  /// Whether the first look is drawn.
  virtual bool draws_first() const { return false; }
  /// Declares what one step is given.
  virtual ExportedSight inputs(Graph& graph) const = 0;
  /// What the core reads (B, F).
  virtual Value feature(Graph& graph, const ExportedSight& sight) const = 0;
  /// Where the look behind state (B, H) goes; `look` (1) int64 is the number of the one before,
  /// from 0 on. Nowhere where the agent does not say it.
  virtual ExportedChoice next(Graph& graph, const Value& state, const ExportedSight& sight,
                              const Value& look) const = 0;

  /// What there is to see on canvas (B, channels, rows, cols) before the first look.
  virtual ExportedSight begin(Graph& graph, const Value& canvas) const = 0;
  /// Where the first look goes, of the batch of `like`. Declares an input where it is drawn.
  virtual ExportedChoice first(Graph& graph, const Value& like,
                               const ExportedSight& sight) const = 0;
  /// Look t, where `choice` says.
  virtual ExportedSight see(Graph& graph, const Value& canvas, const ExportedChoice& choice,
                            const ExportedSight& sight, int t) const = 0;
};

// The families. `task` must outlive them.
std::unique_ptr<const ExportedLook> export_points(const Task& task, std::span<const float> weights);
std::unique_ptr<const ExportedLook> export_grid(const Task& task, std::span<const float> weights);
std::unique_ptr<const ExportedLook> export_window(const Task& task, std::span<const float> weights);
std::unique_ptr<const ExportedLook> export_whole(const Task& task, std::span<const float> weights);
/// Of a model.kind that sees the canvas at once.
std::unique_ptr<const ExportedLook> export_canvas(const Task& task, std::span<const float> weights);

/// A square convolution.
struct ExportedConvolution {
  int channels;     // of its input
  int kernel_size;  // side, pixels
  int stride;
  int padding;  // zeros at each edge
};
/// relu(conv(x) + b) of images (N, channels, rows, cols), as (N, filters, rows, cols), with the
/// parameters of a Convolution (nn/convolution.h).
Value export_convolution(Graph& graph, const Value& images, const std::string& name,
                         const ExportedConvolution& shape);

/// Declares the canvas (B, channels, rows, cols).
Value canvas_input(Graph& graph, const Task& task);

/// Pictures (.., channel, plane) as networks read them (PixelScale), in `shape`.
Value export_scaled(Graph& graph, const Task& task, const Value& pixels, std::int64_t plane,
                    const std::vector<std::int64_t>& shape);

/// The feature (B, F) of glimpse (B, D) at location (B, 2).
Value export_glimpse_network(Graph& graph, const Task& task, const Value& glimpse,
                             const Value& location);
/// Those of candidates (B, G, D) at the fixed places (G, 2): (B, G, F).
Value export_embeddings(Graph& graph, const Task& task, const Value& candidates,
                        ConstMatrix places);
/// The locator's outputs `locator.<output>` for state (B, H) and context (B, width), or none.
Value export_locator(Graph& graph, const Value& state, const Value& context,
                     const std::string& output);
/// What a thumbnail (B, pixels) adds to the locator's hidden layer.
Value export_context(Graph& graph, const Task& task, const Value& thumbnail);
/// What canvas (B, channels, rows, cols) adds, or none without model.context.
Value export_context_of_canvas(Graph& graph, const Task& task, const Value& canvas);
/// Declares the thumbnail that the context reads, and what it adds; none without model.context.
Value export_context_input(Graph& graph, const Task& task);

/// canvas (B, channels, rows, cols), shrunk to (B, channels, to_rows, to_cols) by area averages.
Value export_shrunk(Graph& graph, const Value& canvas, CanvasSize size, int to_rows, int to_cols);
/// What the retina shows of canvas (B, channels, rows, cols) at location (B, 2): (B, D). `smooth`:
/// between pixels.
Value export_retina(Graph& graph, const Task& task, const Value& canvas, const Value& location,
                    bool smooth);
/// Of all places (G, 2): (B, G, D).
Value export_retina_at_all(Graph& graph, const Task& task, const Value& canvas, ConstMatrix places);

// ---- Core ----

/// What a core carries from step to step beside its state h: (batch, sides).
struct ExportedState {
  std::string name;
  std::vector<std::int64_t> sides;  // 0: as many as there were steps
  std::string about;
};

class ExportedCore {
 public:
  virtual ~ExportedCore() = default;

  virtual bool reads_state() const = 0;
  virtual std::vector<ExportedState> states() const { return {}; }
  /// h_t (B, H) of feature (B, F) and h_{t-1}; `states` become those behind the step.
  virtual Value step(Graph& graph, const Value& feature, const Value& state,
                     std::vector<Value>& states) const = 0;
};

/// Of the agent's core. Throws InputError for one that it does not know.
std::unique_ptr<const ExportedCore> export_core(const AgentConfig& config, int steps);
/// h = g, of a model that sees the whole canvas at once.
std::unique_ptr<const ExportedCore> export_identity_core();
/// Several layers of attention over what was read before.
std::unique_ptr<const ExportedCore> export_attention_core(const ModelConfig& model, int steps);

/// What the core reads of feature (B, F) where attention.input is a gate; state (B, H).
Value export_gate(Graph& graph, const AgentConfig& config, const Value& feature,
                  const Value& state);

// ---- Answer ----

/// What attention.hidden reads of states (B, n, H), the last of which is that of this step: (B, R).
/// Throws InputError for a kind that it does not know.
Value export_read(Graph& graph, const HiddenConfig& config, const Value& states, int state_size,
                  int steps);
/// A score of query (B, Q), or none, against keys (B, n, K): (B, n). Parameters `<name>.<..>`.
/// Throws InputError for one that it does not know.
Value export_score(Graph& graph, const std::string& kind, const std::string& name,
                   const Value& query, const Value& keys, int key_size);
/// What REINFORCE expects behind state (B, H): (B, 1); none where nothing does, or where it is told
/// the truth.
Value export_baseline(Graph& graph, const AgentConfig& config, const Value& state);

}  // namespace saccade
