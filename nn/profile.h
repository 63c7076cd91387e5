#pragma once

#include <atomic>
#include <span>
#include <vector>

namespace saccade {

/// What a thread does with its time in a training. The products of a pass are told from the rest
/// of it: activations, softmaxes, sums.
enum class Stage {
  scene,  // making scenes, moving a ball
  look,   // retina
  forward_products,
  forward_elementwise,
  backward_products,
  backward_elementwise,
  gradient_sum,
  optimizer,
  waiting,  // for other threads; whatever is in no scope
};

/// In words, in the order of the enumeration.
std::span<const char* const> stage_names();

namespace profile {
extern std::atomic<bool> enabled;
/// Of this thread: what comes is of that stage. Returns the one before.
Stage enter(Stage stage);
/// Enters the products of the pass that this thread is in; elsewhere what it is in goes on.
Stage enter_product(double flop);
}  // namespace profile

/// While it lives, the time of this thread counts as `stage`; then as what it was before. Costs one
/// look at a flag where nobody profiles.
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

/// Measures all threads of the process from its construction on. One at a time, and begun and read
/// while no parallel loop runs.
class Profiler {
 public:
  struct Row {
    Stage stage;
    double seconds;  // of all threads
    double gflop;    // of its products; 0 where there are none
  };

  /// Throws std::logic_error while there is another.
  Profiler();
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// A row for each stage, together `threads` times the time that has passed: what no thread
  /// accounts for is waiting.
  std::vector<Row> rows(int threads) const;
};

}  // namespace saccade
