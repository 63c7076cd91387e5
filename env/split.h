#pragma once

namespace saccade {

/// The parts of a data set: to learn from, to choose the checkpoint by, and to report on, once.
enum class Split { train, valid, test };

}  // namespace saccade
