#include "env/image_file.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <png.h>
#include <zlib.h>
//
#include <jpeglib.h>

#include <cstdlib>
#include <functional>
#include <numeric>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "tests/check_contains.h"
#include "tests/env/digit_files.h"
#include "tests/support.h"

namespace saccade {
namespace {

constexpr int kHeight = 13, kWidth = 21;  // nowhere a multiple of a JPEG block

/// What OpenCV decodes, as we do: 8 bit, red first.
DecodedImage by_opencv(const Bytes& bytes) {
  cv::Mat pixels = cv::imdecode(bytes, cv::IMREAD_ANYCOLOR | cv::IMREAD_ANYDEPTH);
  REQUIRE(!pixels.empty());
  if (pixels.depth() == CV_16U) pixels.convertTo(pixels, CV_8U, 1.0 / 257);
  if (pixels.channels() == 3) cv::cvtColor(pixels, pixels, cv::COLOR_BGR2RGB);
  return {.rows = pixels.rows,
          .cols = pixels.cols,
          .channels = pixels.channels(),
          .bytes = {pixels.datastart, pixels.dataend}};
}

DecodedImage decoded(const Bytes& bytes) { return decode_image(bytes, "file"); }

void check_as_opencv(const Bytes& bytes) {
  const DecodedImage ours = decoded(bytes), theirs = by_opencv(bytes);
  CHECK(ours.rows == theirs.rows);
  CHECK(ours.cols == theirs.cols);
  CHECK(ours.channels == theirs.channels);
  CHECK(ours.bytes == theirs.bytes);
}

std::string fault(const Bytes& bytes) {
  return message_of<InputError>([&] { decoded(bytes); });
}

/// Smooth with an edge, so that the chroma of JPEG matters.
std::uint8_t value(int row, int col, int channel) {
  return static_cast<std::uint8_t>(9 * row + 5 * col * (channel + 1) + (col > 10 ? 90 : 0));
}

/// EXIF's bytes with an orientation, after another entry.
Bytes exif(int orientation, bool little) {
  Bytes bytes = little ? Bytes{'I', 'I'} : Bytes{'M', 'M'};
  const auto put = [&](std::uint32_t number, int size) {
    for (int i = 0; i < size; ++i)
      bytes.push_back(static_cast<std::uint8_t>(number >> 8 * (little ? i : size - 1 - i)));
  };
  put(42, 2), put(8, 4), put(2, 2);
  put(0x0128, 2), put(3, 2), put(1, 4), put(2, 2), put(0, 2);  // the unit of the resolution
  put(0x0112, 2), put(3, 2), put(1, 4), put(static_cast<std::uint32_t>(orientation), 2), put(0, 2);
  put(0, 4);
  return bytes;
}

// ---- Files ----

struct PngKind {
  int colour = PNG_COLOR_TYPE_RGB;
  int depth = 8;
  bool interlaced = false;
  bool transparent = false;
  double gamma = 0.0;
  int orientation = 0;
};

/// A file with random samples.
Bytes png_bytes(const PngKind& kind, int rows = kHeight, int cols = kWidth) {
  Bytes bytes;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &bytes,
      [](png_structp writer, png_bytep data, std::size_t size) {
        auto& to = *static_cast<Bytes*>(png_get_io_ptr(writer));
        to.insert(to.end(), data, data + size);
      },
      [](png_structp) {});
  png_set_IHDR(png, info, static_cast<png_uint_32>(cols), static_cast<png_uint_32>(rows),
               kind.depth, kind.colour, kind.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (kind.colour == PNG_COLOR_TYPE_PALETTE) {
    std::vector<png_color> palette;
    for (int i = 0; i < 1 << kind.depth; ++i)
      palette.push_back({value(i, 3, 0), value(i, 3, 1), value(7, i, 2)});
    png_set_PLTE(png, info, palette.data(), static_cast<int>(palette.size()));
  }
  if (kind.transparent) {
    const png_byte alphas[2] = {0, 100};
    const png_color_16 clear = {1, 2, 3, 4, 1};
    png_set_tRNS(png, info, alphas, 2, &clear);
  }
  if (kind.gamma > 0.0) png_set_gAMA(png, info, kind.gamma);
  Bytes orientation = exif(kind.orientation, false);
  if (kind.orientation > 0)
    png_set_eXIf_1(png, info, static_cast<png_uint_32>(orientation.size()), orientation.data());
  png_write_info(png, info);
  Bytes samples(png_get_rowbytes(png, info) * static_cast<std::size_t>(rows));
  unsigned state = 7;
  for (std::uint8_t& sample : samples)
    sample = static_cast<std::uint8_t>((state = state * 1103515245U + 12345U) >> 16);
  std::vector<png_bytep> places(rows);
  for (int row = 0; row < rows; ++row)
    places[row] = &samples[png_get_rowbytes(png, info) * static_cast<std::size_t>(row)];
  png_write_image(png, places.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return bytes;
}

struct JpegKind {
  J_COLOR_SPACE from = JCS_RGB, stored = JCS_YCbCr;
  std::function<void(jpeg_compress_struct&)> set = {};
  Bytes exif = {};
  bool xmp = false;  // before EXIF, in a segment with the same mark
};

Bytes jpeg_bytes(const JpegKind& kind, int rows = kHeight, int cols = kWidth) {
  jpeg_compress_struct codec;
  jpeg_error_mgr errors;
  codec.err = jpeg_std_error(&errors);
  jpeg_create_compress(&codec);
  unsigned char* buffer = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&codec, &buffer, &size);
  codec.image_width = static_cast<JDIMENSION>(cols);
  codec.image_height = static_cast<JDIMENSION>(rows);
  codec.in_color_space = kind.from;
  codec.input_components = kind.from == JCS_GRAYSCALE ? 1 : kind.from == JCS_CMYK ? 4 : 3;
  jpeg_set_defaults(&codec);
  jpeg_set_colorspace(&codec, kind.stored);
  if (kind.set) kind.set(codec);
  jpeg_start_compress(&codec, TRUE);
  if (kind.xmp) {
    const std::string text = std::string("http://ns.adobe.com/xap/1.0/") + '\0' + "<x:xmpmeta/>";
    jpeg_write_marker(&codec, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(text.data()),
                      static_cast<unsigned>(text.size()));
  }
  if (!kind.exif.empty()) {
    Bytes marker = {'E', 'x', 'i', 'f', 0, 0};
    marker.insert(marker.end(), kind.exif.begin(), kind.exif.end());
    jpeg_write_marker(&codec, JPEG_APP0 + 1, marker.data(), static_cast<unsigned>(marker.size()));
  }
  Bytes line(static_cast<std::size_t>(cols) * codec.input_components);
  for (int row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < line.size(); ++i)
      line[i] = value(row, static_cast<int>(i) / codec.input_components,
                      static_cast<int>(i) % codec.input_components);
    JSAMPROW place = line.data();
    jpeg_write_scanlines(&codec, &place, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  Bytes bytes(buffer, buffer + size);
  std::free(buffer);
  return bytes;
}

}  // namespace

TEST_CASE("PNG files are decoded to the pixels of OpenCV") {
  for (const int colour : {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_PALETTE,
                           PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB_ALPHA})
    for (const int depth : {1, 2, 4, 8, 16}) {
      const bool exists = colour == PNG_COLOR_TYPE_GRAY ||
                          (colour == PNG_COLOR_TYPE_PALETTE ? depth <= 8 : depth >= 8);
      if (!exists) continue;
      for (const bool interlaced : {false, true})
        for (const bool transparent : {false, true}) {
          if (transparent && (colour & PNG_COLOR_MASK_ALPHA) != 0) continue;
          INFO(colour << " " << depth << " " << interlaced << " " << transparent);
          check_as_opencv(png_bytes({colour, depth, interlaced, transparent}));
        }
    }
  check_as_opencv(png_bytes({.gamma = 0.2}));
  check_as_opencv(png_bytes({.colour = PNG_COLOR_TYPE_GRAY, .depth = 16, .gamma = 0.9}));
  check_as_opencv(png_bytes({}, 1, 1));
}

TEST_CASE("16 bit of grey are rounded as OpenCV does, each of them") {
  cv::Mat all(256, 256, CV_16UC1);
  std::iota(all.begin<std::uint16_t>(), all.end<std::uint16_t>(), std::uint16_t{0});
  Bytes bytes;
  REQUIRE(cv::imencode(".png", all, bytes));
  check_as_opencv(bytes);
}

TEST_CASE("JPEG files are decoded to the pixels of OpenCV") {
  check_as_opencv(jpeg_bytes({.from = JCS_GRAYSCALE, .stored = JCS_GRAYSCALE}));
  check_as_opencv(jpeg_bytes({.stored = JCS_RGB}));
  check_as_opencv(jpeg_bytes({.from = JCS_CMYK, .stored = JCS_CMYK}));
  check_as_opencv(jpeg_bytes({.from = JCS_CMYK, .stored = JCS_YCCK}));
  for (const int across : {1, 2, 4})
    for (const int down : {1, 2})
      for (const bool progressive : {false, true}) {
        INFO(across << " " << down << " " << progressive);
        check_as_opencv(jpeg_bytes({.set = [&](jpeg_compress_struct& codec) {
          codec.comp_info[0].h_samp_factor = across;
          codec.comp_info[0].v_samp_factor = down;
          if (progressive) jpeg_simple_progression(&codec);
        }}));
      }
  check_as_opencv(jpeg_bytes({.set = [](jpeg_compress_struct& codec) {
    codec.restart_interval = 1;
    jpeg_set_quality(&codec, 30, TRUE);
  }}));
  check_as_opencv(jpeg_bytes({.set = [](auto& codec) { codec.arith_code = TRUE; }}));
  check_as_opencv(jpeg_bytes({}, 1, 1));
}

TEST_CASE("the orientation of EXIF is applied as OpenCV does") {
  for (int orientation = 0; orientation <= 9; ++orientation)
    for (const bool little : {false, true}) {
      INFO(orientation << " " << little);
      const Bytes jpeg = jpeg_bytes({.exif = exif(orientation, little)});
      check_as_opencv(jpeg);
      const bool turned = orientation >= 5 && orientation <= 8;
      CHECK(decoded(jpeg).rows == (turned ? kWidth : kHeight));
      check_as_opencv(
          jpeg_bytes({.from = JCS_CMYK, .stored = JCS_YCCK, .exif = exif(orientation, little)}));
    }
  for (int orientation = 1; orientation <= 8; ++orientation) {
    CAPTURE(orientation);
    check_as_opencv(png_bytes({.orientation = orientation}));
  }
  // Damaged: not applied, and not read beyond its end.
  const Bytes whole = exif(6, true);
  for (std::size_t size = 0; size < whole.size() - 8; ++size) {
    CAPTURE(size);
    check_as_opencv(jpeg_bytes({.exif = Bytes(whole.begin(), whole.begin() + size)}));
  }
}

TEST_CASE("the orientation of EXIF is found behind XMP") {
  const DecodedImage plain = decoded(jpeg_bytes({.exif = exif(6, true)}));
  const DecodedImage behind = decoded(jpeg_bytes({.exif = exif(6, true), .xmp = true}));
  CHECK(plain.rows == kWidth);  // turned
  CHECK(behind.rows == plain.rows);
  CHECK(behind.bytes == plain.bytes);
  CHECK(decoded(jpeg_bytes({.xmp = true})).rows == kHeight);
}

TEST_CASE("a PNG file's sides are those of its header, whatever stands before it") {
  const auto put = [](Bytes& bytes, std::size_t place, std::size_t number) {
    for (int i = 0; i < 4; ++i)
      bytes[place + i] = static_cast<std::uint8_t>(number >> (24 - 8 * i));
  };
  const auto declaring = [&](std::size_t rows, std::size_t cols, bool chunk_first) {
    Bytes bytes = png_bytes({});
    put(bytes, 16, cols);
    put(bytes, 20, rows);
    put(bytes, 29, crc32(0, &bytes[12], 17));
    // Where the header's sides usually are, this says 1 x 1.
    Bytes chunk = {0, 0, 0, 8, 'a', 'b', 'C', 'd', 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0};
    put(chunk, 16, crc32(0, &chunk[4], 12));
    if (chunk_first) bytes.insert(bytes.begin() + 8, chunk.begin(), chunk.end());
    return bytes;
  };
  for (const bool chunk_first : {false, true}) {
    CAPTURE(chunk_first);
    CHECK(decoded(declaring(kHeight, kWidth, chunk_first)).bytes == decoded(png_bytes({})).bytes);
    CHECK(fault(declaring(8192, 8193, chunk_first)) ==
          "file: 67117056 pixels; allowed: at most 67108864");
    CHECK(fault(declaring(100, 2'000'000, chunk_first)) ==
          "file: 200000000 pixels; allowed: at most 67108864");
  }
}

TEST_CASE("an image that is cut off is refused, wherever that is") {
  for (const Bytes& whole :
       {png_bytes({}), png_bytes({.interlaced = true}), jpeg_bytes({}),
        jpeg_bytes({.set = [](jpeg_compress_struct& codec) { jpeg_simple_progression(&codec); }})})
    for (std::size_t size = 8; size < whole.size() - 12; ++size) {
      CAPTURE(size);
      REQUIRE(fault({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}) ==
              "file: cannot be decoded; allowed: PNG and JPEG");
    }
}

TEST_CASE("a damaged image is decoded or refused, silently") {
  unsigned state = 3;
  for (const Bytes& whole : {png_bytes({}), jpeg_bytes({.exif = exif(6, true)})})
    for (std::size_t place = 8; place < whole.size(); ++place) {
      Bytes damaged = whole;
      damaged[place] ^= static_cast<std::uint8_t>((state = state * 1103515245U + 12345U) >> 16);
      const std::string said = fault(damaged);
      CAPTURE(said);
      CHECK((said == "nothing thrown" || contains(said, "allowed: ")));
    }
}

TEST_CASE("a JPEG file with more scans than anyone writes is refused") {
  const auto with_scans = [](int most) {
    std::vector<jpeg_scan_info> scans = {{3, {0, 1, 2, 0}, 0, 0, 0, 0}};  // one for each frequency
    for (int part = 0; part < 3; ++part)
      for (int k = 1; k < 64 && static_cast<int>(scans.size()) < most; ++k)
        scans.push_back({1, {part, 0, 0, 0}, k, k, 0, 0});
    return jpeg_bytes({.set = [&](jpeg_compress_struct& codec) {
      codec.scan_info = scans.data();
      codec.num_scans = static_cast<int>(scans.size());
    }});
  };
  check_as_opencv(with_scans(100));
  check_contains(fault(with_scans(101)), {"cannot be decoded"});
}

TEST_CASE("a written PNG file has the pixels, and OpenCV's bytes") {
  const int rows = 40, cols = 30;
  for (const int channels : {1, 3}) {
    Bytes pixels(static_cast<std::size_t>(rows) * cols * channels);
    for (std::size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = static_cast<std::uint8_t>(i * i / 71);
    const std::string written = encode_png(pixels, rows, cols, channels);
    const DecodedImage image = decoded(Bytes(written.begin(), written.end()));
    CHECK(image.rows == rows);
    CHECK(image.cols == cols);
    CHECK(image.channels == channels);
    CHECK(image.bytes == pixels);

    cv::Mat matrix(rows, cols, CV_8UC(channels), pixels.data());
    if (channels == 3) cv::cvtColor(matrix, matrix, cv::COLOR_RGB2BGR);
    Bytes theirs;
    REQUIRE(cv::imencode(".png", matrix, theirs));
    CHECK(Bytes(written.begin(), written.end()) == theirs);
  }
}

}  // namespace saccade
