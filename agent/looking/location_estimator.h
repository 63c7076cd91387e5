#pragma once

#include <string>
#include <vector>

namespace saccade {

/// How the locator learns from a location l = mu + std epsilon that was drawn (both are described
/// by Mohamed et al. 2020, "Monte Carlo gradient estimation in machine learning").
struct LocationEstimator {
  bool by_score = true;  // A d log pi(l) / d mu: REINFORCE, whatever is seen (Williams 1992)
  bool by_path = false;  // d loss / d l d l / d mu at the epsilon that was drawn
                         //   (reparametrisation, Kingma & Welling 2014)
};

/// `score`, `pathwise` and `both`, their sum. What is learned by its path is read between pixels
/// (Environment::look_smoothly), also when it is evaluated. Throws InputError listing the names.
const LocationEstimator& find_location_estimator(const std::string& name);
std::vector<std::string> location_estimators();

}  // namespace saccade
