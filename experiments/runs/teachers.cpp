#include "experiments/runs/teachers.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agent/learning/checkpoint.h"
#include "base/checksum.h"
#include "base/error.h"
#include "experiments/runs/other_scenes.h"
#include "experiments/runs/trained.h"

namespace saccade {

Teachers::One::One(const std::string& name, const Task& learner) {
  const Checkpoint checkpoint(find_checkpoint(name));
  const Config trained = parse_config(checkpoint.config_yaml(), name);
  task = std::make_unique<const Task>(
      seeing_scenes_of(learner.config, trained),
      std::shared_ptr<const Digits>(std::shared_ptr<void>(), &learner.digits), learner.sources());
  check_same_agent(trained, *task);
  weights = zeros<1>(task->model.layout().size());
  checkpoint.restore_averaged(weights, task->model.layout());
}

Teachers::Teachers(const Task& learner) {
  for (const std::string& name : learner.config.agent.training.teachers) {
    try {
      all_.emplace_back(name, learner);
    } catch (const InputError& error) {
      throw InputError(fmt::format("training.teachers: {}: {}", name, error.what()));
    }
  }
}

std::vector<Teacher> Teachers::all() const {
  std::vector<Teacher> teachers;
  for (const One& one : all_)
    teachers.push_back({.model = one.task->model,
                        .weights = flat(one.weights),
                        .environments = one.task->environments(Split::train)});
  return teachers;
}

std::string Teachers::note() const {
  nlohmann::json checksums = nlohmann::json::array();
  for (const One& one : all_)
    checksums.push_back(crc32_of(one.weights.data(), one.weights.size() * sizeof(float)).hex());
  return all_.empty() ? "" : checksums.dump();
}

}  // namespace saccade
