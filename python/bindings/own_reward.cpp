#include "python/bindings/own_reward.h"

#include <nanobind/ndarray.h>

#include <algorithm>

#include "python/bindings/arrays.h"
#include "python/bindings/raised.h"

namespace saccade::python {

namespace nb = nanobind;

namespace {

using Rewards = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Array<float> copy_of(const Tensor<3>& tensor) {
  const auto& shape = tensor.shape();
  auto array = new_array<float, 3>({shape[0], shape[1], shape[2]});
  std::copy_n(tensor.data(), tensor.size(), array.data());
  return array;
}

Array<std::int64_t> labels_of(std::span<const SceneFacts> facts) {
  auto labels = new_array<std::int64_t, 1>({facts.size()});
  std::ranges::transform(facts, labels.data(), &SceneFacts::label);
  return labels;
}

// (B, K, 4): as many as the scene of most boxes has; 0 for none.
Array<std::int64_t> boxes_of(std::span<const SceneFacts> facts) {
  int most = 0;
  for (const SceneFacts& each : facts) most = std::max(most, each.num_digits);
  auto boxes = new_array<std::int64_t, 3>({facts.size(), static_cast<std::size_t>(most), 4});
  std::int64_t* to = boxes.data();
  for (const SceneFacts& each : facts)
    for (int k = 0; k < most; ++k) {
      const Box box = k < each.num_digits ? each.boxes[k] : Box();
      for (const int number : {box.x, box.y, box.width, box.height}) *to++ = number;
    }
  return boxes;
}

}  // namespace

RewardFunction python_reward(nb::handle reward) {
  return [reward](const RewardRequest& request, Matrix rewards) {
    const nb::gil_scoped_acquire acquired;
    try {
      const nb::object given = reward(copy_of(request.probabilities), labels_of(request.facts),
                                      boxes_of(request.facts), copy_of(request.locations));
      const auto array = nb::cast<Rewards>(given);  // of this shape: OwnReward
      std::copy_n(array.data(), array.size(), rewards.data);
    } catch (const nb::python_error& raised) {
      throw OwnPartError(text_of(raised));
    }
  };
}

}  // namespace saccade::python
