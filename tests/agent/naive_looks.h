#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <vector>

#include "env/environment.h"
#include "tests/agent/naive_canvas.h"

namespace saccade::naive {

// Grid attention, windows of Gaussian filters, points read between pixels, direct reads of the
// canvas, and models that read it at once.

/// A scene and the actions taken; constants of the loss.
struct Scene {
  std::vector<Row> candidates;  // (G, D)
  Row canvas;                   // (channels rows cols)
  Row thumbnail;                // with a context, otherwise empty
  std::vector<int> choices;     // (T), for hard_categorical
  std::vector<Row> samples;     // (T, 2): of points between pixels, unclamped
  std::vector<Row> noise;       // (T, 2): deviations in units of the std
  Truth truth;
};

/// The scenes of a lane and the loss's other inputs.
struct World {
  const AgentConfig& config;  // with derived settings filled in
  CanvasSize canvas;
  std::vector<Row> places;  // (G, 2)
  double temperature;
  Row average_returns;  // (T), for advantage `ema`
  std::vector<Scene> scenes;
  int patch_size = 0, scales = 0;  // of the retina, if there is one; its factor is 2
  double std = 0.0;                // of the Gaussian, if not learned

  bool recurrent() const { return config.model.kind == "recurrent"; }
  bool is(const std::string& kind) const { return recurrent() && config.glimpse.kind == kind; }
  /// Whether points are read between pixels and learned through the read.
  bool by_path() const {
    return is("soft_point") || (is("hard_gaussian") && config.reinforce.estimator != "score");
  }
  bool detached() const {
    return config.glimpse.detach_state && (by_path() || is("soft_gaussian"));
  }
  bool by_score() const {
    return is("hard_categorical") || (is("hard_gaussian") && config.reinforce.estimator == "both");
  }
  int first_learned() const { return config.glimpse.first == "learned" ? 0 : 1; }
};

// ---- One distribution over the candidates ----

inline Row softmax(const Row& logits, double temperature) {
  const Row scaled = map(logits, [&](double z) { return z / temperature; });
  return map(log_softmax(scaled), [](double z) { return std::exp(z); });
}

inline double entropy(const Row& p) {
  double sum = 0.0;
  for (const double x : p) sum -= x > 0.0 ? x * std::log(x) : 0.0;
  return sum;
}

/// sum_k w_k x_k
inline Row expectation(const Row& w, const std::vector<Row>& x) {
  Row sum(x.at(0).size());
  for (std::size_t k = 0; k < w.size(); ++k)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += w[k] * x.at(k)[i];
  return sum;
}

/// The distribution of glimpse t, given the state h_t and the candidates' embeddings.
inline Row distribution(const World& world, const Parameters& p, const Scene& scene, int t,
                        const Row& h, const std::vector<Row>& keys) {
  const GlimpseConfig& config = world.config.glimpse;
  const std::size_t n = world.places.size();
  if (t == 0 && config.first == "random") return Row(n, 1.0 / static_cast<double>(n));
  if (t == 0 && config.first == "center") {
    const auto distance = [](const Row& place) { return dot(place, place); };
    return one_hot(std::ranges::min_element(world.places, {}, distance) - world.places.begin(), n);
  }
  if (config.addressing == "location")
    return softmax(locate(p, "logits", h, scene.thumbnail), world.temperature);
  Row logits;
  for (const Row& key : keys)
    logits.push_back(naive_attention::score(config.score, p, "locator.score", h, key));
  return softmax(logits, world.temperature);
}

// ---- A window of Gaussian filters ----

/// One row of F_X or F_Y over a canvas side of `size` pixels, divided by the value at the nearest
/// pixel: far outside the canvas all are 0 in double precision.
inline Row filter(int size, double centre, double variance) {
  Row f(size);
  const auto exponent = [&](double a) { return (a - centre) * (a - centre) / (2.0 * variance); };
  const double least = exponent(std::clamp(std::nearbyint(centre), 1.0, size * 1.0));
  double sum = 0.0;
  for (int a = 0; a < size; ++a) sum += f[a] = std::exp(least - exponent(a + 1));
  return map(f, [&](double z) { return z / sum; });
}

/// gamma F_Y X F_X' (Gregor et al. 2015, equations 21 to 27).
inline Row read_window(const CanvasSize& canvas, int n, const Row& pixels, const Row& window) {
  const double longer = std::max(canvas.rows, canvas.cols);
  const double delta = (longer - 1) / (n - 1) * std::exp(window[3]);
  const auto row_of = [&](int axis, int size, int i) {
    const double centre = (size + 1) / 2.0 * (window[axis] + 1.0);
    return filter(size, centre + (i - n / 2.0 + 0.5) * delta, std::exp(window[2]));
  };
  Row glimpse;
  for (int c = 0; c < canvas.channels; ++c)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const Row f_x = row_of(0, canvas.cols, j), f_y = row_of(1, canvas.rows, i);
        double sum = 0.0;
        for (int y = 0; y < canvas.rows; ++y)
          for (int x = 0; x < canvas.cols; ++x)
            sum += f_y[y] * pixels[(c * canvas.rows + y) * canvas.cols + x] * f_x[x];
        glimpse.push_back(std::exp(window[4]) * sum);
      }
  return glimpse;
}

