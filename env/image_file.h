#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace saccade {

/// The pixels of an image file.
struct DecodedImage {
  int rows = 0;
  int cols = 0;
  int channels = 0;                 // 1: grey, 3: red, green, blue
  std::vector<std::uint8_t> bytes;  // (rows, cols, channels)
};

/// Decodes the bytes of a PNG or JPEG file, which the first bytes tell apart, to the pixels of
/// OpenCV's imdecode with IMREAD_ANYCOLOR, but red first:
/// - PNG: the alpha channel and transparent colours are ignored; palettes, and grey with alpha,
///   become RGB; 1, 2 and 4 bit of grey are spread over 0 .. 255; 16 bit are divided by 257 and
///   rounded. Colour profiles and gamma are ignored.
/// - JPEG: CMYK and YCCK become RGB (inks as Adobe stores them, inverted).
/// - The EXIF orientation of either is applied.
/// Throws InputError, which begins with `name`, for other formats, for more than 2^26 pixels
/// (before anything is allocated for them), for more than 100 scans of a JPEG file, and for bytes
/// that are damaged or end early. What decoders only warn of (bytes between segments, a wrong
/// checksum of a comment) is accepted silently.
DecodedImage decode_image(std::span<const std::uint8_t> bytes, const std::string& name);

/// Reads and decodes a file of at most 2^29 bytes. Throws InputError as decode_image, and if the
/// file cannot be read.
DecodedImage read_image(const std::filesystem::path& path);

/// Returns the bytes of a PNG file. `pixels`: (rows, cols, channels), channels 1 (grey) or 3 (RGB).
std::string encode_png(std::span<const std::uint8_t> pixels, int rows, int cols, int channels);

}  // namespace saccade
