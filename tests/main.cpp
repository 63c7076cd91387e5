#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include "tests/support.h"

std::filesystem::path saccade::source_folder() { return SACCADE_SOURCE_DIR; }
