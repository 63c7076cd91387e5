#pragma once

#include <string>
#include <utility>
#include <vector>

#include "attention/hidden.h"

namespace saccade {

/// Every combination of kind, score, query, output and area, by name.
inline std::vector<std::pair<std::string, HiddenConfig>> every_hidden_config() {
  std::vector<std::pair<std::string, HiddenConfig>> all;
  const auto add_attend = [&](HiddenConfig config, const std::string& name) {
    config.attend.area = "global";
    all.push_back({name, config});
    config.attend.area = "local";
    config.attend.window = 1;
    for (const std::string& position : attention_positions()) {
      config.attend.position = position;
      if (position == "current" || config.query != "none")
        all.push_back({name + ", local, " + position, config});
    }
  };
  for (const std::string& kind : hidden_kinds()) {
    HiddenConfig config{.kind = kind, .attend = {.score_hidden = 5}, .hops = 3, .penalty = 0.5};
    if (kind != "attend") {
      all.push_back({kind, config});
      continue;
    }
    for (const std::string& score : score_kinds())
      for (const std::string& query : hidden_queries())
        for (const std::string& output : hidden_outputs()) {
          if (score_needs_query(score) == (query == "none")) continue;
          config.attend.score = score;
          config.query = query;
          config.output = output;
          add_attend(config, kind + ", " + score + ", " + query + ", " + output);
        }
  }
  return all;
}

}  // namespace saccade
