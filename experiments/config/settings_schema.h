#pragma once

#include <string>

namespace saccade {

/// A JSON schema (draft 2020-12) of what an experiment's file may say, for editors and validators.
std::string settings_schema();

}  // namespace saccade
