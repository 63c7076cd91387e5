#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "attention/grid.h"
#include "nn/random.h"
#include "nn/schedule.h"
#include "nn/tensor.h"

namespace saccade {

/// Keys: attention.glimpse.*
struct GlimpseConfig {
  std::string kind = "hard_gaussian";  // a name of glimpse_kinds()
  int num_glimpses = 8;                // T, >= 1
  std::string first = "random";        // a name of first_glimpses()
  Ramp std = {0.1, 0.1, 1.0};          // of the Gaussian, in half canvases; > 0
  bool learn_std = false;              // std is then a parameter that begins at std.from

  // hard_categorical and soft_grid
  GridConfig grid = {};
  std::string addressing = "none";     // location or content; none: there is no grid
  std::string score = "general";       // content: a name of score_kinds()
  int score_hidden = 128;              // content: inner width of `additive`
  std::string expect = "none";         // soft_grid: features or pixels
  Ramp temperature = {1.0, 1.0, 1.0};  // logits are divided by it; > 0

  // soft_grid: weights of what is added to the loss, >= 0
  double entropy = 0.0;      // - entropy of the weights, mean over the glimpses
  double coverage = 0.0;     // sum_k (1 - sum_t w_tk)^2 (Xu et al. 2015)
  double row_penalty = 0.0;  // |W W' - I|_F^2 of W = (w_tk) (Lin et al. 2017)

  int filters = 12;  // soft_gaussian: N x N filters

  // whole
  std::array<int, 2> size = {0, 0};  // rows, cols that the canvas is shrunk to; 0: as it is
  std::string order = "rows";        // a name of reading_orders()
};

/// `none`, `location` (logits are a function of the core's state alone: nothing is seen but what is
/// looked at), `content` (a score of the state against every candidate's embedding).
std::vector<std::string> addressings();
/// `none`, `features` (v = sum_k w_k v_k of embeddings), `pixels` (g = sum_k w_k g_k of glimpses).
std::vector<std::string> expectations();

/// How a whole canvas is read: `rows` (one a step, from the top) or `at_once` (in a single step).
std::vector<std::string> reading_orders();

/// Fills in what a kind implies where nothing was said: how a grid is addressed (hard: location,
/// soft: content), what soft_grid expects (features), and that a window has no other first glimpse
/// than the one its parameters begin with.
void settle(GlimpseConfig& config);

/// What a kind of glimpse attention chooses from, and how it learns to choose.
struct GlimpseKind {
  enum class Family {
    point,   // one location
    grid,    // a distribution over the candidates of a grid
    window,  // a window of Gaussian filters
    whole,   // nothing: the canvas itself is the input
  };
  enum class Learning { none, reinforce, backpropagation };

  Family family;
  Learning learning;
};

/// What a policy may use to place glimpse t of B episodes.
struct LookRequest {
  int t = 0;                        // 0 .. num_glimpses - 1
  int num_glimpses = 1;             // T
  ConstMatrix mean;                 // (B, 2), the locator's mu_t in [-1, 1]
  float std = 0.0F;                 // of the Gaussian; 0 looks at the mean
  ConstMatrix target;               // (B, 2), the digit's centre: for the oracle alone
  std::span<RandomStream> streams;  // (B), one for each episode
};

/// Where the next look goes: writes samples (B, 2), which may lie outside [-1, 1].
using Policy = void (*)(Matrix samples, const LookRequest& request);

/// The kinds of glimpse attention:
/// `hard_gaussian`: l ~ N(mu, std^2), by REINFORCE (Mnih et al. 2014);
/// `hard_categorical`: one candidate of a grid, sampled, by REINFORCE;
/// `soft_grid`: the expectation over the same distribution, by backpropagation (Xu et al. 2015);
/// `soft_gaussian`: a window of Gaussian filters, by backpropagation (Gregor et al. 2015);
/// `whole`: no glimpses, the canvas itself is what the core reads;
/// and the controls `random`, `center`, `scan`, `oracle`. Throws InputError listing the names.
GlimpseKind find_glimpse_kind(const std::string& kind);
std::vector<std::string> glimpse_kinds();

/// The policy of a name: `hard_gaussian` and the controls `random` (uniform in [-1, 1]^2),
/// `center`, `scan` (a raster over the canvas), `oracle` (the centre of the digit). Throws
/// InputError listing the names.
Policy find_policy(const std::string& kind);
std::vector<std::string> policies();

/// The policy of the first glimpse: `random`, `center`, or `learned` (a Gaussian around a trained
/// location).
Policy find_first_glimpse(const std::string& first);
std::vector<std::string> first_glimpses();

/// locations = samples clamped to [-1, 1]: what the retina and the location input get. Not-a-number
/// becomes -1; it still shows in the log-probability, which reads the sample.
void clamp_to_canvas(Matrix locations, ConstMatrix samples);

/// mu = tanh(y) keeps the mean on the canvas; in place.
void squash_forward(Matrix mean);
/// dmean (R, 2) becomes the gradient before the tanh.
void squash_backward(Matrix dmean, ConstMatrix mean);

/// log pi(l | mu, std) of an isotropic Gaussian in the plane, of the unclamped sample.
float gaussian_log_probability_forward(const float* sample, const float* mean, float std);
/// Adds scale * d log pi / d mu to dmean (2) and returns scale * d log pi / d log(std).
float gaussian_log_probability_backward(float* dmean, const float* sample, const float* mean,
                                        float std, float scale);
/// Entropy of that Gaussian in nats; its derivative by log(std) is 2.
float gaussian_entropy(float std);

}  // namespace saccade
