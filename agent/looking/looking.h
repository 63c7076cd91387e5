#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/cores/core.h"
#include "agent/looking/look.h"
#include "agent/spec/config.h"
#include "agent/spec/observation_spec.h"
#include "attention/moves.h"
#include "base/log_range.h"
#include "base/own_settings.h"
#include "env/environment.h"
#include "nn/parameters.h"
#include "nn/work.h"

namespace saccade {

/// A quantity of each look that users may want to see, with its name.
struct LookWeights {
  const char* name;
  int width;
  Tensor<3> Look::*values;  // (T, B, width)
};

/// Reading of a canvas without glimpses: the canvas is shrunk to `size` (rows, cols), and step t
/// reads the t-th part of `part` (rows, cols), counted row by row; the feature is (channels, rows,
/// cols) of the part.
struct CanvasReading {
  std::array<int, 2> size, part;

  /// The row and column of `size` where the part of step t begins.
  std::array<int, 2> corner(int t) const {
    const int abreast = size[1] / part[1];
    return {t / abreast * part[0], t % abreast * part[1]};
  }
};

/// Properties of a way of looking, which other code queries instead of its name.
struct LookTraits {
  int steps = 1;                // T
  int feature_size = 0;         // F: width of the core's input
  bool recurrent = true;        // a core joins the steps; else the feature is the state
  bool looks = true;            // takes glimpses; else the canvas is read directly
  bool differentiable = false;  // learns where to look by backpropagation through its states
  bool samples = true;          // its actions can be sampled from its decisions
  bool expects = false;         // reads a mean over candidates, not the most probable one
  int first_action = 1;         // first glimpse that REINFORCE learns to place; T if none
  int num_candidates = 0;       // G: weighted candidates; 0: actions are locations or windows
  int location_size = 2;        // L: numbers of a location, (x, y) or (x, y, u)
  LogRange zoom = {};           // what u chooses from; 1: there is none

  // For drawing
  bool retina = false;   // sees through the environment's retina
  bool smooth = false;   // the retina reads between pixels, at real-valued edges
  bool frame = false;    // the places of a gaze tile one frame
  int pictures = 0;      // images per look: its scales
  int picture_side = 0;  // side in pixels
  std::optional<CanvasReading> reading = {};
  std::vector<LookWeights> weights = {};

  /// Whether a look covers many places at once, which are drawn as a heat map.
  bool spreads() const { return expects || frame; }

  /// Canvas pixels read by the looks of an episode, counted with repetition: those covered by the
  /// widest scale of every candidate looked at, plus the whole canvas once for a context network.
  /// With a zoom, if every look is at its widest.
  double canvas_pixels = 0.0;
};

/// A way of looking: the parts that see and choose where to look, and their parameters. One
/// implementation per family of attention.glimpse.kind, and one for models that see the whole
/// canvas (model.kind). Stateless: per-episode data lives in the Look it makes.
class Looking {
 public:
  virtual ~Looking() = default;

  const LookTraits& traits() const { return traits_; }

  /// Makes the workspace of one lane. Keeps references to this object and both arguments.
  virtual std::unique_ptr<Look> make_look(Environment& environment, CoreMemory& core) const = 0;

  /// The exploration at `progress` in [0, 1] of training.
  virtual Exploration exploration_at(double progress, std::span<const float> parameters) const;

  /// The locations of the candidates, (G, 2), or their actions if moves are relative; no data
  /// without a grid.
  virtual ConstMatrix places() const { return {}; }
  /// How the actions of points and of candidates become locations.
  virtual Moves moves() const { return {}; }

  /// Multiply-adds of seeing and choosing where to look, per episode.
  virtual Work work() const = 0;

 protected:
  explicit Looking(const GlimpseConfig& config) : config_(config) {}

  const GlimpseConfig config_;
  LookTraits traits_;
};

/// What is known about an attention.glimpse.kind before a model exists.
struct GlimpseKind {
  enum class Learning { none, reinforce, backpropagation };

