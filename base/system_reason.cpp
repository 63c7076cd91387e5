#include "base/system_reason.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <system_error>

#include "base/error.h"

namespace saccade {
namespace {

constexpr std::array kFaultsOfPlaces = {EACCES, EEXIST,       EINVAL,  EISDIR,     ELOOP, ENOENT,
                                        EPERM,  ENAMETOOLONG, ENOTDIR, EOPNOTSUPP, EROFS};

}  // namespace

std::string system_reason(int error) {
  return error == 0 ? "the system gave no reason" : std::generic_category().message(error);
}

void throw_refused(const std::string& what, int error) {
  const std::string message = what + ": " + system_reason(error);
  if (std::ranges::find(kFaultsOfPlaces, error) != kFaultsOfPlaces.end()) throw InputError(message);
  throw std::runtime_error(message);
}

void throw_refused(const std::filesystem::filesystem_error& error) {
  throw_refused(error.path1().string(), error.code().value());
}

}  // namespace saccade
