// One file of an IDX dataset, the others being valid: plain, a .gz file, or bytes that are
// compressed here, since random bytes are never valid .gz.

#include <zlib.h>

#include "env/digits.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support.h"

namespace saccade::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKinds = 3;  // plain, .gz, compressed here

/// Two training and two test images of 2 x 2 pixels.
struct GoodFolder : TemporaryFolder {
  GoodFolder() {
    Dataset set;
    set.images = {{{{1}, {2}}, {{3}, {4}}}, {{{5}, {6}}, {{7}, {8}}}};
    set.labels = {0, 1};
    write_idx(path, set, set);
  }
};

void pack(const fs::path& path, std::string_view bytes) {
  const gzFile file = gzopen(path.c_str(), "wb1");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
}

}  // namespace
}  // namespace saccade::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade;
  static const fuzz::GoodFolder folder;
  fuzz::Input input(data, size);
  const std::size_t choice = input.choose(kIdxFiles.size() * fuzz::kKinds);
  const std::size_t kind = choice / kIdxFiles.size();
  const fuzz::fs::path plain = folder.path / kIdxFiles[choice % kIdxFiles.size()],
                       kept = folder.path / "kept", packed = plain.string() + ".gz";
  fuzz::fs::rename(plain, kept);
  if (kind == 0)
    fuzz::put_file(plain, input.rest());
  else if (kind == 1)
    fuzz::put_file(packed, input.rest());
  else
    fuzz::pack(packed, input.rest());
  fuzz::takes([&] { read_idx(folder.path, {}); });
  fuzz::fs::remove(packed);
  fuzz::fs::rename(kept, plain);
  return 0;
}