// ---- A point between pixels ----

/// Each cell is the integral of the canvas over its box, divided by the box's size.
inline Row read_point(const World& world, const Row& pixels, const Row& location) {
  const CanvasSize& canvas = world.canvas;
  const int patch = world.patch_size;
  Row glimpse;
  for (int s = 0, zoom = 1; s < world.scales; ++s, zoom *= 2) {
    // Share of each pixel along a side in cell i.
    const auto shares = [&](int axis, int size, int i) {
      const double edge = 0.5 * (location[axis] + 1.0) * size - 0.5 * patch * zoom + i * zoom;
      Row all(size);
      for (int k = 0; k < size; ++k)
        all[k] = std::max(0.0, std::min(edge + zoom, k + 1.0) - std::max(edge, 1.0 * k)) / zoom;
      return all;
    };
    for (int c = 0; c < canvas.channels; ++c)
      for (int i = 0; i < patch; ++i)
        for (int j = 0; j < patch; ++j) {
          const Row rows = shares(1, canvas.rows, i), cols = shares(0, canvas.cols, j);
          double sum = 0.0;
          for (int y = 0; y < canvas.rows; ++y)
            for (int x = 0; x < canvas.cols; ++x)
              sum += rows[y] * cols[x] * pixels[(c * canvas.rows + y) * canvas.cols + x];
          glimpse.push_back(sum);
        }
  }
  return glimpse;
}

// ---- An episode ----

struct Play {
  std::vector<Row> keys;       // (G, F): embeddings, if needed
  std::vector<Row> decisions;  // (T): distributions or windows
  std::vector<Row> states;     // h_0 .. h_T
};

/// The canvas shrunk to rows x cols by area averages, (channels, rows, cols).
inline Row shrink(const CanvasSize& canvas, const Row& pixels, int rows, int cols) {
  const auto overlap = [](double side, int i, int k) {
    return std::max(0.0, std::min((i + 1) * side, k + 1.0) - std::max(i * side, 1.0 * k));
  };
  const double height = 1.0 * canvas.rows / rows, width = 1.0 * canvas.cols / cols;
  Row small;
  for (int c = 0; c < canvas.channels; ++c)
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) {
        double sum = 0.0;
        for (int y = 0; y < canvas.rows; ++y)
          for (int x = 0; x < canvas.cols; ++x)
            sum += overlap(height, i, y) * overlap(width, j, x) *
                   pixels[(c * canvas.rows + y) * canvas.cols + x];
        small.push_back(sum / (height * width));
      }
  return small;
}

/// The context network's input for a canvas; empty if there is no context.
inline Row thumbnail(const ModelConfig& model, const CanvasSize& canvas, const Row& pixels) {
  if (model.context == "none") return {};
  return shrink(canvas, pixels, model.context_size, model.context_size);
}

/// The core's inputs for model whole: at each step a row of all channels, or everything at once.
inline std::vector<Row> read_whole(const World& world, const Scene& scene) {
  const GlimpseConfig& config = world.config.glimpse;
  const int rows = config.size[0] > 0 ? config.size[0] : world.canvas.rows;
  const int cols = config.size[1] > 0 ? config.size[1] : world.canvas.cols;
  const Row small = shrink(world.canvas, scene.canvas, rows, cols);
  if (config.order == "at_once") return {small};
  std::vector<Row> all(rows);
  for (int c = 0; c < world.canvas.channels; ++c)
    for (int t = 0; t < rows; ++t) all[t] = join(all[t], part(small, c * rows + t, cols));
  return all;
}

