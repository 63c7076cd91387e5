#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "attention/moves.h"
#include "nn/random.h"
#include "nn/tensor.h"

namespace saccade {

/// Inputs of a policy that places glimpse t of B episodes.
struct LookRequest {
  int t = 0;                        // 0 .. num_glimpses - 1
  int num_glimpses = 1;             // T
  ConstMatrix mean;                 // (B, L), the locator's mu_t in [-1, 1]
  float std = 0.0F;                 // of the Gaussian; 0 looks at the mean
  float zoom_std = 0.0F;            // of its third number, the zoom
  ConstMatrix target;               // (B, 2), the digit's centre, used by the oracle only
  std::span<RandomStream> streams;  // (B), one per episode
  const Moves* moves = nullptr;     // if they are relative; else the samples are locations
  ConstMatrix from = {};            // (B, 2), the last locations; no data at the first glimpse
};

/// Chooses the next locations: writes samples (B, L), which may lie outside [-1, 1]. L = 2, (x, y);
/// or 3 with a zoom, (x, y, u), where 1 is the widest. If moves are relative, samples are the
/// actions of `moves`.
using Policy = void (*)(Matrix samples, const LookRequest& request);

/// Returns a policy by name: `hard_gaussian`, or a control: `random` (uniform in [-1, 1]^L: the
/// zoom is log-uniform), `center`, `scan` (a raster over the canvas), `oracle` (the centre of the
/// digit). The last three have the widest zoom in the first look, and then: `scan` keeps it, to
/// cover the canvas; `center` and `oracle` have the closest. If moves are relative, `random` makes
/// random moves, and the others go to their place as far as a step goes. Throws InputError listing
/// the names.
Policy find_policy(const std::string& kind);
std::vector<std::string> policies();
/// Whether a policy's places are the same in every episode: those of `center` and `scan`.
/// False for a name that is no policy's.
bool has_fixed_places(const std::string& kind);
/// Whether a policy visits every part of the canvas in turn: that of `scan`.
bool visits_all_parts(const std::string& kind);
/// Adds a control of the program that calls it, before anything else is called: a glimpse kind
/// whose points are not trained. Throws as NameTable::add does, and InputError for a null function;
/// the names of other glimpse kinds are taken (agent/looking/looking.h).
void register_policy(const std::string& name, Policy policy);

/// Returns the policy of the first glimpse: `random`, `center`, or `learned` (a Gaussian around a
/// trained location).
Policy find_first_glimpse(const std::string& first);
std::vector<std::string> first_glimpses();
/// Whether it is placed as the later ones are.
bool first_is_learned(const std::string& first);
/// Whether it is drawn from all places alike.
bool first_is_drawn(const std::string& first);

/// Offset of look t of T, in standard deviations, that makes a noise-free pass spread its looks
/// about as widely as a sampling one: quantiles of the Gaussian in the plane,
/// |offset|^2 ~ -2 log(1 - t / T), along a spiral of golden angles (Vogel 1979). The first is 0;
/// the mean square is the Gaussian's, 2.
std::array<float, 2> spread_offset(int t, int num_glimpses);
/// The same for a policy over candidates: the quantile in [0, 1) of look t, the fraction of t times
/// the golden ratio, so that the looks of an episode of any length are evenly spaced.
float spread_quantile(int t);

/// locations = samples (B, L) clamped to [-1, 1]: the input of the retina and of the location
/// input. NaN becomes -1; it still shows in the log-probability, which reads the sample.
void clamp_to_canvas(Matrix locations, ConstMatrix samples);

/// Turns dlocations (B, L) into the gradient of the samples: 0 where they were clamped.
void clamp_backward(Matrix dlocations, ConstMatrix samples);

/// mu = tanh(y), in place, which keeps the mean on the canvas.
void squash_forward(Matrix mean);
/// Turns dmean (R, L) into the gradient before the tanh.
void squash_backward(Matrix dmean, ConstMatrix mean);

/// Returns log pi(l | mu, std) of an isotropic Gaussian in the plane, for the unclamped sample.
float gaussian_log_probability_forward(const float* sample, const float* mean, float std);
/// Adds scale * d log pi / d mu to dmean (2) and returns scale * d log pi / d log(std).
float gaussian_log_probability_backward(float* dmean, const float* sample, const float* mean,
                                        float std, float scale);
/// Returns the entropy of that Gaussian in nats; its derivative by log(std) is 2.
float gaussian_entropy(float std);

/// The same of the third number of a look with a zoom, a Gaussian on the line.
float zoom_log_probability_forward(float sample, float mean, float std);
/// Returns scale * d log pi / d mu.
float zoom_log_probability_backward(float sample, float mean, float std, float scale);
float zoom_entropy(float std);

}  // namespace saccade
