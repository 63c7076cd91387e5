#include "nn/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/name_table.h"

namespace saccade {
namespace {

struct Curve {
  double (*factor)(double progress, double final_factor);
  bool has_end = true;          // it moves to final_factor
  bool may_end_at_zero = true;  // if it has an end
};

const NameTable<Curve>& curves() {
  static const NameTable<Curve> table{
      "training.schedule",
      {{"constant", {.factor = [](double, double) { return 1.0; }, .has_end = false}},
       {"linear", {[](double p, double last) { return 1.0 + (last - 1.0) * p; }}},
       {"cosine", {[](double p, double last) {
          return last + (1.0 - last) * 0.5 * (1.0 + std::cos(std::numbers::pi * p));
        }}},
       {"exponential",
        {.factor = [](double p, double last) { return std::pow(last, p); },
         .may_end_at_zero = false}}}};
  return table;
}

}  // namespace

double learning_rate_factor(const std::string& schedule, double progress, double warmup,
                            double final_factor) {
  const Curve& curve = curves().at(schedule);
  if (progress < warmup) return progress / warmup;
  return curve.factor((progress - warmup) / (1.0 - warmup), final_factor);
}

std::vector<std::string> learning_rate_schedules() { return curves().names(); }
bool schedule_has_end(const std::string& schedule) { return curves().at(schedule).has_end; }
bool schedule_may_end_at_zero(const std::string& schedule) {
  return curves().at(schedule).may_end_at_zero;
}

}  // namespace saccade
