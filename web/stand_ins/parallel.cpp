// One thread behind nn/parallel.h, in place of oneTBB.
#include "nn/parallel.h"

namespace saccade {

SharedThreads::SharedThreads(int) : threads_(1) {}
void SharedThreads::join(std::atomic<int>&) {}
void SharedThreads::leave(std::atomic<int>&) {}
void SharedThreads::divide() {}

struct Workers::Arena {};

Workers::Workers(int) : part_(1) {}
Workers::Workers(SharedThreads& shared) : shared_(&shared), part_(1) {}
Workers::~Workers() = default;

void Workers::run(int count, const void* context, Call call) {
  for (int i = 0; i < count; ++i) call(handoff_, context, i);
}

}  // namespace saccade
