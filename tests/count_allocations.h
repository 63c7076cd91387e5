#pragma once

#include <atomic>
#include <cstdlib>
#include <new>

// Replaces the program's operator new by one that counts, in every thread, while enabled. It does
// not see what C code takes from malloc: oneDNN keeps its packing buffers by posix_memalign.
// Include in one file of a program only.

namespace {

std::atomic<bool> counting = false;
std::atomic<long> allocations = 0;

void* allocate(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) noexcept {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  // aligned_alloc requires a multiple of the alignment.
  return std::aligned_alloc(alignment, (size + alignment) / alignment * alignment);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) {
  if (void* memory = allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}

// Not inlined: otherwise GCC warns about a delete that frees the memory of another new.
[[gnu::noinline]] void release(void* memory) noexcept { std::free(memory); }

}  // namespace

// All forms, since those in a sanitizer's library do not call one another.
using std::align_val_t, std::nothrow_t, std::size_t;
void* operator new(size_t n) { return allocate_or_throw(n); }
void* operator new[](size_t n) { return allocate_or_throw(n); }
void* operator new(size_t n, align_val_t a) { return allocate_or_throw(n, size_t(a)); }
void* operator new[](size_t n, align_val_t a) { return allocate_or_throw(n, size_t(a)); }
void* operator new(size_t n, const nothrow_t&) noexcept { return allocate(n); }
void* operator new[](size_t n, const nothrow_t&) noexcept { return allocate(n); }
void* operator new(size_t n, align_val_t a, const nothrow_t&) noexcept {
  return allocate(n, size_t(a));
}
void* operator new[](size_t n, align_val_t a, const nothrow_t&) noexcept {
  return allocate(n, size_t(a));
}
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, size_t) noexcept { release(p); }
void operator delete[](void* p, size_t) noexcept { release(p); }
void operator delete(void* p, align_val_t) noexcept { release(p); }
void operator delete[](void* p, align_val_t) noexcept { release(p); }
void operator delete(void* p, size_t, align_val_t) noexcept { release(p); }
void operator delete[](void* p, size_t, align_val_t) noexcept { release(p); }
void operator delete(void* p, const nothrow_t&) noexcept { release(p); }
void operator delete[](void* p, const nothrow_t&) noexcept { release(p); }
void operator delete(void* p, align_val_t, const nothrow_t&) noexcept { release(p); }
void operator delete[](void* p, align_val_t, const nothrow_t&) noexcept { release(p); }

namespace saccade {

/// Returns the number of allocations while `action` runs.
template <class Action>
long count_allocations(Action&& action) {
  allocations = 0;
  counting = true;
  action();
  counting = false;
  return allocations;
}

}  // namespace saccade
