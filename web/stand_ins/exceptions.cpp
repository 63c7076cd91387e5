// Exceptions of a module that cannot catch them: throwing calls the page, which throws an Error
// with the message. Nothing is unwound, so what was being made is lost.
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

#include "base/stop.h"

extern "C" {

[[noreturn]] __attribute__((import_module("saccade"), import_name("throw_error"))) void
saccade_throw_error(const char* message, std::size_t size);

void* __cxa_allocate_exception(std::size_t size) noexcept { return std::malloc(size); }
void __cxa_free_exception(void* exception) noexcept { std::free(exception); }

/// Whatever this program throws is a std::exception, but for Stopped.
[[noreturn]] void __cxa_throw(void* exception, std::type_info* type, void (*)(void*)) {
  const char* message = *type == typeid(saccade::Stopped)
                            ? "stopped"
                            : static_cast<const std::exception*>(exception)->what();
  saccade_throw_error(message, std::strlen(message));
}
}
