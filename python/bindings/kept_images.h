#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "env/digits.h"

namespace saccade::python {

/// Stores labelled images as IDX files in cache_folder()/arrays/<name> and returns that folder. It
/// is written once and atomically, even if several processes write at the same time. `name` must
/// identify the content.
///
/// The training images are shuffled, since the last of them are for validation; without a test set
/// the last sixth of the shuffled images is used. `seed` determines the order.
///
/// `class_names`: of the classes, some of which may then have no images; empty: their numbers.
///
/// Throws InputError, naming arguments as in Python, unless labels are 0 to C - 1 and each occurs,
/// for images of two sizes, for too few images, and for a folder that cannot be written.
std::filesystem::path keep_images(const Dataset& images, const std::optional<Dataset>& test,
                                  const std::vector<std::string>& class_names,
                                  const std::string& name, std::uint64_t seed);

}  // namespace saccade::python
