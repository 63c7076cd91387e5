#include "nn/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/name_table.h"

namespace saccade {
namespace {

struct Curve {
  double (*factor)(double progress, double final_factor);
  bool may_end_at_zero = true;
};

const NameTable<Curve>& curves() {
  static const NameTable<Curve> table{
      "training.schedule",
      {{"constant", {[](double, double) { return 1.0; }}},
       {"linear", {[](double p, double last) { return 1.0 + (last - 1.0) * p; }}},
       {"cosine", {[](double p, double last) {
          return last + (1.0 - last) * 0.5 * (1.0 + std::cos(std::numbers::pi * p));
        }}},
       {"exponential", {[](double p, double last) { return std::pow(last, p); }, false}}}};
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
bool schedule_may_end_at_zero(const std::string& schedule) {
  return curves().at(schedule).may_end_at_zero;
}

}  // namespace saccade
