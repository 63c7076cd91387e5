#include "experiments/task/scene_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "base/check.h"
#include "base/clock.h"
#include "base/stop.h"

namespace saccade {
namespace {

// "scenes 256 to 511", or "3 scenes from 17 to 4" where the numbers are in another order.
std::string named_scenes(std::span<const std::int64_t> numbers) {
  const std::int64_t first = numbers.front(), last = numbers.back();
  const auto count = static_cast<std::int64_t>(numbers.size());
  return last - first + 1 == count ? fmt::format("scenes {} to {}", first, last)
                                   : fmt::format("{} scenes from {} to {}", count, first, last);
}

SceneFacts facts_of(const SceneBlock& block, std::size_t i, const CanvasSize& canvas,
                    std::int64_t number) {
  SceneFacts facts;
  facts.label = block.labels[i];
  facts.num_digits = 0;
  for (int k = 0; k < block.boxes_per_scene; ++k) {
    const Box& box = block.boxes[i * block.boxes_per_scene + k];
    if (box.width == 0) continue;
    const int d = facts.num_digits++;
    facts.boxes[d] = box;
    facts.regions[d] = to_region(box, canvas.cols, canvas.rows);
    facts.classes[d] = facts.label;
    facts.is_answer[d] = true;
  }
  facts.sources[0] = static_cast<int>(number);
  facts.num_sources = 1;
  return facts;
}

bool is_on(const Box& box, const CanvasSize& canvas) {
  return box.x >= 0 && box.y >= 0 && box.width >= 1 && box.height >= 1 &&
         box.x <= canvas.cols - box.width && box.y <= canvas.rows - box.height;
}

}  // namespace

SceneReader::SceneReader(SceneBlocks& blocks, const SceneReaderConfig& config)
    : blocks_(blocks), config_(config), slots_(config.blocks_kept) {
  SACCADE_CHECK(config.block >= 1 && config.blocks_kept > config.blocks_ahead);
}

SceneReader::~SceneReader() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

double SceneReader::seconds_waited() const {
  const std::lock_guard lock(mutex_);
  return seconds_waited_;
}

void SceneReader::visit(std::uint64_t first, int count, const Visitor& visit) {
  for (int i = 0; i < count;) {
    std::uint64_t scene = first + i;
    if (config_.scenes > 0) scene %= config_.scenes;
    const int from = static_cast<int>(scene % config_.block);
    int here = std::min(count - i, config_.block - from);
    if (config_.scenes > 0)
      here = static_cast<int>(std::min<std::uint64_t>(here, config_.scenes - scene));
    Slot& slot = take(scene / config_.block);
    const struct Use {
      SceneReader& reader;
      Slot& slot;
      ~Use() { reader.give_back(slot); }
    } use{*this, slot};
    show(slot, from, here, i, visit);
    i += here;
  }
}

// Of scenes first .. first + count - 1 of the block, which are i .. of the visit.
void SceneReader::show(const Slot& slot, int first, int count, int i, const Visitor& visit) const {
  const SceneBlock& block = slot.block;
  const std::size_t pixels = config_.canvas.pixels();
  // What evaluations count as an image: the scene by its number, as far as they repeat.
  const std::int64_t size = blocks_.size();
  for (int k = 0; k < count; ++k) {
    const std::size_t place = first + k;
    std::int64_t number = static_cast<std::int64_t>(slot.number) * config_.block + first + k;
    if (size > 0) number %= size;
    visit(i + k, std::span(block.canvases).subspan(place * pixels, pixels),
          facts_of(block, place, config_.canvas, number));
  }
}

// Waits for a block, and keeps it from making room.
SceneReader::Slot& SceneReader::take(std::uint64_t number) {
  constexpr std::chrono::milliseconds kPatience{20};  // between checks whether to stop
  std::unique_lock lock(mutex_);
  latest_ = number;
  if (!thread_.joinable()) thread_ = std::thread([this] { read_all(); });
  const auto ready = [&] {
    const Slot* slot = find(number);
    return slot != nullptr && slot->state == State::ready;
  };
  changed_.notify_all();
  if (!failure_ && !ready()) {
    const Clock::time_point begin = Clock::now();
    const struct Wait {
      SceneReader& reader;
      std::multiset<std::uint64_t>::iterator place;
      Clock::time_point begin;
      ~Wait() {  // under the lock
        reader.waited_for_.erase(place);
        reader.seconds_waited_ += seconds_since(begin);
      }
    } wait{*this, waited_for_.insert(number), begin};
    while (!failure_ && !ready()) {
      changed_.wait_for(lock, kPatience);
      stop_if_asked();
    }
  }
  if (failure_) std::rethrow_exception(failure_);
  Slot& slot = *find(number);
  ++slot.users;
  return slot;
}

void SceneReader::give_back(Slot& slot) {
  const std::lock_guard lock(mutex_);
  --slot.users;
  changed_.notify_all();
}

SceneReader::Slot* SceneReader::find(std::uint64_t number) {
  const auto found = std::ranges::find_if(slots_, [&](const Slot& slot) {
    return slot.state != State::empty && slot.number == number;
  });
  return found == slots_.end() ? nullptr : &*found;
}

// Returns the slot that may hold block `number` now, or null: an empty one, else the one that is
// the farthest behind what was asked for last, then the farthest ahead. Blocks that are used, or
// waited for, or that come next stay.
SceneReader::Slot* SceneReader::room(std::uint64_t number) {
  Slot* best = nullptr;
  const auto rank = [&](const Slot& slot) {  // the larger the sooner
    return slot.number < latest_ ? std::uint64_t{1} << 63 | (latest_ - slot.number)
                                 : slot.number - latest_;
  };
  for (Slot& slot : slots_) {
    if (slot.state == State::empty) return &slot;
    const bool comes_next = slot.number >= latest_ &&
                            slot.number - latest_ <= static_cast<unsigned>(config_.blocks_ahead);
    const bool wanted = waited_for_.contains(slot.number);
    if (slot.state == State::being_read || slot.users > 0 || wanted) continue;
    if (comes_next && !waited_for_.contains(number)) continue;
    if (best == nullptr || rank(slot) > rank(*best)) best = &slot;
  }
  return best;
}

// Returns the slot of the block to be read now, or null: first what is waited for, then what comes
// next.
SceneReader::Slot* SceneReader::next_to_read() {
  std::optional<std::uint64_t> next;
  for (const std::uint64_t number : waited_for_)
    if (!next && find(number) == nullptr) next = number;
  for (int ahead = 0; ahead <= config_.blocks_ahead && !next; ++ahead) {
    const std::uint64_t number = latest_ + ahead;
    const bool beyond =
        config_.scenes > 0 && number * config_.block >= static_cast<std::uint64_t>(config_.scenes);
    if (!beyond && find(number) == nullptr) next = number;
  }
  if (!next) return nullptr;
  Slot* slot = room(*next);
  if (slot != nullptr) {
    slot->state = State::being_read;
    slot->number = *next;
  }
  return slot;
}

// The reader's thread.
void SceneReader::read_all() {
  std::unique_lock lock(mutex_);
  while (!ending_ && !failure_) {
    Slot* slot = next_to_read();
    if (slot == nullptr) {
      changed_.wait(lock);
      continue;
    }
    lock.unlock();
    std::exception_ptr failure;
    try {
      read(*slot);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    slot->state = failure ? State::empty : State::ready;
    failure_ = failure;
    changed_.notify_all();
  }
}

void SceneReader::read(Slot& slot) {
  const std::uint64_t first = slot.number * config_.block;
  std::uint64_t count = config_.block;
  if (config_.scenes > 0) count = std::min(count, config_.scenes - first);
  const std::int64_t size = blocks_.size();
  std::vector<std::int64_t> numbers(count);
  for (std::uint64_t i = 0; i < count; ++i)
    numbers[i] = size == 0
                     ? static_cast<std::int64_t>(first + i)
                     : digit_at(first + i, static_cast<int>(size), config_.order, config_.seed);
  const auto fail = [&](const char* reason) {
    throw OwnPartError(fmt::format("{} {}: {}", config_.name, named_scenes(numbers), reason));
  };
  try {
    blocks_.read(numbers, slot.block);
    check(slot.block, numbers);
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail("their source threw what is no std::exception");
  }
}

void SceneReader::check(const SceneBlock& block, std::span<const std::int64_t> numbers) const {
  const std::size_t count = numbers.size();
  if (block.canvases.size() != count * config_.canvas.pixels())
    throw OwnPartError(fmt::format("{} bytes of canvases; allowed: {}, for {} of {} x {} x {}",
                                   block.canvases.size(), count * config_.canvas.pixels(), count,
                                   config_.canvas.channels, config_.canvas.rows,
                                   config_.canvas.cols));
  if (block.labels.size() != count)
    throw OwnPartError(fmt::format("{} labels; allowed: {}", block.labels.size(), count));
  const int boxes = block.boxes_per_scene;
  if (boxes < 0 || boxes > kMaxDigits || block.boxes.size() != count * boxes)
    throw OwnPartError(
        fmt::format("{} boxes, {} for each; allowed: as many for each of {}, up "
                    "to {}",
                    block.boxes.size(), boxes, count, kMaxDigits));
  for (std::size_t i = 0; i < count; ++i) {
    if (block.labels[i] < 0 || block.labels[i] >= config_.classes)
      throw OwnPartError(fmt::format("label {} of scene {}; allowed: 0 to {}", block.labels[i],
                                     numbers[i], config_.classes - 1));
    for (int k = 0; k < boxes; ++k)
      if (const Box& box = block.boxes[i * boxes + k]; box != Box{} && !is_on(box, config_.canvas))
        throw OwnPartError(fmt::format(
            "box [x {}, y {}, width {}, height {}] of scene {}; allowed: on the canvas, {} x {} "
            "pixels wide and high, or 0, 0, 0, 0 for none",
            box.x, box.y, box.width, box.height, numbers[i], config_.canvas.cols,
            config_.canvas.rows));
  }
}

namespace {

SceneReaderConfig reader_config(const Config& config, const char* name) {
  return {.name = name,
          .canvas = {config.scene.channels, config.scene.canvas[0], config.scene.canvas[1]},
          .classes = static_cast<int>(config.scene.classes.size())};
}

SceneReaderConfig of_training(const Config& config) {
  SceneReaderConfig reader = reader_config(config, "training");
  reader.order = DigitOrder::shuffled;
  reader.seed = config.seed;
  reader.block = std::max(1, config.agent.training.batch_size / config.agent.reinforce.rollouts);
  return reader;
}

// An evaluation's players take scenes from several places, and may take the same ones again.
SceneReaderConfig of_evaluation(const Config& config, const char* name, std::int64_t scenes) {
  SceneReaderConfig reader = reader_config(config, name);
  reader.block = kScenesAtATime;
  reader.blocks_kept = 8;
  reader.scenes = scenes;
  return reader;
}

}  // namespace

SceneReaders::SceneReaders(const OwnScenes& scenes, const Config& config)
    : train_(scenes.train, of_training(config)),
      valid_(scenes.valid, of_evaluation(config, "validation", config.evaluation.scenes)),
      test_(scenes.test,
            of_evaluation(config, "test",
                          std::int64_t{config.evaluation.scenes} * config.evaluation.draws)) {}

}  // namespace saccade