/// The core's input at each step for kinds that read the canvas directly; null for others.
using CanvasRead = std::vector<Row> (*)(const World& world, const Scene& scene);

inline CanvasRead canvas_read(const World& world) {
  static const std::map<std::string, CanvasRead> table = {{"whole", read_whole}};
  const auto found = table.find(world.config.glimpse.kind);
  return found == table.end() ? nullptr : found->second;
}

inline Row see_canvas(const World& world, const Parameters& p, const Scene& scene) {
  const auto [channels, rows, cols] = world.canvas;
  const ModelConfig& model = world.config.model;
  CanvasSizes sizes{};
  sizes.kernel_size = model.kernel_size;
  return canvas_networks().at(model.kind)(p, {channels, rows, cols, scene.canvas}, sizes);
}

inline double deviation(const World& world, const Parameters& p) {
  return world.config.glimpse.learn_std ? std::exp(p.at("locator.log_std")(0, 0)) : world.std;
}

/// mu + std epsilon with constant noise, clamped to the canvas.
inline Row locate_point(const World& world, const Parameters& p, const Scene& scene, int t,
                        const Row& mean) {
  if (t < world.first_learned()) return scene.samples[t];
  Row location;
  for (int axis = 0; axis < 2; ++axis)
    location.push_back(
        std::clamp(mean[axis] + deviation(world, p) * scene.noise[t][axis], -1.0, 1.0));
  return location;
}

/// The feature of one look, placed by the decision or by the choice of hard attention.
inline Row look(const World& world, const Parameters& p, const Scene& scene, std::size_t t,
                const Play& play) {
  const GlimpseConfig& config = world.config.glimpse;
  const Row& decision = play.decisions[t];
  if (world.by_path()) {
    const Row location = locate_point(world, p, scene, static_cast<int>(t), decision);
    return feature(world.config.model, p, read_point(world, scene.canvas, location), location);
  }
  if (world.is("soft_gaussian"))
    return feature(world.config.model, p,
                   read_window(world.canvas, config.filters, scene.canvas, decision),
                   {decision[0] * (world.canvas.cols + 1) / world.canvas.cols,
                    decision[1] * (world.canvas.rows + 1) / world.canvas.rows});
  if (world.is("hard_categorical")) {
    const int choice = scene.choices[t];
    return feature(world.config.model, p, scene.candidates[choice], world.places[choice]);
  }
  if (!world.is("soft_grid")) throw std::logic_error("no naive " + config.kind);
  if (config.expect == "features") return expectation(decision, play.keys);
  return feature(world.config.model, p, expectation(decision, scene.candidates),
                 expectation(decision, world.places));
}

/// Returns a distribution, a window or a mean.
inline Row decide(const World& world, const Parameters& p, const Scene& scene, int t, const Row& h,
                  const std::vector<Row>& keys) {
  if (world.is("soft_gaussian")) return locate(p, "window", h, scene.thumbnail);
  if (!world.by_path()) return distribution(world, p, scene, t, h, keys);
  return t < world.first_learned() ? Row{0.0, 0.0} : mean(p, t, h, scene.thumbnail);
}

/// `detached`, if given: what the locator reads instead of the states h_0 .. h_{T-1}.
inline Play play(const World& world, const Parameters& p, const Scene& scene,
                 const std::vector<Row>* detached = nullptr) {
  Play all;
  if (!world.recurrent()) {
    all.states = {{}, see_canvas(world, p, scene)};
    return all;
  }
  State state = initial_state(world.config.model.hidden_size);
  all.states = {state.h};
  if (const CanvasRead read = canvas_read(world)) {
    for (const Row& x : read(world, scene)) {
      state = advance(world.config, p, x, state);
      all.states.push_back(state.h);
    }
    return all;
  }
  for (std::size_t k = 0; k < world.places.size(); ++k)
    all.keys.push_back(feature(world.config.model, p, scene.candidates[k], world.places[k]));
  for (int t = 0; t < world.config.glimpse.num_glimpses; ++t) {
    const Row& h = detached != nullptr ? detached->at(t) : state.h;
    all.decisions.push_back(decide(world, p, scene, t, h, all.keys));
    state = advance(world.config, p, look(world, p, scene, t, all), state);
    all.states.push_back(state.h);
  }
  return all;
}

// ---- The loss ----

/// Detached inputs of REINFORCE.
struct Constants {
  std::vector<Play> plays;  // (B)
  Outcomes outcomes;
  std::vector<Row> advantages;  // (B, T)
};

