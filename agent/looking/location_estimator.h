#pragma once

#include <string>
#include <vector>

namespace saccade {

/// How the locator learns from a sampled location l = mu + std epsilon (both estimators are
/// described by Mohamed et al. 2020, "Monte Carlo gradient estimation in machine learning").
struct LocationEstimator {
  bool by_score = true;  // A d log pi(l) / d mu: REINFORCE, blind to what is seen (Williams 1992)
  bool by_path = false;  // d loss / d l d l / d mu at the sampled epsilon
                         //   (reparametrisation, Kingma & Welling 2014)
};

/// `score`, `pathwise`, or `both`, their sum. `pathwise` and `both` read between pixels
/// (Environment::look_smoothly), also in evaluation. Throws InputError listing the valid names.
const LocationEstimator& find_location_estimator(const std::string& name);
std::vector<std::string> location_estimators();

}  // namespace saccade
