// One image file in a folder of two classes, under each file name it may have.

#include <array>
#include <opencv2/core.hpp>

#include "env/digits.h"
#include "env/image_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support.h"

namespace saccade::fuzz {
namespace {

constexpr std::array kNames = {"b.png", "b.jpg", "b.JPEG"};
constexpr int kSide = 4;

struct GoodFolder : TemporaryFolder {
  GoodFolder() {
    cv::setNumThreads(1);
    for (const char* label : {"train/0", "train/1", "test/0", "test/1"}) {
      std::filesystem::create_directories(path / label);
      put_file(path / label / "a.png",
               encode_png(std::vector<std::uint8_t>(kSide * kSide, 9), kSide, kSide, 1));
    }
  }
};

}  // namespace
}  // namespace saccade::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade;
  static const fuzz::GoodFolder folder;
  fuzz::Input input(data, size);
  const int side = input.choose(2) == 0 ? 0 : fuzz::kSide;
  const std::filesystem::path file =
      folder.path / "train/1" / fuzz::kNames[input.choose(fuzz::kNames.size())];
  fuzz::put_file(file, input.rest());
  fuzz::takes([&] { read_folder(folder.path, side); });
  std::filesystem::remove(file);
  return 0;
}
