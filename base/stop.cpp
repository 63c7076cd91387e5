#include "base/stop.h"

namespace saccade {
namespace {

thread_local const std::atomic<bool>* asked = nullptr;

}  // namespace

StopScope::StopScope(const std::atomic<bool>* stop) : outer_(asked) { asked = stop; }

StopScope::~StopScope() { asked = outer_; }

const std::atomic<bool>* StopScope::current() { return asked; }

void stop_if_asked() {
  if (asked != nullptr && *asked) throw Stopped{};
}

}  // namespace saccade
