#include "base/stop.h"

namespace saccade {
namespace {

thread_local const std::atomic<bool>* answer_spec = nullptr;

}  // namespace

StopScope::StopScope(const std::atomic<bool>* stop) : outer_(answer_spec) { answer_spec = stop; }

StopScope::~StopScope() { answer_spec = outer_; }

const std::atomic<bool>* StopScope::current() { return answer_spec; }

void stop_if_asked() {
  if (answer_spec != nullptr && *answer_spec) throw Stopped{};
}

}  // namespace saccade
