#pragma once

#include <string>

#include "env/digits.h"
#include "experiments/config/config.h"

namespace saccade {

/// What was read, in two lines: how many images of which classes and size, and how they were
/// divided into training, validation and test.
std::string data_summary(const Config& config, const Digits& digits);

}  // namespace saccade
