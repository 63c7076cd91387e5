#include <fmt/format.h>
#include <gif_lib.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/output.h"
#include "experiments/pictures/palette.h"
#include "experiments/pictures/video.h"

namespace saccade {
namespace {

constexpr int kMaxSide = 65535;
constexpr int kColours = 256;
constexpr int kTransparent = kColours - 1;  // index of unchanged pixels

// In hundredths of a second. Browsers replace delays below two by ten.
int delay(double fps) { return std::clamp(static_cast<int>(std::lround(100.0 / fps)), 2, 65535); }

class Gif final : public VideoFile {
 public:
  Gif(const std::filesystem::path& path, const VideoShape& shape, const std::filesystem::path& name)
      : path_(path), name_(name), delay_(delay(shape.fps)), shown_(shape.rows, shape.cols, {}) {
    if (std::max(shape.rows, shape.cols) > kMaxSide)
      throw InputError(fmt::format("{}: a GIF has at most {} pixels a side, not {} x {}",
                                   name.string(), kMaxSide, shape.cols, shape.rows));
    errno = 0;
    file_ = EGifOpenFileName(path.c_str(), false, nullptr);
    if (file_ == nullptr) cannot_be_written(path);
    EGifSetGifVersion(file_, true);
    check(EGifPutScreenDesc(file_, shape.cols, shape.rows, 8, 0, nullptr));
    put_endless_loop();
  }
  ~Gif() override {
    if (file_ != nullptr) EGifCloseFile(file_, nullptr);
  }

  void add(const Picture& frame) override {
    const Box box = changed(frame);
    std::vector<Colour> colours;  // of the changed pixels, row-major
    for (int y = box.y; y < box.y + box.height; ++y)
      for (int x = box.x; x < box.x + box.width; ++x)
        if (changes(frame, {x, y})) colours.push_back(frame.at({x, y}));
    const Palette palette = choose_palette(colours, kColours - 1);

    put_control();
    put_image_header(box, palette);
    auto next = palette.indices.begin();
    std::vector<GifPixelType> line(box.width);
    for (int y = box.y; y < box.y + box.height; ++y) {
      for (int x = box.x; x < box.x + box.width; ++x)
        line[x - box.x] = changes(frame, {x, y}) ? *next++ : GifPixelType{kTransparent};
      check(EGifPutLine(file_, line.data(), box.width));
    }
    shown_ = frame;
    first_ = false;
    ++frames_;
  }

  void close() override {
    GifFileType* file = std::exchange(file_, nullptr);
    if (EGifCloseFile(file, nullptr) != GIF_OK || !is_whole()) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw std::runtime_error(
        fmt::format("{}: cannot be written: {}", name_.string(), write_fault(path_)));
  }
  void check(int result) const {
    if (result != GIF_OK) fail();
  }

  // Reads the frames back line by line, in the order they were written.
  bool is_whole() const {
    const std::unique_ptr<GifFileType, void (*)(GifFileType*)> gif(
        DGifOpenFileName(path_.c_str(), nullptr), [](GifFileType* open) {
          if (open != nullptr) DGifCloseFile(open, nullptr);
        });
    if (!gif || gif->SWidth != shown_.cols() || gif->SHeight != shown_.rows()) return false;
    int frames = 0;
    GifRecordType record = UNDEFINED_RECORD_TYPE;
    while (DGifGetRecordType(gif.get(), &record) == GIF_OK && record != TERMINATE_RECORD_TYPE) {
      if (record == IMAGE_DESC_RECORD_TYPE) ++frames;
      if (!skip(gif.get(), record)) return false;
    }
    return record == TERMINATE_RECORD_TYPE && frames == frames_;
  }
  static bool skip(GifFileType* gif, GifRecordType record) {
    if (record == IMAGE_DESC_RECORD_TYPE) {
      if (DGifGetImageDesc(gif) != GIF_OK) return false;
      std::vector<GifPixelType> line(static_cast<std::size_t>(gif->Image.Width));
      for (int y = 0; y < gif->Image.Height; ++y)
        if (DGifGetLine(gif, line.data(), gif->Image.Width) != GIF_OK) return false;
      return true;
    }
    int code = 0;
    GifByteType* block = nullptr;
    if (DGifGetExtension(gif, &code, &block) != GIF_OK) return false;
    while (block != nullptr)
      if (DGifGetExtensionNext(gif, &block) != GIF_OK) return false;
    return true;
  }

  bool changes(const Picture& frame, Point p) const {
    return first_ || frame.at(p) != shown_.at(p);
  }

  // Returns the smallest box that contains all changes; a single pixel if there are none.
  Box changed(const Picture& frame) const {
    int left = frame.cols(), right = 0, top = frame.rows(), bottom = 0;
    for (int y = 0; y < frame.rows(); ++y)
      for (int x = 0; x < frame.cols(); ++x)
        if (changes(frame, {x, y})) {
          left = std::min(left, x), right = std::max(right, x + 1);
          top = std::min(top, y), bottom = std::max(bottom, y + 1);
        }
    if (right == 0) return {0, 0, 1, 1};
    return {left, top, right - left, bottom - top};
  }

  // The Netscape 2.0 extension that every browser supports; 0 means endless.
  void put_endless_loop() {
    const GifByteType repeat[3] = {1, 0, 0};
    check(EGifPutExtensionLeader(file_, APPLICATION_EXT_FUNC_CODE));
    check(EGifPutExtensionBlock(file_, 11, "NETSCAPE2.0"));
    check(EGifPutExtensionBlock(file_, sizeof repeat, repeat));
    check(EGifPutExtensionTrailer(file_));
  }

  void put_control() {
    const GraphicsControlBlock control{DISPOSE_DO_NOT, false, delay_, kTransparent};
    GifByteType bytes[4];
    const std::size_t size = EGifGCBToExtension(&control, bytes);
    check(EGifPutExtension(file_, GRAPHICS_EXT_FUNC_CODE, static_cast<int>(size), bytes));
  }

  void put_image_header(const Box& box, const Palette& palette) {
    std::vector<GifColorType> colours(kColours);
    std::ranges::transform(palette.colours, colours.begin(), [](Colour c) {
      return GifColorType{c.red, c.green, c.blue};
    });
    const std::unique_ptr<ColorMapObject, decltype(&GifFreeMapObject)> map(
        GifMakeMapObject(kColours, colours.data()), GifFreeMapObject);
    check(EGifPutImageDesc(file_, box.x, box.y, box.width, box.height, false, map.get()));
  }

  std::filesystem::path path_, name_;  // where it is, and what messages call it
  int delay_;
  Picture shown_;  // the last frame
  bool first_ = true;
  int frames_ = 0;
  GifFileType* file_ = nullptr;
};

}  // namespace

std::unique_ptr<VideoFile> open_gif(const std::filesystem::path& path, const VideoShape& shape,
                                    const std::filesystem::path& name) {
  return std::make_unique<Gif>(path, shape, name);
}

}  // namespace saccade
