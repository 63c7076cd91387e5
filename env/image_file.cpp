#include "env/image_file.h"

#include <fmt/format.h>
#include <png.h>
// jpeglib.h needs std::size_t and std::FILE.
#include <cstddef>
#include <cstdio>
//
#include <jpeglib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csetjmp>
#include <cstring>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/system_reason.h"
#include "env/open_file.h"

// The libraries report errors by longjmp: a function that calls setjmp must not have locals with
// destructors. What they need is in members, and buffers belong to the caller.
namespace saccade {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr double kMostPixels = 1 << 26;  // half a gigabyte at 8 bytes per pixel

void check_pixels(double pixels, const std::string& name) {
  if (pixels > kMostPixels)
    throw InputError(
        fmt::format("{}: {:.0f} pixels; allowed: at most {:.0f}", name, pixels, kMostPixels));
}

bool begins_with(Bytes bytes, Bytes mark) {
  return bytes.size() >= mark.size() && std::ranges::equal(bytes.first(mark.size()), mark);
}

// ---- EXIF ----

std::size_t number(Bytes bytes, std::size_t place, int size, bool little) {
  std::size_t value = 0;
  for (int i = 0; i < size; ++i) value = value << 8 | bytes[place + (little ? size - 1 - i : i)];
  return value;
}

/// Returns the orientation, 1 .. 8, in EXIF's first directory; 1 if there is none.
int orientation_in(Bytes exif) {
  constexpr std::size_t kHead = 8, kEntry = 12, kOrientation = 0x0112;
  if (exif.size() < kHead + 2 || exif[0] != exif[1]) return 1;
  const bool little = exif[0] == 'I';
  if ((!little && exif[0] != 'M') || number(exif, 2, 2, little) != 42) return 1;
  const std::size_t directory = number(exif, 4, 4, little);
  if (directory + 2 > exif.size()) return 1;
  const std::size_t count = number(exif, directory, 2, little);
  std::size_t entry = directory + 2;
  for (std::size_t i = 0; i < count && entry + kEntry <= exif.size(); ++i, entry += kEntry)
    if (number(exif, entry, 2, little) == kOrientation) {
      const auto value = static_cast<int>(number(exif, entry + 8, 2, little));
      return value >= 1 && value <= 8 ? value : 1;
    }
  return 1;
}

/// Turns and mirrors the stored pixels to what is to be seen.
DecodedImage oriented(DecodedImage stored, int orientation) {
  if (orientation == 1) return stored;
  const bool swaps = orientation >= 5;  // rows are columns
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 ||
                          orientation == 8;  // the seen row or column 0 is stored as the last
  const bool from_below =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  DecodedImage seen{.rows = swaps ? stored.cols : stored.rows,
                    .cols = swaps ? stored.rows : stored.cols,
                    .channels = stored.channels,
                    .bytes = std::vector<std::uint8_t>(stored.bytes.size())};
  std::uint8_t* to = seen.bytes.data();
  for (int row = 0; row < seen.rows; ++row)
    for (int col = 0; col < seen.cols; ++col) {
      int y = swaps ? col : row, x = swaps ? row : col;
      if (from_below) y = stored.rows - 1 - y;
      if (from_right) x = stored.cols - 1 - x;
      const std::size_t place = static_cast<std::size_t>(y) * stored.cols + x;
      to = std::copy_n(&stored.bytes[place * stored.channels], stored.channels, to);
    }
  return seen;
}

// ---- PNG ----

constexpr std::array<std::uint8_t, 8> kPngMark = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

[[noreturn]] void leave_png(png_structp png, png_const_charp) { png_longjmp(png, 1); }
void ignore_warning(png_structp, png_const_charp) {}

class PngReader {
 public:
  explicit PngReader(Bytes bytes)
      : rest_(bytes),
        png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, nullptr, leave_png, ignore_warning)),
        info_(png_ ? png_create_info_struct(png_) : nullptr),
        end_(png_ ? png_create_info_struct(png_) : nullptr) {
    if (!info_ || !end_) {
      png_destroy_read_struct(&png_, &info_, &end_);
      throw std::bad_alloc();
    }
  }
  PngReader(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png_, &info_, &end_); }

  /// Returns whether the header is valid, and sets the sizes.
  bool read_header(DecodedImage& image) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, read);
    png_set_chunk_cache_max(png_, 1);  // skips texts, whose sizes no limit adds up
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_pixels has the limit
    png_read_info(png_, info_);
    image.rows = static_cast<int>(png_get_image_height(png_, info_));
    image.cols = static_cast<int>(png_get_image_width(png_, info_));
    image.channels = png_get_color_type(png_, info_) == PNG_COLOR_TYPE_GRAY ? 1 : 3;
    return true;
  }

  /// Returns whether the pixels are valid. `rows`: where each row belongs.
  bool read_pixels(const DecodedImage& image, png_bytepp rows) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    const int kind = png_get_color_type(png_, info_);
    png_set_scale_16(png_);
    png_set_strip_alpha(png_);
    if (kind == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (kind == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(png_, info_) < 8)
      png_set_expand_gray_1_2_4_to_8(png_);
    if (kind == PNG_COLOR_TYPE_GRAY_ALPHA) png_set_gray_to_rgb(png_);
    png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    if (png_get_rowbytes(png_, info_) != static_cast<std::size_t>(image.cols) * image.channels)
      return false;
    png_read_image(png_, rows);
    png_read_end(png_, end_);
    return true;
  }

  /// EXIF's bytes, which may stand before or after the pixels; none if there are none.
  Bytes exif() {
    png_uint_32 size = 0;
    png_bytep data = nullptr;
    if (png_get_eXIf_1(png_, info_, &size, &data) == 0) png_get_eXIf_1(png_, end_, &size, &data);
    return {data, data ? size : 0};
  }

 private:
  static void read(png_structp png, png_bytep to, std::size_t size) {
    Bytes& rest = static_cast<PngReader*>(png_get_io_ptr(png))->rest_;
    if (size > rest.size()) png_error(png, "ends early");
    std::memcpy(to, rest.data(), size);
    rest = rest.subspan(size);
  }

  Bytes rest_;
  png_structp png_;
  png_infop info_, end_;
};

