#include "agent/looking/glimpse_input.h"

#include <utility>

#include "base/name_table.h"
#include "nn/layers.h"

namespace saccade {
namespace {

using FiltersMaker = std::unique_ptr<GlimpseFilters> (*)(const ModelConfig& model,
                                                         const GlimpseShape& shape,
                                                         ParameterLayout& layout);

std::unique_ptr<GlimpseFilters> no_filters(const ModelConfig&, const GlimpseShape&,
                                           ParameterLayout&) {
  return nullptr;
}

const NameTable<FiltersMaker>& filters_makers() {
  static const NameTable<FiltersMaker> table{
      "model.glimpse_network",
      {{"mlp", no_filters}, {"conv", make_conv_filters}, {"residual", make_residual_filters}}};
  return table;
}

}  // namespace

GlimpseParts make_glimpse_parts(const ModelConfig& model, const GlimpseShape& shape,
                                ParameterLayout& layout, int location_size) {
  std::unique_ptr<GlimpseFilters> filters =
      filters_makers().at(model.glimpse_network)(model, shape, layout);
  const GlimpseNetwork network({.glimpse = filters ? filters->size() : shape.size,
                                .what = model.glimpse_hidden,
                                .where = model.location_hidden,
                                .features = model.feature_size,
                                .location = location_size},
                               layout);
  return {shape, std::move(filters), network};
}

std::vector<std::string> glimpse_networks() { return filters_makers().names(); }
bool reads_squares(const std::string& glimpse_network) {
  return filters_makers().at(glimpse_network) != no_filters;
}

Work GlimpseParts::work(Input input) const {
  if (!filters) return network.work(input, input);
  return filters->work(input) + network.work(Input::differentiated, input);
}

Work GlimpseParts::work_in_place() const {
  if (!filters) return network.work_in_place(Input::constant);
  return filters->work(Input::constant) + network.work_in_place(Input::differentiated);
}

GlimpseInput::GlimpseInput(const GlimpseParts& parts, int glimpses, int block) : parts_(parts) {
  if (parts.filters) memory_ = parts.filters->make_memory(glimpses, block);
  if (!parts.shape.pixels.is_identity()) scaled_ = zeros<2>(glimpses, parts.shape.size);
}

ConstMatrix GlimpseInput::scaled(ConstMatrix glimpses, int first) const {
  return scaled_.size() > 0 ? matrix(scaled_).row_range(first, glimpses.rows) : glimpses;
}

ConstMatrix GlimpseInput::forward(ConstMatrix glimpses, int first,
                                  std::span<const float> parameters) {
  if (scaled_.size() > 0) {
    const Matrix rows = matrix(scaled_).row_range(first, glimpses.rows);
    copy_rows(rows, glimpses);
    parts_.shape.pixels.forward(rows, parts_.shape.plane());
    glimpses = rows;
  }
  if (!memory_) return glimpses;
  parts_.filters->forward(*memory_, first, glimpses, parameters);
  return matrix(memory_->y).row_range(first, glimpses.rows);
}

ConstMatrix GlimpseInput::of(ConstMatrix glimpses, int first) const {
  if (!memory_) return scaled(glimpses, first);
  return matrix(std::as_const(memory_->y)).row_range(first, glimpses.rows);
}

void GlimpseInput::backward(ConstMatrix dwhat, int first, std::span<const float> parameters) {
  if (!memory_) return;
  parts_.network.glimpse_backward(GlimpseFilters::Memory::gradients(memory_->dy, first, dwhat.rows),
                                  dwhat, parameters);
  parts_.filters->backward(*memory_, first, dwhat.rows, parameters);
}

void GlimpseInput::glimpse_backward(Matrix dglimpses, ConstMatrix dwhat, int first,
                                    std::span<const float> parameters) {
  if (memory_)
    parts_.filters->glimpse_backward(dglimpses, *memory_, first, parameters);
  else
    parts_.network.glimpse_backward(dglimpses, dwhat, parameters);
  parts_.shape.pixels.backward(dglimpses, parts_.shape.plane());
}

void GlimpseInput::weight_backward(std::span<float> gradient, ConstMatrix glimpses, int first,
                                   float beta) {
  if (memory_)
    parts_.filters->weight_backward(gradient, *memory_, first, scaled(glimpses, first), beta);
}

}  // namespace saccade
