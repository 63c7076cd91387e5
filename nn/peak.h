#pragma once

namespace saccade {

/// Multiply-adds on registers alone, as many at once as the processor can begin: what no product
/// can exceed on one thread. Runs for a moment (some milliseconds) and returns the floating-point
/// operations that it did, two for each multiply-add of two numbers, in GFLOP.
double multiply_add_on_registers();

}  // namespace saccade
