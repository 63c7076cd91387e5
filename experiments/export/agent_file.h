#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "env/digits.h"
#include "nn/safetensors.h"

namespace saccade {

/// Returns the bytes of an agent for the web module (`unpacked` in web/page/saccade.js is the other
/// side): what is said of it, its weights (the bytes of a checkpoint of this precision), and the
/// digits of which its scenes are made, images then labels.
///
/// "SACCADE1", the length of a JSON object in 4 bytes, {"about", "head", "numbers", "width",
/// "digits"}: what is said of it, and the lengths of what follows: `head` bytes of the checkpoint
/// as they are, up to its numbers; the `numbers` of it, `width` bytes each, first the uppermost
/// byte of each, then the next, to the lowest, which compresses better by a tenth; `digits` bytes.
/// Lengths and numbers are little-endian. Bytes of `about` that are no UTF-8, as a command line may
/// have them, are replaced.
std::string agent_file(const nlohmann::json& about, const std::string& checkpoint,
                       Precision precision, const std::string& digits);

/// Digits from all over the set, for agent_file: `count` images, then a byte for each label. Throws
/// InputError if the labels do not fit into bytes.
std::string some_digits(const Dataset& set, int count);

}  // namespace saccade
