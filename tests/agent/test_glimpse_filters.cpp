// The parts of the glimpse network, as set by model.glimpse_network. The outputs of the filters are
// compared with slopes and PyTorch in the loops over every kind.
#include "agent/looking/glimpse_filters.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "agent/looking/glimpse_input.h"
#include "base/error.h"
#include "tests/agent/support.h"
#include "tests/support.h"

namespace saccade {
namespace {

constexpr GlimpseShape kShape{.size = 2 * 3 * 6 * 6, .channels = 3, .side = 6};  // two scales

ModelConfig filtering(int kernel_size, int stride) {
  ModelConfig model = tiny_config().model;
  model.glimpse_network = "conv";
  model.glimpse_filters = 5;
  model.glimpse_kernel = kernel_size;
  model.glimpse_stride = stride;
  return model;
}

ModelConfig residual(int stages, int blocks) {
  ModelConfig model = tiny_config().model;
  model.glimpse_network = "residual";
  model.glimpse_filters = 5;
  model.glimpse_stages = stages;
  model.glimpse_blocks = blocks;
  return model;
}

TEST_CASE("the glimpse network reads the pixels, or the output of the filters") {
  ParameterLayout pixels, filtered;
  const GlimpseParts mlp = make_glimpse_parts(tiny_config().model, kShape, pixels);
  CHECK(mlp.filters == nullptr);
  CHECK(mlp.shape.size == kShape.size);
  CHECK(mlp.network.sizes().glimpse == kShape.size);

  const GlimpseParts conv = make_glimpse_parts(filtering(4, 2), kShape, filtered);
  CHECK(conv.shape.size == kShape.size);
  CHECK(conv.network.sizes().glimpse == 2 * 2 * 2 * 5);  // scales, rows, cols, filters
  const Parameter& weight = find_parameter(filtered, "glimpse.filters.weight");
  CHECK(weight.rows == 4 * 4 * 3);
  CHECK(weight.cols == 5);
  CHECK(filtered.parameters().size() == pixels.parameters().size() + 2);
}

TEST_CASE("residual: each stage halves the resolution, rounded up, and doubles the filters") {
  const int sides[] = {6, 3, 2, 1};
  for (int stages = 1; stages <= 4; ++stages) {
    ParameterLayout layout;
    const GlimpseParts parts = make_glimpse_parts(residual(stages, 2), kShape, layout);
    const int side = sides[stages - 1], filters = 5 << (stages - 1);
    CHECK(parts.network.sizes().glimpse == side * side * filters);
    CHECK(find_parameter(layout, "glimpse.filters.stage1.enter.weight").rows == 9 * 3 * 2);
    const Parameter& last = find_parameter(
        layout, "glimpse.filters.stage" + std::to_string(stages) + ".block2.second.weight");
    CHECK(last.rows == 9 * filters);
    CHECK(last.cols == filters);
    std::int64_t products =
        9 * 6 * 5 * 36;  // of the first convolution: (scale, channel) to filters
    for (int stage = 1; stage <= stages; ++stage) {
      const std::int64_t here = 5 << (stage - 1), positions = sides[stage - 1] * sides[stage - 1];
      if (stage > 1) products += positions * 9 * here / 2 * here;
      products += 4 * positions * 9 * here * here;
    }
    CHECK(parts.filters->work(Input::constant).forward == products);
    CHECK(parts.filters->work(Input::differentiated).backward == 2 * products);
  }
}

TEST_CASE("residual: at the start, blocks change nothing") {
  ParameterLayout one, many;
  const auto few = make_residual_filters(residual(1, 1), kShape, one);
  const auto filters = make_residual_filters(residual(1, 3), kShape, many);
  Tensor<2> glimpse = zeros<2>(1, kShape.size);
  RandomStream stream(4, Purpose::scene, 0, 0);
  for (float& pixel : glimpse) pixel = stream.uniform();
  const auto outputs = [&](const GlimpseFilters& network, const ParameterLayout& layout) {
    Tensor<1> parameters = zeros<1>(layout.size());
    layout.initialize(flat(parameters), 1);
    const auto memory = network.make_memory(1, 1);
    network.forward(*memory, 0, matrix(glimpse), flat(parameters));
    return memory->y;
  };
  CHECK(outputs(*few, one) == outputs(*filters, many));
}

// On some processors oneDNN uses another kernel for the last rows of a product.
TEST_CASE(
    "a glimpse alone or in a batch: the same output bits, and the same gradients up to rounding") {
  for (const ModelConfig& model : {filtering(3, 1), residual(2, 2)}) {
    CAPTURE(model.glimpse_network);
    ParameterLayout layout;
    const auto filters = make_glimpse_parts(model, kShape, layout).filters;
    Tensor<1> parameters = zeros<1>(layout.size());
    randomize(flat(parameters), layout, 0.3F, 3);
    constexpr int kGlimpses = 3;
    Tensor<2> glimpses = zeros<2>(kGlimpses, kShape.size), dglimpses = glimpses, alone = glimpses;
    RandomStream stream(4, Purpose::scene, 0, 0);
    for (float& pixel : glimpses) pixel = stream.uniform();

    const auto memory = filters->make_memory(kGlimpses, kGlimpses);
    filters->forward(*memory, 0, matrix(glimpses), flat(parameters));
    Tensor<2> dy = zeros<2>(kGlimpses, filters->size());
    for (float& slope : dy) slope = stream.normal();
    memory->dy = dy;
    filters->backward(*memory, 0, kGlimpses, flat(parameters));
    filters->glimpse_backward(matrix(dglimpses), *memory, 0, flat(parameters));
    const Tensor<2> y = memory->y;
    memory->dy = dy;
    for (int first = kGlimpses - 1; first >= 0; --first) {
      filters->forward(*memory, first, matrix(glimpses).row_range(first, 1), flat(parameters));
      filters->backward(*memory, first, 1, flat(parameters));
      filters->glimpse_backward(matrix(alone).row_range(first, 1), *memory, first,
                                flat(parameters));
    }
    CHECK(memory->y == y);
    CHECK(relative_error(values_of(matrix(alone)), values_of(matrix(dglimpses))) < 1e-5);
  }
}

TEST_CASE("a kernel larger than a glimpse is refused") {
  ParameterLayout layout;
  CHECK_NOTHROW(make_glimpse_parts(filtering(6, 1), kShape, layout));
  CHECK(message_of<InputError>([&] {
          ParameterLayout other;
          make_glimpse_parts(filtering(7, 1), kShape, other);
        }) == "model.glimpse_kernel: 7 is larger than a glimpse; allowed: 1 to 6 pixels");
}

}  // namespace
}  // namespace saccade
