#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <string>
#include <vector>

#include "experiments/task/task.h"

namespace saccade::python {

using Pixels = nanobind::ndarray<const std::uint8_t, nanobind::ndim<4>, nanobind::c_contig,
                                 nanobind::device::cpu>;
using Labels = nanobind::ndarray<const std::int64_t, nanobind::ndim<1>, nanobind::c_contig,
                                 nanobind::device::cpu>;

/// The digits of a configuration, read once for all that use them at a time.
std::shared_ptr<const Digits> digits_of(const Config& config);

/// Images (N, rows, cols, channels) with labels (N). Throws InputError for shapes that do not fit
/// and labels below 0, naming `images` and `labels` as these are called.
DigitSet digit_set(const Pixels& images, const Labels& labels,
                   const std::string& images_name = "images",
                   const std::string& labels_name = "labels");

/// The same as all three parts, kept once for all that use the same at a time. `class_names`: as
/// many as there are classes or more; none: their numbers.
std::shared_ptr<const Digits> digits_of(const Pixels& images, const Labels& labels,
                                        const std::vector<std::string>& class_names = {});
/// Gives a set so many classes as there are names. Throws InputError for fewer than it has.
void require_names(DigitSet& set, const std::vector<std::string>& class_names);

/// Throws InputError listing the names.
Split split_named(const std::string& name);

/// A configuration's task with digits that other tasks may have, too. Throws InputError for digits
/// where the scenes show none.
std::shared_ptr<const Task> make_task(const Config& config,
                                      std::shared_ptr<const Digits> digits = nullptr);

}  // namespace saccade::python
