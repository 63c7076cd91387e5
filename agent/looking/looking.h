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
#include "agent/spec/sight.h"
#include "env/environment.h"
#include "nn/parameters.h"
#include "nn/work.h"

namespace saccade {

/// Numbers of a look that users may want to see: of each step, under a name.
struct LookWeights {
  const char* name;
  int width;
  Tensor<3> Look::*values;  // (T, B, width)
};

/// A canvas that is read as it is: shrunk to `size` (rows, cols), at step t the t-th of its parts
/// of `part` (rows, cols), counted row by row; the feature is (channels, rows, cols) of the part.
struct CanvasReading {
  std::array<int, 2> size, part;

  /// The row and column of `size` where the part of a step begins.
  std::array<int, 2> corner(int t) const {
    const int abreast = size[1] / part[1];
    return {t / abreast * part[0], t % abreast * part[1]};
  }
};

/// What others may ask of a way of looking. Nobody asks for its name.
struct LookTraits {
  int steps = 1;                // T
  int feature_size = 0;         // F: width of what the core reads
  bool recurrent = true;        // a core joins the steps; else the feature is the state
  bool looks = true;            // at places; else the canvas is read as it is
  bool differentiable = false;  // learns where to look by backpropagation, through its states
  bool samples = true;          // what it does can be drawn from what it decides
  bool expects = false;         // takes a mean over candidates: the most probable is another read
  int first_action = 1;         // the first glimpse that REINFORCE learns to place; T if none
  int num_candidates = 0;       // G: that the actions weigh; 0: locations or windows

  // What there is to draw
  bool retina = false;   // it sees through the environment's retina
  bool smooth = false;   // which reads between pixels, at real-valued edges
  bool frame = false;    // the places of a gaze part one frame
  int pictures = 0;      // of a look: its scales
  int picture_side = 0;  // pixels
  std::optional<CanvasReading> reading = {};
  std::vector<LookWeights> weights = {};

  /// Whether a look is at many places at once, which are drawn as heat.
  bool spreads() const { return expects || frame; }

  /// Canvas pixels under the looks of an episode, each as often as it is looked at: all that the
  /// widest scale covers, of every candidate that is looked at; and all of it once for a context.
  double canvas_pixels = 0.0;
};

/// A way of looking: the parts that see and choose where, and their parameters. One implementation
/// for each family of attention.glimpse.kind, and one for models that see the whole canvas
/// (model.kind). Stateless: what belongs to episodes is in the Look it makes.
class Looking {
 public:
  virtual ~Looking() = default;

  const LookTraits& traits() const { return traits_; }

  /// For the episodes of one lane. Keeps references to all three.
  virtual std::unique_ptr<Look> make_look(Environment& environment, CoreMemory& core) const = 0;

  /// At `progress` in [0, 1] of the training.
  virtual Exploration exploration_at(double progress, std::span<const float> parameters) const;

  /// Where the candidates lie, (G, 2); none without a grid.
  virtual ConstMatrix places() const { return {}; }

  /// Multiply-adds of an episode: of seeing and of choosing where.
  virtual Work work() const = 0;

 protected:
  explicit Looking(const GlimpseConfig& config) : config_(config) {}

  const GlimpseConfig config_;
  LookTraits traits_;
};

/// What can be said of a kind of attention.glimpse.kind before there is a model.
struct GlimpseKind {
  enum class Learning { none, reinforce, backpropagation };

  Learning learning = Learning::none;  // of where to look
  bool has_candidates = false;         // attention.glimpse.grid, addressing and score apply
  bool can_have_context = false;       // a Locator places what is seen: model.context applies
  bool has_std = false;                // attention.glimpse.std, learn_std and spread apply
  bool has_path = false;               // reinforce.estimator applies
  bool sees_motion = false;            // looks at the canvas as it is at each step
  std::unique_ptr<const Looking> (*make)(const AgentConfig& config, const Sight& sight,
                                         ParameterLayout& layout) = nullptr;
  /// Fills in what the kind implies where nothing was said; null: nothing.
  void (*settle)(GlimpseConfig& config) = nullptr;
};

/// The kinds of glimpse attention:
/// `hard_gaussian`: l ~ N(mu, std^2), by REINFORCE (Mnih et al. 2014) or as reinforce.estimator
/// says;
/// `hard_categorical`: one candidate of a grid, sampled, by REINFORCE;
/// `soft_grid`: the expectation over the same distribution, by backpropagation (Xu et al. 2015);
/// `soft_gaussian`: a window of Gaussian filters, by backpropagation (Gregor et al. 2015);
/// `soft_point`: l = mu, read between pixels, by backpropagation (Jaderberg et al. 2015);
/// `whole`: no glimpses, the canvas itself is what the core reads;
/// and the controls `random`, `center`, `scan`, `oracle`: the policies of attention/policy.h that
/// learn nothing. Throws InputError listing the names.
const GlimpseKind& find_glimpse_kind(const std::string& kind);
std::vector<std::string> glimpse_kinds();

/// `none`, `location` (logits are a function of the core's state alone: nothing is seen but what is
/// looked at), `content` (a score of the state against every candidate's embedding).
std::vector<std::string> addressings();
/// `none`, `features` (v = sum_k w_k v_k of embeddings), `pixels` (g = sum_k w_k g_k of glimpses).
std::vector<std::string> expectations();

/// How a whole canvas is read: `rows` (one a step, from the top) or `at_once` (in a single step).
std::vector<std::string> reading_orders();

/// Fills in what the kind implies where nothing was said.
void settle(GlimpseConfig& config);

/// `recurrent`, and the baselines that see the whole canvas, `mlp` and `cnn`.
std::vector<std::string> model_kinds();

/// As model.kind and attention.glimpse.kind say; `config` is settled. Throws InputError naming the
/// keys where the parts do not fit. `layout` must outlive it.
std::unique_ptr<const Looking> make_looking(const AgentConfig& config, const Sight& sight,
                                            ParameterLayout& layout);

// The families, each in a file of its own. A new one is a file and a line in looking.cpp.
GlimpseKind point_looking(GlimpseKind::Learning learning);
GlimpseKind grid_looking(GlimpseKind::Learning learning);
GlimpseKind window_looking();
GlimpseKind whole_looking();
/// Of model.kind, not of attention.glimpse.kind.
std::unique_ptr<const Looking> make_canvas_looking(const AgentConfig& config, const Sight& sight,
                                                   ParameterLayout& layout);

}  // namespace saccade
