#include "tests/experiments/program.h"

std::string saccade::saccade_binary() { return SACCADE_BINARY; }
