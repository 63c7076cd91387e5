#pragma once

#include <string>

#include "env/digits.h"
#include "experiments/config/config.h"

namespace saccade {

/// Describes the data in two lines: how many images of which classes and size, and how they are
/// divided into training, validation and test.
std::string data_summary(const Config& config, const Digits& digits);

}  // namespace saccade
