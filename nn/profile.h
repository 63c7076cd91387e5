#pragma once

#include <atomic>
#include <span>
#include <vector>

namespace saccade {

/// What a thread spends its time on in training. Matrix products of a pass are separate from its
/// element-wise work: activations, softmaxes, sums.
enum class Stage {
  scene,  // making scenes, moving the ball
  look,   // retina
  forward_products,
  forward_elementwise,
  backward_products,
  backward_elementwise,
  gradient_sum,
  optimizer,
  waiting,  // for other threads; also anything outside a scope
};

/// Readable names, in enumeration order.
std::span<const char* const> stage_names();

namespace profile {
extern std::atomic<bool> enabled;
/// Switches this thread to `stage` and returns the previous stage.
Stage enter(Stage stage);
/// Switches this thread to the products of its current pass; outside a pass, keeps the stage.
Stage enter_product(double flop);
}  // namespace profile

/// While alive, counts this thread's time as `stage`; then restores the previous stage. Costs one
/// flag check if no profiler runs.
class StageScope {
 public:
  explicit StageScope(Stage stage) : on_(profile::enabled.load(std::memory_order_relaxed)) {
    if (on_) before_ = profile::enter(stage);
  }
  ~StageScope() {
    if (on_) profile::enter(before_);
  }
  StageScope(const StageScope&) = delete;
  StageScope& operator=(const StageScope&) = delete;

 private:
  bool on_;
  Stage before_ = Stage::waiting;
};

/// The same for a matrix product of `flop` floating-point operations.
class ProductScope {
 public:
  explicit ProductScope(double flop) : on_(profile::enabled.load(std::memory_order_relaxed)) {
    if (on_) before_ = profile::enter_product(flop);
  }
  ~ProductScope() {
    if (on_) profile::enter(before_);
  }
  ProductScope(const ProductScope&) = delete;
  ProductScope& operator=(const ProductScope&) = delete;

 private:
  bool on_;
  Stage before_ = Stage::waiting;
};

/// Measures all threads of the process from construction on. Only one may exist at a time. Create
/// and read it only while no parallel loop runs.
class Profiler {
 public:
  struct Row {
    Stage stage;
    double seconds;  // summed over all threads
    double gflop;    // of the stage's products; 0 if it has none
  };

  /// Throws std::logic_error if another one exists.
  Profiler();
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// Returns one row per stage. Their seconds sum to `threads` times the elapsed time: what no
  /// thread accounts for is counted as waiting.
  std::vector<Row> rows(int threads) const;
};

}  // namespace saccade
