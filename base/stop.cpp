#include "base/stop.h"

namespace saccade {
namespace {

thread_local const std::atomic<bool>* requested = nullptr;

}  // namespace

StopScope::StopScope(const std::atomic<bool>* stop) : outer_(requested) { requested = stop; }

StopScope::~StopScope() { requested = outer_; }

const std::atomic<bool>* StopScope::current() { return requested; }

void stop_if_asked() {
  if (requested != nullptr && *requested) throw Stopped{};
}

}  // namespace saccade
