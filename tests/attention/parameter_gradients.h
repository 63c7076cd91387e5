#pragma once

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <span>
#include <string>

#include "nn/parameters.h"
#include "tests/guarded_matrix.h"
#include "tests/naive.h"

namespace saccade {

/// The parameters of a module in double precision, by name.
using NaiveParameters = std::map<std::string, NaiveMatrix>;

inline NaiveParameters naive_parameters(const ParameterLayout& layout,
                                        std::span<const float> block) {
  NaiveParameters all;
  for (int i = 0; i < static_cast<int>(layout.parameters().size()); ++i)
    all.emplace(layout[i].name, NaiveMatrix(layout.view(block, i)));
  return all;
}

/// Compares the gradient of every parameter, `gradient` (1, layout.size()), with central
/// differences of loss(), which reads `parameters`.
inline void check_parameter_gradients(const ParameterLayout& layout, GuardedMatrix& gradient,
                                      NaiveParameters& parameters,
                                      const std::function<double()>& loss, double tolerance) {
  const std::span<const float> block = gradient.first_row();
  for (int i = 0; i < static_cast<int>(layout.parameters().size()); ++i) {
    const std::string& name = layout[i].name;
    CAPTURE(name);
    CHECK(largest_error(layout.view(block, i), finite_differences(parameters.at(name), loss)) <
          tolerance);
  }
}

}  // namespace saccade
