#pragma once

namespace saccade {

/// The splits of a dataset: to train on, to choose the checkpoint by, and to report on, once.
enum class Split { train, valid, test };

}  // namespace saccade