/// Returns whether the bytes are valid.
bool decode_png(Bytes bytes, const std::string& name, DecodedImage& image) {
  PngReader reader(bytes);
  const bool valid = reader.read_header(image);
  check_pixels(1.0 * image.rows * image.cols, name);
  if (!valid) return false;
  const std::size_t row_size = static_cast<std::size_t>(image.cols) * image.channels;
  image.bytes.resize(row_size * image.rows);
  std::vector<png_bytep> rows(image.rows);
  for (int row = 0; row < image.rows; ++row) rows[row] = &image.bytes[row_size * row];
  if (!reader.read_pixels(image, rows.data())) return false;
  image = oriented(std::move(image), orientation_in(reader.exif()));
  return true;
}

// ---- JPEG ----

constexpr std::array<std::uint8_t, 3> kJpegMark = {0xff, 0xd8, 0xff};
constexpr int kInks = 4;  // channels of CMYK

/// From cyan, magenta, yellow, black, inverted, to red, green, blue, as OpenCV does.
void ink_to_light(const std::uint8_t* inks, std::uint8_t* pixels, int count) {
  for (; count > 0; --count, inks += kInks)
    for (int i = 0; i < 3; ++i)
      *pixels++ = static_cast<std::uint8_t>(inks[3] - ((255 - inks[i]) * inks[3] >> 8));
}

class JpegReader {
 public:
  explicit JpegReader(Bytes bytes) {
    codec_.err = jpeg_std_error(&errors_);
    codec_.client_data = this;
    errors_.error_exit = leave;
    errors_.output_message = [](j_common_ptr) {};
    source_.next_input_byte = bytes.data();
    source_.bytes_in_buffer = bytes.size();
    source_.init_source = source_.term_source = [](j_decompress_ptr) {};
    source_.fill_input_buffer = [](j_decompress_ptr) -> boolean { return FALSE; };
    source_.skip_input_data = skip;
    source_.resync_to_restart = jpeg_resync_to_restart;
    progress_.progress_monitor = limit_scans;
  }
  JpegReader(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&codec_); }

  /// Returns whether the header is valid.
  bool read_header() {
    if (setjmp(escape_) != 0) return false;
    jpeg_create_decompress(&codec_);
    codec_.src = &source_;
    codec_.progress = &progress_;
    jpeg_save_markers(&codec_, kExifMark, 0xffff);
    return jpeg_read_header(&codec_, TRUE) == JPEG_HEADER_OK;
  }

  /// Valid after a header was found, even if it is too large for the decoder.
  double pixels() const { return 1.0 * codec_.image_height * codec_.image_width; }
  int rows() const { return static_cast<int>(codec_.image_height); }
  int cols() const { return static_cast<int>(codec_.image_width); }
  bool is_grey() const { return codec_.num_components == 1; }
  bool is_ink() const { return codec_.num_components == kInks; }

  /// Returns whether the pixels are valid. `row`: space for the inks of a row, if it has some.
  bool read_pixels(std::uint8_t* to, std::uint8_t* row) {
    if (setjmp(escape_) != 0) return false;
    codec_.out_color_space = is_grey() ? JCS_GRAYSCALE : is_ink() ? JCS_CMYK : JCS_RGB;
    if (!jpeg_start_decompress(&codec_)) return false;
    const std::size_t row_size = std::size_t{codec_.image_width} * (is_grey() ? 1 : 3);
    while (codec_.output_scanline < codec_.output_height) {
      std::uint8_t* place = to + row_size * codec_.output_scanline;
      JSAMPROW target = is_ink() ? row : place;
      if (jpeg_read_scanlines(&codec_, &target, 1) != 1) return false;
      if (is_ink()) ink_to_light(row, place, cols());
    }
    return true;
  }

  /// EXIF's bytes, without "Exif"; none if there are none.
  Bytes exif() const {
    constexpr std::array<std::uint8_t, 6> kName = {'E', 'x', 'i', 'f', 0, 0};
    for (jpeg_saved_marker_ptr saved = codec_.marker_list; saved; saved = saved->next) {
      const Bytes segment(saved->data, saved->data_length);  // or XMP, which has the same mark
      if (saved->marker == kExifMark && begins_with(segment, kName))
        return segment.subspan(kName.size());
    }
    return {};
  }

 private:
  static constexpr int kExifMark = JPEG_APP0 + 1;

  [[noreturn]] static void leave(j_common_ptr codec) {
    std::longjmp(static_cast<JpegReader*>(codec->client_data)->escape_, 1);
  }
  static void skip(j_decompress_ptr codec, long size) {
    const std::size_t skipped =
        std::min(static_cast<std::size_t>(std::max(size, 0L)), codec->src->bytes_in_buffer);
    codec->src->next_input_byte += skipped;
    codec->src->bytes_in_buffer -= skipped;
  }
  // A scan of a few bytes takes as long as a whole one; cameras and tools write about ten.
  static void limit_scans(j_common_ptr codec) {
    constexpr int kMostScans = 100;
    if (reinterpret_cast<j_decompress_ptr>(codec)->input_scan_number > kMostScans) leave(codec);
  }

  jpeg_decompress_struct codec_ = {};
  jpeg_error_mgr errors_ = {};
  jpeg_source_mgr source_ = {};
  jpeg_progress_mgr progress_ = {};
  std::jmp_buf escape_ = {};
};

