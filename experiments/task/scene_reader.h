#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "env/environment.h"
#include "env/scene.h"
#include "env/scene_source.h"
#include "experiments/config/config.h"
#include "experiments/task/scene_blocks.h"

namespace saccade {

/// What a reader asks for.
struct SceneReaderConfig {
  std::string name;                      // of the scenes, for messages: "training"
  CanvasSize canvas = {};                // of every scene
  int classes = 0;                       // C: labels are below it
  DigitOrder order = DigitOrder::fixed;  // in which passes over a number of scenes show them
  std::uint64_t seed = 0;                // of that order
  int block = 256;                       // scenes that are read at once
  int blocks_ahead = 2;                  // that are read before they are needed
  int blocks_kept = 4;                   // in memory; more than blocks_ahead
  std::int64_t scenes = 0;               // scene n is scene n mod this; 0: they do not repeat
};

/// Scenes from a SceneBlocks, read ahead by a thread of its own while others show them. Scene n is
/// its number n or, if there is an end to them, the n-th of endless passes over all, each pass in
/// an order of its own if that is `shuffled`.
///
/// A block is read when one of its scenes is asked for, and the blocks after it follow. Blocks of
/// which a scene is being asked for are kept, and those that come next; others make room, so that
/// any order of scenes works, and that of the numbers is quick. After a failure every call throws.
class SceneReader final : public SceneSource {
 public:
  /// Keeps a reference to `blocks`. Reads nothing before the first visit().
  SceneReader(SceneBlocks& blocks, const SceneReaderConfig& config);
  /// Waits for the block that is being read.
  ~SceneReader() override;
  SceneReader(const SceneReader&) = delete;
  SceneReader& operator=(const SceneReader&) = delete;

  /// Throws OwnPartError, naming the scenes, if their source throws, writes another number of
  /// canvases or labels than it was asked for, a label that is not below C or a box that is not on
  /// the canvas. If the caller is asked to stop (base/stop.h), throws Stopped instead of waiting.
  void visit(std::uint64_t first, int count, const Visitor& visit) override;

  /// The seconds that all callers of visit() have waited, added up.
  double seconds_waited() const;

 private:
  enum class State { empty, being_read, ready };
  struct Slot {
    State state = State::empty;
    std::uint64_t number = 0;  // of the block
    int users = 0;
    SceneBlock block;
  };

  Slot& take(std::uint64_t number);
  void give_back(Slot& slot);
  void show(const Slot& slot, int first, int count, int i, const Visitor& visit) const;
  Slot* find(std::uint64_t number);
  Slot* room(std::uint64_t number);
  Slot* next_to_read();
  void read_all();
  void read(Slot& slot);
  void check(const SceneBlock& block, std::span<const std::int64_t> numbers) const;

  SceneBlocks& blocks_;
  const SceneReaderConfig config_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;
  std::multiset<std::uint64_t> waited_for_;  // blocks
  std::uint64_t latest_ = 0;                 // block that was asked for last
  std::exception_ptr failure_;
  double seconds_waited_ = 0.0;
  bool ending_ = false;
  std::thread thread_;
};

/// The readers of a training's scenes: blocks of a batch's scenes for the training, shuffled by the
/// seed of the configuration, and of an evaluation's for the other splits.
class SceneReaders {
 public:
  SceneReaders(const OwnScenes& scenes, const Config& config);

  SceneSources sources() { return {&train_, &valid_, &test_}; }
  double seconds_waited() const { return train_.seconds_waited(); }  // in the training alone

 private:
  SceneReader train_, valid_, test_;
};

}  // namespace saccade
