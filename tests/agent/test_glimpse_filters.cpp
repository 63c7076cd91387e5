// The parts of the glimpse network, as set by model.glimpse_network. The outputs of the filters are
// compared with slopes and PyTorch in the loops over every kind.
#include "agent/looking/glimpse_filters.h"

#include <doctest/doctest.h>

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

TEST_CASE("the glimpse network reads the pixels, or the output of the filters") {
  ParameterLayout pixels, filtered;
  const GlimpseParts mlp = make_glimpse_parts(tiny_config().model, kShape, pixels);
  CHECK_FALSE(mlp.filters.has_value());
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

// On some processors oneDNN uses another kernel for the last rows of a product.
TEST_CASE(
    "a glimpse alone or in a batch: the same output bits, and the same gradients up to rounding") {
  ParameterLayout layout;
  const GlimpseFilters filters(kShape, {.filters = 5, .kernel_size = 3, .stride = 1}, layout);
  Tensor<1> parameters = zeros<1>(layout.size());
  randomize(flat(parameters), layout, 0.5F, 3);
  constexpr int kGlimpses = 3;
  Tensor<2> glimpses = zeros<2>(kGlimpses, kShape.size), dglimpses = glimpses, alone = glimpses;
  RandomStream stream(4, Purpose::scene, 0, 0);
  for (float& pixel : glimpses) pixel = stream.uniform();

  GlimpseFilters::Memory memory = filters.make_memory(kGlimpses, kGlimpses);
  filters.forward(memory, 0, matrix(glimpses), flat(parameters));
  for (float& slope : memory.dy) slope = stream.normal();
  const Matrix dy = matrix(memory.dy);
  filters.glimpse_backward(matrix(dglimpses), memory, dy, flat(parameters));
  const Tensor<2> y = memory.y;
  for (int first = kGlimpses - 1; first >= 0; --first) {
    filters.forward(memory, first, matrix(glimpses).row_range(first, 1), flat(parameters));
    filters.glimpse_backward(matrix(alone).row_range(first, 1), memory, dy.row_range(first, 1),
                             flat(parameters));
  }
  CHECK(memory.y == y);
  for (std::size_t i = 0; i < alone.size(); ++i)
    CHECK(alone.data()[i] == doctest::Approx(dglimpses.data()[i]).epsilon(1e-5));
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
