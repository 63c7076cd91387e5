#include "experiments/download/checksum.h"
#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <memory>
#include <vector>

#include "base/input_file.h"
#include "base/system_reason.h"

namespace saccade {

std::string sha256_of(const std::filesystem::path& path) {
  constexpr std::size_t kBlock = 1U << 20;
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  InputFile file(path);
  errno = 0;
  bool good = EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1;
  std::vector<char> block(kBlock);
  while (good && file) {
    file.read(block.data(), kBlock);
    good =
        EVP_DigestUpdate(context.get(), block.data(), static_cast<std::size_t>(file.gcount())) == 1;
  }
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (!good || file.bad() || EVP_DigestFinal_ex(context.get(), digest.data(), &size) != 1)
    throw_refused(path.string() + ": cannot be read");
  std::string text;
  for (unsigned i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

}  // namespace saccade
