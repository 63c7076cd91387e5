#pragma once

// Random123 refuses processors that it was not tested on. The generator used here is plain 32-bit
// integer arithmetic; of the processors on the list, this is one without code of its own.
#define __riscv 1
#include_next <Random123/philox.h>
#undef __riscv
