#pragma once

#include <string>

namespace saccade {

/// A JSON schema (draft 2020-12) of experiment files, for editors and validators.
std::string settings_schema();

}  // namespace saccade
