#pragma once

#include <string>

#include "experiments/watch/watched.h"

namespace saccade {

/// Returns the page of a moment: curves, the last recording, the status of every run. Its style and
/// drawings are those of the report; its script (watch_script) asks for it again and replaces what
/// has changed. Parts that may change alone have the attribute data-part.
std::string watch_page(const Watched& watched);

/// Returns a path with %xx in place of what an address cannot hold.
std::string encoded_path(const std::string& path);

}  // namespace saccade
