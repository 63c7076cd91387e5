#pragma once

namespace saccade {

/// Runs multiply-adds on registers only, at the highest rate of the processor: the upper bound for
/// any product on one thread. Runs for some milliseconds and returns the floating-point operations
/// done, in GFLOP, counting two for each multiply-add of two numbers.
double multiply_add_on_registers();

}  // namespace saccade
