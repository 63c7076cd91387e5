#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <string>
#include <vector>

#include "experiments/task/world.h"

namespace saccade::python {

using Pixels = nanobind::ndarray<const std::uint8_t, nanobind::ndim<4>, nanobind::c_contig,
                                 nanobind::device::cpu>;
using Labels = nanobind::ndarray<const std::int64_t, nanobind::ndim<1>, nanobind::c_contig,
                                 nanobind::device::cpu>;

/// The datasets of configurations, each read once for all simultaneous users.
SharedDatasets& shared_datasets();

/// Makes a dataset from images (N, rows, cols, channels) and labels (N). Throws InputError for
/// shapes that do not match and labels below 0, using the given names of `images` and `labels`.
Dataset digit_set(const Pixels& images, const Labels& labels,
                  const std::string& images_name = "images",
                  const std::string& labels_name = "labels");

/// The same for training, validation and test alike, kept once for all simultaneous users.
/// `class_names`: at least as many as there are classes; empty: their numbers.
std::shared_ptr<const Digits> digits_of(const Pixels& images, const Labels& labels,
                                        const std::vector<std::string>& class_names = {});
/// Sets the number of classes to the number of names. Throws InputError if there are fewer names
/// than classes.
void require_names(Dataset& set, const std::vector<std::string>& class_names);

/// Throws InputError listing the valid names.
Split split_named(const std::string& name);

/// Returns the world of a configuration with these digits, by default its own dataset. Throws
/// InputError if a dataset is given for scenes without digits.
std::unique_ptr<const World> make_world(const Config& config, std::shared_ptr<const Digits> digits);

}  // namespace saccade::python