inline Constants constants(const World& world, const Parameters& p) {
  Constants all;
  for (const Scene& scene : world.scenes) {
    all.plays.push_back(play(world, p, scene));
    all.outcomes.add(world.config, p, all.plays.back().states, scene.truth);
  }
  if (!world.by_score()) return all;
  for (std::size_t b = 0; b < world.scenes.size(); ++b) {
    all.advantages.emplace_back();
    for (std::size_t t = 0; t + 1 < all.plays[b].states.size(); ++t)
      all.advantages[b].push_back(advantage(world.config, world.average_returns, all.outcomes, b, t,
                                            !world.scenes[b].truth.actions.empty()));
  }
  return all;
}

/// Adds the REINFORCE and baseline losses of episode b.
inline void add_reinforce(Loss& sum, const World& world, const Parameters& p,
                          const Constants& constant, std::size_t b) {
  const ReinforceConfig& config = world.config.reinforce;
  const Play& before = constant.plays[b];
  const Scene& scene = world.scenes[b];
  const std::vector<int>& choices = scene.choices;
  const int steps = static_cast<int>(choices.size()), first = world.first_learned();
  for (int t = first; t < steps; ++t) {
    const Row chances = distribution(world, p, scene, t, before.states[t], before.keys);
    sum.reinforce -= config.weight * constant.advantages[b][t] * std::log(chances[choices[t]]);
    sum.reinforce -= config.entropy * entropy(chances);
  }
  sum.baseline +=
      baseline_loss(config, p, before.states, scene.truth, constant.outcomes.returns[b], first);
}

/// The same for a Gaussian, with its entropy bonus, which applies without REINFORCE, too.
inline void add_gaussian(Loss& sum, const World& world, const Parameters& p,
                         const Constants& constant, std::size_t b) {
  const ReinforceConfig& config = world.config.reinforce;
  const std::vector<Row>& h = constant.plays[b].states;
  const int steps = static_cast<int>(h.size()) - 1, first = world.first_learned();
  const Scene& scene = world.scenes[b];
  for (int t = first; t < steps; ++t) {
    const GaussianLook look =
        gaussian_look(scene.samples[t], mean(p, t, h[t], scene.thumbnail), deviation(world, p));
    if (world.by_score())
      sum.reinforce -= config.weight * constant.advantages[b][t] * look.log_probability;
    sum.reinforce -= config.entropy * look.entropy;
  }
  if (world.by_score())
    sum.baseline += baseline_loss(config, p, h, scene.truth, constant.outcomes.returns[b], first);
}

/// Coverage, row and entropy penalties of the weights w (T, G).
inline double grid_penalty(const World& world, const std::vector<Row>& w) {
  const GlimpseConfig& config = world.config.glimpse;
  double coverage = 0.0, rows = 0.0, entropies = 0.0;
  for (std::size_t k = 0; k < world.places.size(); ++k) {
    double looks = 0.0;
    for (const Row& row : w) looks += row[k];
    coverage += (1.0 - looks) * (1.0 - looks);
  }
  for (std::size_t i = 0; i < w.size(); ++i)
    for (std::size_t j = 0; j < w.size(); ++j)
      rows += std::pow(dot(w[i], w[j]) - (i == j ? 1.0 : 0.0), 2);
  for (std::size_t t = world.first_learned(); t < w.size(); ++t) entropies += entropy(w[t]);
  return config.coverage * coverage + config.row_penalty * rows -
         config.entropy * entropies / static_cast<double>(w.size());
}

inline Loss loss(const World& world, const Parameters& p, const Constants& constant) {
  Loss sum;
  for (std::size_t b = 0; b < world.scenes.size(); ++b) {
    const std::vector<Row>* detached = world.detached() ? &constant.plays[b].states : nullptr;
    const Play now = play(world, p, world.scenes[b], detached);
    const AnswerLoss answer = answer_loss(world.config, p, now.states, world.scenes[b].truth);
    sum.classifier += answer.classifier;
    sum.penalty += answer.penalty;
    if (world.is("hard_categorical")) add_reinforce(sum, world, p, constant, b);
    if (world.is("hard_gaussian")) add_gaussian(sum, world, p, constant, b);
    if (world.is("soft_grid")) sum.penalty += grid_penalty(world, now.decisions);
  }
  return sum;
}

}  // namespace saccade::naive