  Learning learning = Learning::none;  // how it learns where to look
  bool has_candidates = false;         // attention.glimpse.grid, addressing and score apply
  bool can_have_context = false;       // a Locator places the glimpses: model.context applies
  bool has_moves = false;              // looks at one place: moves may be relative
  bool has_std = false;                // attention.glimpse.std and learn_std apply
  bool has_pattern = false;            // attention.glimpse.spread applies in training too, with std
  bool has_path = false;               // reinforce.estimator applies
  bool has_zoom = false;               // attention.glimpse.zoom applies
  bool has_filters = false;            // attention.glimpse.filters applies
  bool has_order = false;              // attention.glimpse.size and order apply
  bool takes_glimpses = false;         // else the core reads the canvas itself
  bool sees_motion = false;            // looks at the canvas as it is at each step
  std::unique_ptr<const Looking> (*make)(const AgentConfig& config, const ObservationSpec& spec,
                                         ParameterLayout& layout) = nullptr;
  /// Whether a pass can sample its looks.
  bool samples() const {
    return takes_glimpses && (has_candidates || learning != Learning::backpropagation);
  }
  /// Fills in unset values that the kind implies; may be null.
  void (*settle)(GlimpseConfig& config) = nullptr;
};

/// The kinds of glimpse attention:
/// `hard_gaussian`: l ~ N(mu, std^2), learned by REINFORCE (Mnih et al. 2014) or as
/// reinforce.estimator says;
/// `hard_categorical`: one candidate of a grid, or of the steps from the last location, sampled, by
/// REINFORCE;
/// `soft_grid`: the expectation over the same distribution, by backpropagation (Xu et al. 2015);
/// `soft_gaussian`: a window of Gaussian filters, by backpropagation (Gregor et al. 2015);
/// `soft_point`: l = mu, read between pixels, by backpropagation (Jaderberg et al. 2015);
/// `whole`: no glimpses, the core reads the canvas itself;
/// and the controls `random`, `center`, `scan`, `oracle`: policies of attention/policy.h that do
/// not learn. Throws InputError listing the valid names.
const GlimpseKind& find_glimpse_kind(const std::string& kind);
std::vector<std::string> glimpse_kinds();

/// Adds a way of looking of the program that calls it, before anything else is called. `kind.make`
/// reads its settings, attention.glimpse.<name>.*, from config.glimpse.own. Throws as
/// NameTable::add does.
void register_glimpse_kind(const std::string& name, const GlimpseKind& kind,
                           const std::vector<OwnSetting>& settings = {});

/// `none`, `location` (logits depend on the core's state only, so only chosen glimpses are seen),
/// `content` (a score of the state against every candidate's embedding).
std::vector<std::string> addressings();
/// `none`, `features` (v = sum_k w_k v_k of embeddings), `pixels` (g = sum_k w_k g_k of glimpses).
std::vector<std::string> expectations();

/// How a whole canvas is read: `rows` (one per step, from the top) or `at_once` (in one step).
std::vector<std::string> reading_orders();

/// Whether the agent takes glimpses one by one.
bool takes_glimpses(const AgentConfig& config);

/// Fills in unset values that the kind implies.
void settle(GlimpseConfig& config);

/// The zoom of the agent's looks: attention.glimpse.zoom, or 1 if its kind has none.
LogRange zoom_of(const AgentConfig& config);

/// Whether the kind has candidates that are all seen when an episode begins: those of soft kinds,
/// and those that are addressed by their content. `config` must be settled.
bool sees_all_candidates(const GlimpseConfig& config);
/// Whether every candidate passes through the glimpse network: its feature is scored, or read.
bool embeds_candidates(const GlimpseConfig& config);
/// Whether the mean over the candidates is one of pixels.
bool expects_pixels(const GlimpseConfig& config);

/// `recurrent`, and the baselines that see the whole canvas, `mlp` and `cnn`.
std::vector<std::string> model_kinds();
/// Whether a core joins the steps: model.kind is `recurrent`.
bool is_recurrent(const ModelConfig& model);

/// Makes the looking for model.kind and attention.glimpse.kind; `config` must be settled. Throws
/// InputError naming the keys if the parts do not fit together. `layout` must outlive it.
std::unique_ptr<const Looking> make_looking(const AgentConfig& config, const ObservationSpec& spec,
                                            ParameterLayout& layout);

// The families, one file each. A new one is a file and a line in looking.cpp.
GlimpseKind point_looking(GlimpseKind::Learning learning);
GlimpseKind grid_looking(GlimpseKind::Learning learning);
GlimpseKind window_looking();
GlimpseKind whole_looking();
/// For model.kind rather than attention.glimpse.kind.
std::unique_ptr<const Looking> make_canvas_looking(const AgentConfig& config,
                                                   const ObservationSpec& spec,
                                                   ParameterLayout& layout);

}  // namespace saccade
