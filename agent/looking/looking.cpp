#include "agent/looking/looking.h"

#include <fmt/format.h>

#include <algorithm>

#include "agent/looking/canvas_network.h"
#include "agent/looking/looking_parts.h"
#include "base/error.h"
#include "base/name_table.h"

namespace saccade {
namespace {

constexpr const char* kKey = "attention.glimpse.kind";
constexpr const char* kRecurrent = "recurrent";

// All kinds but the controls, one for each policy that is registered too.
NameTable<GlimpseKind>& family_table() {
  using enum GlimpseKind::Learning;
  static NameTable<GlimpseKind> table{kKey,
                                      {{kLearnedPolicy, point_looking(reinforce)},
                                       {"hard_categorical", grid_looking(reinforce)},
                                       {"soft_grid", grid_looking(backpropagation)},
                                       {"soft_gaussian", window_looking()},
                                       {"soft_point", point_looking(backpropagation)},
                                       {"whole", whole_looking()}}};
  return table;
}

std::vector<std::pair<std::string, GlimpseKind>> all_kinds() {
  std::vector<std::pair<std::string, GlimpseKind>> kinds;
  for (const std::string& name : family_table().names())
    kinds.emplace_back(name, family_table().at(name));
  for (const std::string& policy : policies())
    if (policy != kLearnedPolicy)
      kinds.emplace_back(policy, point_looking(GlimpseKind::Learning::none));
  return kinds;
}

const NameTable<GlimpseKind>& glimpse_table() {
  static const NameTable<GlimpseKind> table{kKey, all_kinds()};
  return table;
}

}  // namespace

const GlimpseKind& find_glimpse_kind(const std::string& kind) { return glimpse_table().at(kind); }
std::vector<std::string> glimpse_kinds() { return glimpse_table().names(); }

void register_glimpse_kind(const std::string& name, const GlimpseKind& kind,
                           const std::vector<OwnSetting>& settings) {
  if (kind.make == nullptr)
    throw InputError(fmt::format("{}: '{}' cannot be registered: needed: make", kKey, name));
  family_table().add(name, kind);
  add_own_settings("attention.glimpse", name, settings);
}

std::vector<std::string> addressings() { return {"none", "location", "content"}; }
std::vector<std::string> expectations() { return {"none", "features", "pixels"}; }
std::vector<std::string> reading_orders() { return {"rows", "at_once"}; }

bool takes_glimpses(const AgentConfig& config) {
  return is_recurrent(config.model) && find_glimpse_kind(config.glimpse.kind).takes_glimpses;
}

void settle(GlimpseConfig& config) {
  if (const auto settle_kind = find_glimpse_kind(config.kind).settle) settle_kind(config);
}

LogRange zoom_of(const AgentConfig& config) {
  const bool has_zoom =
      is_recurrent(config.model) && find_glimpse_kind(config.glimpse.kind).has_zoom;
  return has_zoom ? config.glimpse.zoom : LogRange{};
}

std::vector<std::string> model_kinds() {
  std::vector<std::string> kinds = {kRecurrent};
  for (const std::string& kind : canvas_network_kinds()) kinds.push_back(kind);
  return kinds;
}

bool is_recurrent(const ModelConfig& model) { return model.kind == kRecurrent; }

std::unique_ptr<const Looking> make_looking(const AgentConfig& config, const ObservationSpec& spec,
                                            ParameterLayout& layout) {
  if (!is_recurrent(config.model)) return make_canvas_looking(config, spec, layout);
  return find_glimpse_kind(config.glimpse.kind).make(config, spec, layout);
}

Exploration Looking::exploration_at(double progress, std::span<const float>) const {
  return {.std = static_cast<float>(config_.std.at(progress)),
          .zoom_std = static_cast<float>(config_.zoom_std.at(progress)),
          .temperature = static_cast<float>(config_.temperature.at(progress))};
}

// A glimpse that no retina took is a row of numbers.
GlimpseShape retina_shape(const ObservationSpec& spec) {
  return {spec.glimpse_size, spec.canvas.channels, std::max(1, spec.patch_size), spec.pixels};
}

LookTraits retina_traits(const AgentConfig& config, const ObservationSpec& spec) {
  const int side = spec.patch_size;
  const int patch = spec.canvas.channels * side * side;
  return {.steps = config.glimpse.num_glimpses,
          .feature_size = config.model.feature_size,
          .retina = true,
          .pictures = patch > 0 ? spec.glimpse_size / patch : 0,
          .picture_side = side,
          .weights = {{"locations", 2, &Look::locations}}};
}

std::array<float, 2> half_sides(const ObservationSpec& spec) {
  const auto side = static_cast<float>(spec.patch_size);
  if (side == 0.0F) return {0.0F, 0.0F};
  return {side / static_cast<float>(spec.canvas.cols), side / static_cast<float>(spec.canvas.rows)};
}

Moves moves_of(const GlimpseConfig& config, const ObservationSpec& spec) {
  if (!moves_by_steps(config.moves)) return {};
  const Moves moves = relative_moves(static_cast<float>(config.max_step), half_sides(spec));
  if (std::max(moves.reach[0], moves.reach[1]) <= 0.0F)
    throw SettingError(
        {"attention.glimpse.moves", "retina.patch_size"},
        fmt::format("attention.glimpse.moves: {} has no room, because retina.patch_size: {} covers "
                    "the canvas of {} x {}; allowed: absolute, or a smaller patch",
                    config.moves, spec.patch_size, spec.canvas.rows, spec.canvas.cols));
  return moves;
}

}  // namespace saccade
