#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "env/digits.h"

namespace saccade::python {

/// Labelled images as IDX files in cache_folder()/arrays/<name>, which is returned: written once,
/// whole or not at all, whoever else writes them at the time. `name` stands for their content.
///
/// The training images are put in a fixed random order, since the last of them are for validation;
/// where there is no test set, the last sixth of that order is. `seed` draws it.
///
/// `class_names`: of the classes, which then need not all have images; none: their numbers.
///
/// Throws InputError, where arguments go by their names in Python, for labels that are not 0 to
/// C - 1 with some of each, images of two sizes, too few, and a folder that cannot be written.
std::filesystem::path keep_images(const DigitSet& images, const std::optional<DigitSet>& test,
                                  const std::vector<std::string>& class_names,
                                  const std::string& name, std::uint64_t seed);

}  // namespace saccade::python
