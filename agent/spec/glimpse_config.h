#pragma once

#include <array>
#include <string>

#include "attention/grid.h"
#include "base/log_range.h"
#include "base/own_settings.h"
#include "base/ramp.h"

namespace saccade {

/// Keys: attention.glimpse.*
struct GlimpseConfig {
  std::string kind = "hard_gaussian";  // a name of glimpse_kinds()
  int num_glimpses = 8;                // T, >= 1
  std::string first = "random";        // a name of first_glimpses()
  Ramp std = {0.1, 0.1, 1.0};          // of the Gaussian, in half canvases; > 0
  std::string moves = "absolute";      // of one place: a name of move_kinds()
  double max_step = 0.2;               // relative: longest step, half canvases; unit of std; > 0
  bool learn_std = false;              // std is then a parameter that begins at std.from
  double spread = 0.0;                 // of its deterministic pass, in widths of the policy; >= 0

  // Points: what a look with a zoom chooses between, in canvas pixels along a side of a pixel of
  // the finest scale (Retina::look_zoomed). 1: none.
  LogRange zoom = {1.0, 1.0};
  Ramp zoom_std = {0.2, 0.2, 1.0};  // of the Gaussian's third number, in half ranges; > 0

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

  std::string stop = "none";        // a name of stop_kinds()
  double stop_price = 0.01;         // learned: what a look after the first costs, >= 0
  double stop_threshold = 0.0;      // in [0, 1); 0: the kind's own
  double stop_prior = 0.5;          // expected: lambda of the geometric prior, in (0, 1)
  double stop_prior_weight = 0.01;  // expected: of the divergence from that prior, >= 0

  int filters = 12;  // soft_gaussian: N x N filters

  // soft_point, soft_gaussian and reinforce.estimator pathwise: the gradient of a place ends at the
  // locator, whose state is a constant. Through the states, from look to look, it explodes. With
  // relative moves it still runs along the chain of locations, l_t = l_{t-1} + step, to the locator
  // at every earlier look.
  bool detach_state = true;

  // whole
  std::array<int, 2> size = {0, 0};  // rows, cols that the canvas is shrunk to; 0: as it is
  std::string order = "rows";        // a name of reading_orders()

  OwnValues own = {};  // attention.glimpse.<kind>.*, of registered kinds
};

/// The same with its ramps held where `progress` of the training, in [0, 1], has brought them.
inline GlimpseConfig held_at(GlimpseConfig config, double progress) {
  for (Ramp* ramp : {&config.std, &config.zoom_std, &config.temperature})
    *ramp = ramp->held_at(progress);
  return config;
}

}  // namespace saccade
