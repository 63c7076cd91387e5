#include "env/environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "nn/profile.h"

namespace saccade {

namespace {

void check_location(float at, int row) {
  if (!(std::abs(at) <= 1.0F))
    throw std::out_of_range(
        fmt::format("Environment::look: location {} in row {}; allowed: -1 to 1", at, row));
}

void check_locations(ConstMatrix locations) {
  for (int r = 0; r < locations.rows; ++r)
    for (int axis = 0; axis < locations.cols; ++axis) check_location(locations(r, axis), r);
}

}  // namespace

void Environment::reset(std::uint64_t first_scene) {
  const StageScope scope(Stage::scene);
  begin(first_scene);
  running_ = true;
}

void Environment::restart(int episode, std::uint64_t scene) {
  if (!running_) throw std::logic_error("Environment::restart needs a reset() first");
  SACCADE_CHECK(episode >= 0 && episode < episodes());
  const StageScope scope(Stage::scene);
  begin_one(episode, scene);
}

void Environment::look(int episode, const float* location, std::span<float> glimpse) {
  if (!running_) throw std::logic_error("Environment::look needs a reset() first");
  SACCADE_CHECK(episode >= 0 && episode < episodes());
  SACCADE_CHECK(static_cast<int>(glimpse.size()) == glimpse_size());
  for (int axis = 0; axis < location_size(); ++axis) check_location(location[axis], episode);
  const StageScope scope(Stage::look);
  observe_one(episode, location, glimpse.data());
}

void Environment::look(ConstMatrix locations, Matrix glimpses) {
  if (!running_) throw std::logic_error("Environment::look needs a reset() first");
  SACCADE_CHECK(locations.rows == episodes() && locations.cols == location_size());
  SACCADE_CHECK(glimpses.rows == episodes() && glimpses.cols == glimpse_size());
  check_locations(locations);
  const StageScope scope(Stage::look);
  observe(locations, glimpses);
}

void Environment::look_at_all(ConstMatrix places, Matrix glimpses, int first) {
  if (!running_) throw std::logic_error("Environment::look_at_all needs a reset() first");
  SACCADE_CHECK(location_size() == 2 && places.cols == 2 && glimpses.rows % places.rows == 0);
  SACCADE_CHECK(first >= 0 && first + glimpses.rows / places.rows <= episodes());
  SACCADE_CHECK(glimpses.cols == glimpse_size());
  check_locations(places);
  const StageScope scope(Stage::look);
  observe_all(places, glimpses, first);
}

void Environment::look_smoothly(ConstMatrix locations, Matrix glimpses, Matrix slopes) {
  if (!running_) throw std::logic_error("Environment::look_smoothly needs a reset() first");
  SACCADE_CHECK(locations.rows == episodes() && locations.cols == location_size());
  SACCADE_CHECK(glimpses.rows == episodes() && glimpses.cols == glimpse_size());
  SACCADE_CHECK(slopes.rows == episodes() && slopes.cols == location_size() * glimpse_size());
  check_locations(locations);
  const StageScope scope(Stage::look);
  observe_smoothly(locations, glimpses, slopes);
}

void Environment::view(Matrix canvases) {
  if (!running_) throw std::logic_error("Environment::view needs a reset() first");
  SACCADE_CHECK(canvases.rows == episodes() && canvases.cols == canvas().pixels());
  const StageScope scope(Stage::look);
  observe_canvases(canvases);
}

void Environment::begin_one(int, std::uint64_t) {
  throw std::logic_error("the episodes of this environment begin together");
}

void Environment::observe(ConstMatrix, Matrix) {
  throw std::logic_error("this environment cannot be looked at");
}

void Environment::observe_one(int, const float*, float*) {
  throw std::logic_error("this environment cannot be looked at, one episode by itself");
}

void Environment::observe_all(ConstMatrix, Matrix, int) {
  throw std::logic_error("this environment cannot be looked at through a grid");
}

void Environment::observe_smoothly(ConstMatrix, Matrix, Matrix) {
  throw std::logic_error("this environment cannot be looked at between pixels");
}

void Environment::observe_canvases(Matrix) {
  throw std::logic_error("this environment shows no canvas");
}

void Environment::look_backward(std::span<float>, const float*, std::span<const float>) const {
  throw std::logic_error("this environment has no retina whose looks could be traced back");
}

void Environment::look_smoothly_backward(std::span<float>, const float*,
                                         std::span<const float>) const {
  throw std::logic_error("this environment has no retina whose looks could be traced back");
}

void Environment::advance(std::span<const int>, std::span<float>) {
  throw std::logic_error("this environment takes no actions");
}

void Environment::replace_cues() {
  throw std::logic_error("this environment begins without a cue");
}

void Environment::replace_cue(int) {
  throw std::logic_error("this environment has no cue that ends in one episode by itself");
}

void Environment::check_call(const char* call, AnswerKind kind) const {
  if (!running_) throw std::logic_error(fmt::format("Environment::{} needs a reset() first", call));
  if (answer_kind() != kind)
    throw std::logic_error(
        fmt::format("Environment::{}: this environment takes another kind of answer", call));
}

void Environment::answer(std::span<const int> classes, std::span<float> rewards) {
  check_call("answer", AnswerKind::one_class);
  const auto count = static_cast<std::size_t>(episodes());
  SACCADE_CHECK(classes.size() == count && rewards.size() == count);
  for (std::size_t b = 0; b < count; ++b)
    rewards[b] = judge(static_cast<int>(b), classes.subspan(b, 1));
  running_ = false;
}

void Environment::answer_sequence(std::span<const int> symbols, std::span<float> rewards) {
  check_call("answer_sequence", AnswerKind::sequence);
  const auto count = static_cast<std::size_t>(episodes());
  const auto longest = static_cast<std::size_t>(max_symbols());
  SACCADE_CHECK(symbols.size() == count * longest && rewards.size() == count);
  for (std::size_t b = 0; b < count; ++b)
    rewards[b] = judge(static_cast<int>(b), symbols.subspan(b * longest, longest));
  running_ = false;
}

float Environment::judge(int episode, std::span<const int> answer) const {
  SACCADE_CHECK(answer_kind() != AnswerKind::actions);
  const SceneFacts& wanted = facts()[episode];
  if (answer_kind() == AnswerKind::one_class) return answer[0] == wanted.label ? 1.0F : 0.0F;
  const std::span right = std::span(wanted.symbols).first(wanted.num_symbols);
  return std::ranges::equal(answer.first(right.size()), right) ? 1.0F : 0.0F;
}

void Environment::act(std::span<const int> actions, std::span<float> rewards) {
  check_call("act", AnswerKind::actions);
  const auto count = static_cast<std::size_t>(episodes());
  SACCADE_CHECK(actions.size() == count && rewards.size() == count);
  for (std::size_t b = 0; b < count; ++b)
    if (actions[b] < 0 || actions[b] >= num_classes())
      throw std::out_of_range(
          fmt::format("Environment::act: action {} in episode {}; allowed: 0 to {}", actions[b], b,
                      num_classes() - 1));
  const StageScope scope(Stage::scene);
  advance(actions, rewards);
}

void Environment::end_cue() {
  if (!running_) throw std::logic_error("Environment::end_cue needs a reset() first");
  const StageScope scope(Stage::scene);
  replace_cues();
}

void Environment::end_cue(int episode) {
  if (!running_) throw std::logic_error("Environment::end_cue needs a reset() first");
  SACCADE_CHECK(episode >= 0 && episode < episodes());
  const StageScope scope(Stage::scene);
  replace_cue(episode);
}

RetinaEnvironment::RetinaEnvironment(const Retina& retina, int episodes, int sharing)
    : facts_(episodes),
      retina_(retina),
      sharing_(sharing),
      prepared_(retina.prepared_size() * (episodes / sharing)) {
  SACCADE_CHECK(episodes % sharing == 0);
}

void RetinaEnvironment::show(int episode, std::span<const std::uint8_t> canvas) {
  retina_.prepare(canvas, std::span(prepared_).subspan(offset(episode), retina_.prepared_size()));
}

std::span<const std::byte> RetinaEnvironment::prepared(int episode) const {
  return std::span(prepared_).subspan(offset(episode), retina_.prepared_size());
}

void RetinaEnvironment::observe(ConstMatrix locations, Matrix glimpses) {
  for (int b = 0; b < locations.rows; ++b) observe_one(b, locations.row(b), glimpses.row(b));
}

void RetinaEnvironment::observe_one(int episode, const float* location, float* glimpse) {
  if (retina_.zooms())
    retina_.look_zoomed(prepared(episode), location, glimpse, nullptr);
  else
    retina_.look(prepared(episode), location[0], location[1], glimpse);
}

void RetinaEnvironment::observe_all(ConstMatrix places, Matrix glimpses, int first) {
  for (int row = 0; row < glimpses.rows; row += places.rows)
    retina_.look_at_all(prepared(first + row / places.rows), places,
                        glimpses.row_range(row, places.rows), lattices_);
}

void RetinaEnvironment::observe_smoothly(ConstMatrix locations, Matrix glimpses, Matrix slopes) {
  for (int b = 0; b < locations.rows; ++b)
    if (retina_.zooms())
      retina_.look_zoomed(prepared(b), locations.row(b), glimpses.row(b), slopes.row(b));
    else
      retina_.look_smoothly(prepared(b), locations(b, 0), locations(b, 1), glimpses.row(b),
                            slopes.row(b));
}

void RetinaEnvironment::look_backward(std::span<float> dcanvas, const float* location,
                                      std::span<const float> dglimpse) const {
  if (retina_.zooms())
    retina_.look_zoomed_backward(dcanvas, location, dglimpse);
  else
    retina_.look_backward(dcanvas, location[0], location[1], dglimpse);
}

void RetinaEnvironment::look_smoothly_backward(std::span<float> dcanvas, const float* location,
                                               std::span<const float> dglimpse) const {
  if (retina_.zooms())
    retina_.look_zoomed_backward(dcanvas, location, dglimpse);
  else
    retina_.look_smoothly_backward(dcanvas, location[0], location[1], dglimpse);
}

void RetinaEnvironment::observe_canvases(Matrix canvases) {
  for (int b = 0; b < episodes(); ++b) retina_.view(prepared(b), canvases.row(b));
}

}  // namespace saccade
