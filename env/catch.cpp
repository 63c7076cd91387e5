#include "env/catch.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/error.h"

namespace saccade {
namespace {

constexpr int kPaddle = 2;  // pixels
constexpr int kLeastSide = 4;
constexpr std::uint8_t kBlack = 0, kWhite = 255;

}  // namespace

std::vector<std::string> catch_actions() { return {"left", "stay", "right"}; }

EnvironmentSizes catch_sizes(std::array<int, 2> canvas) {
  const auto [rows, cols] = canvas;
  if (std::min(rows, cols) < kLeastSide)
    throw SettingError({"scene.canvas", "scene.kind"},
                       fmt::format("scene.canvas: {} x {} with scene.kind: catch; allowed: {} and "
                                   "more pixels a side",
                                   rows, cols, kLeastSide));
  return {.num_classes = static_cast<int>(catch_actions().size()), .canvas = {1, rows, cols}};
}

CatchEnvironment::CatchEnvironment(std::array<int, 2> canvas, const Retina& retina, Split split,
                                   std::uint64_t seed, int episodes, int rollouts)
    : RetinaEnvironment(retina, episodes, 1),
      rows_(canvas[0]),
      cols_(canvas[1]),
      split_(split),
      seed_(seed),
      rollouts_(rollouts) {
  catch_sizes(canvas);
  SACCADE_CHECK(episodes % rollouts == 0);
  games_.assign(episodes, {RandomStream(seed, Purpose::scene, 0), 0, 0, 0, 0});
  canvas_.assign(static_cast<std::size_t>(rows_) * cols_, kBlack);
}

void CatchEnvironment::begin(std::uint64_t first_scene) {
  for (int b = 0; b < episodes(); ++b) start_game(b, first_scene + b / rollouts_);
}

void CatchEnvironment::begin_one(int episode, std::uint64_t scene) {
  if (rollouts_ > 1) return Environment::begin_one(episode, scene);
  start_game(episode, scene);
}

void CatchEnvironment::start_game(int episode, std::uint64_t scene) {
  Game& game = games_[episode];
  game.stream = RandomStream(seed_, Purpose::scene, scene_number(split_, scene));
  game.paddle = game.stream.below(cols_ - kPaddle + 1);
  start_ball(game);
  show_game(episode);
}

void CatchEnvironment::start_ball(Game& game) const {
  game.row = 0;
  game.col = game.stream.below(cols_);
  game.drift = game.stream.below(3) - 1;
}

float CatchEnvironment::step(Game& game, int action) const {
  game.paddle = std::clamp(game.paddle + action - 1, 0, cols_ - kPaddle);
  const int side = game.col + game.drift;
  if (side < 0 || side >= cols_) game.drift = -game.drift;
  game.col += game.drift;
  ++game.row;
  if (game.row < rows_ - 1) return 0.0F;
  const bool caught = game.col >= game.paddle && game.col < game.paddle + kPaddle;
  start_ball(game);
  return caught ? 1.0F : 0.0F;
}

void CatchEnvironment::advance(std::span<const int> actions, std::span<float> rewards) {
  for (int b = 0; b < episodes(); ++b) {
    rewards[b] = step(games_[b], actions[b]);
    show_game(b);
  }
}

// Updates facts and retina.
void CatchEnvironment::show_game(int episode) {
  const Game& game = games_[episode];
  std::uint8_t* ball = &canvas_[game.row * cols_ + game.col];
  std::uint8_t* paddle = &canvas_[(rows_ - 1) * cols_ + game.paddle];
  *ball = kWhite;
  std::fill_n(paddle, kPaddle, kWhite);
  show(episode, canvas_);
  *ball = kBlack;
  std::fill_n(paddle, kPaddle, kBlack);

  SceneFacts& facts = facts_[episode];
  facts.boxes[0] = {.x = game.col, .y = game.row, .width = 1, .height = 1};
  facts.regions[0] = to_region(facts.boxes[0], cols_, rows_);
  facts.is_answer[0] = true;
}

}  // namespace saccade