/// Returns whether the bytes are valid.
bool decode_jpeg(Bytes bytes, const std::string& name, DecodedImage& image) {
  JpegReader reader(bytes);
  const bool valid = reader.read_header();
  check_pixels(reader.pixels(), name);
  if (!valid) return false;
  image.rows = reader.rows();
  image.cols = reader.cols();
  image.channels = reader.is_grey() ? 1 : 3;
  image.bytes.resize(static_cast<std::size_t>(image.rows) * image.cols * image.channels);
  std::vector<std::uint8_t> inks(reader.is_ink() ? kInks * static_cast<std::size_t>(image.cols)
                                                 : std::size_t{0});
  if (!reader.read_pixels(image.bytes.data(), inks.data())) return false;
  image = oriented(std::move(image), orientation_in(reader.exif()));
  return true;
}

std::vector<std::uint8_t> read_bytes(const std::filesystem::path& path) {
  constexpr std::uintmax_t kMostBytes = 1 << 29;  // the same as the limit on decoded pixels
  InputFile file = open_file(path);
  const std::uintmax_t size = file.size();
  if (size > kMostBytes)
    throw InputError(
        fmt::format("{}: {} bytes; allowed: at most {}", path.string(), size, kMostBytes));
  std::vector<std::uint8_t> bytes(size);
  errno = 0;
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw_refused(path.string() + ": cannot be read");
  return bytes;
}

// ---- Writing PNG ----

void append(png_structp png, png_bytep data, std::size_t size) {
  try {
    static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<char*>(data), size);
  } catch (const std::bad_alloc&) {  // no exception may cross the C library
    size = 0;
  }
  if (size == 0) png_error(png, "no memory");
}

/// Returns whether there was memory enough. Filter, level and strategy are the fast ones of OpenCV.
bool write_png(png_structp png, png_infop info, std::string& bytes, Bytes pixels, int rows,
               int cols, int channels) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_write_fn(png, &bytes, append, [](png_structp) {});
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
  png_set_compression_level(png, 1);
  png_set_compression_strategy(png, 3);  // zlib's Z_RLE
  png_set_IHDR(png, info, static_cast<png_uint_32>(cols), static_cast<png_uint_32>(rows), 8,
               channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  for (int row = 0; row < rows; ++row)
    png_write_row(png, &pixels[static_cast<std::size_t>(row) * cols * channels]);
  png_write_end(png, info);
  return true;
}

}  // namespace

DecodedImage decode_image(Bytes bytes, const std::string& name) {
  const auto fail = [&](const char* fault) {
    throw InputError(fmt::format("{}: {}", name, fault));
  };
  DecodedImage image;
  bool valid = false;
  if (begins_with(bytes, kJpegMark)) {
    valid = decode_jpeg(bytes, name, image);
  } else if (begins_with(bytes, kPngMark)) {
    valid = decode_png(bytes, name, image);
  } else {
    fail("is neither PNG nor JPEG, whatever its name; allowed: these");
  }
  if (!valid) fail("cannot be decoded; allowed: PNG and JPEG");
  return image;
}

DecodedImage read_image(const std::filesystem::path& path) {
  return decode_image(read_bytes(path), path.string());
}

std::string encode_png(Bytes pixels, int rows, int cols, int channels) {
  std::string bytes;
  png_structp png =
      png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, leave_png, ignore_warning);
  png_infop info = png ? png_create_info_struct(png) : nullptr;
  const bool written = info && write_png(png, info, bytes, pixels, rows, cols, channels);
  png_destroy_write_struct(&png, &info);
  if (!written) throw std::bad_alloc();
  return bytes;
}

}  // namespace saccade
