#pragma once

#include <string>
#include <vector>

#include "agent/answering/stopping.h"
#include "agent/looking/location_estimator.h"
#include "tests/agent/support.h"

namespace saccade {

struct NamedAgent {
  std::string name;
  AgentConfig config;
};

/// The agent of `base` with every way of looking: every kind of glimpse attention with every
/// addressing, score, expectation and estimator that fits, with and without a context where one
/// fits, every kind that can with relative moves, every kind of model, and every kind of stop. The
/// losses of soft_grid are on.
inline std::vector<NamedAgent> every_agent(AgentConfig base) {
  base.glimpse.temperature = {0.7, 0.7, 1.0};
  base.glimpse.entropy = 0.05;
  base.glimpse.coverage = 0.3;
  base.glimpse.row_penalty = 0.2;
  base.model.canvas_hidden = 9;
  base.model.channels = {3, 4};
  base.model.kernel_size = 3;

  std::vector<NamedAgent> all;
  for (const std::string& kind : model_kinds()) {
    if (kind == "recurrent") continue;
    AgentConfig config = base;
    config.model.kind = kind;
    all.push_back({kind, config});
  }
  for (const std::string& kind : glimpse_kinds()) {
    AgentConfig config = base;
    config.glimpse.kind = kind;
    if (!find_glimpse_kind(kind).has_candidates) {
      all.push_back({kind, config});
      continue;
    }
    const bool soft = find_glimpse_kind(kind).learning == GlimpseKind::Learning::backpropagation;
    const auto add = [&](const std::string& name) {
      for (const std::string& expect : expectations()) {
        if (soft == (expect == "none")) continue;
        config.glimpse.expect = expect;
        all.push_back({kind + ", " + name + ", " + expect, config});
      }
    };
    config.glimpse.addressing = "location";
    add("location");
    config.glimpse.addressing = "content";
    config.glimpse.score_hidden = 9;
    for (const std::string& score : score_kinds()) {
      config.glimpse.score = score;
      config.model.feature_size =
          score_needs_equal_widths(score) ? base.model.hidden_size : base.model.feature_size;
      add(score);
    }
  }
  for (const std::string& estimator : location_estimators()) {
    if (!find_location_estimator(estimator).by_path) continue;
    AgentConfig config = base;
    config.glimpse.kind = "hard_gaussian";
    config.reinforce.estimator = estimator;
    all.push_back({"hard_gaussian, " + estimator, config});
  }
  for (std::size_t i = 0, count = all.size(); i < count; ++i) {
    auto [name, config] = all[i];
    if (config.model.kind != "recurrent" || config.glimpse.addressing == "content" ||
        !find_glimpse_kind(config.glimpse.kind).can_have_context)
      continue;
    config.model.context = "thumbnail";
    all.push_back({name + ", context", config});
  }
  for (std::size_t i = 0, count = all.size(); i < count; ++i) {
    auto [name, config] = all[i];
    if (config.model.kind != "recurrent" || config.model.context != "none" ||
        !find_glimpse_kind(config.glimpse.kind).has_moves || sees_all_candidates(config.glimpse))
      continue;
    config.glimpse.moves = "relative";
    config.glimpse.max_step = 0.5;
    config.glimpse.grid.cells = {3, 3};
    all.push_back({name + ", relative", config});
  }
  const auto add_filtered = [&](const std::string& network, const std::string& kind,
                                const std::string& expect) {
    AgentConfig config = base;
    config.model.glimpse_network = network;
    config.model.location_hidden += 2;
    config.glimpse.kind = kind;
    config.glimpse.expect = expect;
    if (expect != "none") config.glimpse.addressing = "content";
    all.push_back({kind + ", " + network + (expect == "none" ? "" : ", " + expect), config});
  };
  for (const char* network : {"conv", "residual"}) {
    for (const char* kind : {"hard_gaussian", "hard_categorical", "soft_gaussian", "soft_point"})
      add_filtered(network, kind, "none");
    add_filtered(network, "soft_grid", "features");
    add_filtered(network, "soft_grid", "pixels");  // which uses the filters to read and to score
  }
  for (const std::string& stop : stop_kinds()) {
    if (!find_stop_kind(stop).stops) continue;
    AgentConfig config = base;
    config.glimpse.stop = stop;
    all.push_back({"hard_gaussian, stop " + stop, config});
  }
  return all;
}

/// The points of `base` with a zoom, for zoomed_environment.
inline std::vector<NamedAgent> every_zoomed_agent(AgentConfig base) {
  base.glimpse.zoom = kTinyZoom;
  base.glimpse.zoom_std = {0.4, 0.4, 1.0};
  std::vector<NamedAgent> all;
  for (const NamedAgent& agent : every_agent(base))
    if (!zoom_of(agent.config).is_point()) all.push_back({agent.name + ", zoom", agent.config});
  return all;
}

}  // namespace saccade
