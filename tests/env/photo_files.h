#pragma once

#include <zlib.h>

#include <bit>
#include <cstring>

#include "tests/env/digit_files.h"

// Colour photographs in the published formats of SVHN and CIFAR-10.
namespace saccade {

/// A pixel of an image in either dataset.
inline std::uint8_t photo_pixel(int n, int row, int col, int channel) {
  return static_cast<std::uint8_t>(37 * n + 5 * row + 3 * col + 80 * channel);
}

// ---- MAT files, version 5 ----

inline void put(Bytes& bytes, const void* data, std::size_t size) {
  const auto* begin = static_cast<const std::uint8_t*>(data);
  bytes.insert(bytes.end(), begin, begin + size);
}

/// An element: type, size, and bytes padded to a multiple of 8.
inline Bytes mat_element(std::uint32_t type, const Bytes& data) {
  static_assert(std::endian::native == std::endian::little);
  const auto size = static_cast<std::uint32_t>(data.size());
  Bytes bytes;
  put(bytes, &type, 4);
  put(bytes, &size, 4);
  put(bytes, data.data(), data.size());
  bytes.resize((bytes.size() + 7) / 8 * 8);
  return bytes;
}

enum MatClass : std::uint32_t { kMatDouble = 6, kMatInt8 = 8, kMatUint8 = 9 };

/// A variable: an array in column-major order.
inline Bytes mat_variable(const std::string& name, MatClass kind,
                          const std::vector<std::int32_t>& shape, const Bytes& data) {
  const std::uint32_t storage = kind == kMatDouble ? 9 : kind == kMatInt8 ? 1 : 2;
  const std::uint32_t flags[2] = {kind, 0};
  Bytes head, dimensions, body;
  put(head, flags, sizeof flags);
  put(dimensions, shape.data(), shape.size() * sizeof(std::int32_t));
  for (const Bytes& part :
       {mat_element(6, head), mat_element(5, dimensions),
        mat_element(1, Bytes(name.begin(), name.end())), mat_element(storage, data)})
    put(body, part.data(), part.size());
  return mat_element(14, body);
}

inline Bytes mat_compressed(const Bytes& element) {
  uLongf size = compressBound(element.size());
  Bytes packed(size);
  compress(packed.data(), &size, element.data(), element.size());
  packed.resize(size);
  const std::uint32_t tag[2] = {15, static_cast<std::uint32_t>(size)};  // not padded
  Bytes bytes;
  put(bytes, tag, sizeof tag);
  put(bytes, packed.data(), packed.size());
  return bytes;
}

inline Bytes mat_file(const std::vector<Bytes>& elements) {
  const std::string text = "MATLAB 5.0 MAT-file";
  Bytes bytes(text.begin(), text.end());
  bytes.resize(124, ' ');
  for (const int byte : {0x00, 0x01, int{'I'}, int{'M'}})
    bytes.push_back(static_cast<std::uint8_t>(byte));
  for (const Bytes& element : elements) put(bytes, element.data(), element.size());
  return bytes;
}

// ---- SVHN ----

/// X of `count` images of photo_pixel(first, ..), photo_pixel(first + 1, ..), ...
inline Bytes svhn_pixels(int count, int first = 0) {
  Bytes data;
  for (int n = first; n < first + count; ++n)
    for (int channel = 0; channel < 3; ++channel)
      for (int col = 0; col < 32; ++col)
        for (int row = 0; row < 32; ++row) data.push_back(photo_pixel(n, row, col, channel));
  return data;
}

/// y: 1, 2, ... 10, 1, ...
inline Bytes svhn_labels(int count) {
  Bytes labels;
  for (int n = 0; n < count; ++n) labels.push_back(static_cast<std::uint8_t>(1 + n % 10));
  return labels;
}

inline Bytes svhn_file(int count, int first = 0) {
  return mat_file(
      {mat_compressed(mat_variable("X", kMatUint8, {32, 32, 3, count}, svhn_pixels(count, first))),
       mat_compressed(mat_variable("y", kMatUint8, {count, 1}, svhn_labels(count)))});
}

/// `count` training images, and 10 test images whose pixels start at n = 1000.
inline void write_svhn(const fs::path& folder, int count) {
  write(folder / kSvhnFiles[0], svhn_file(count));
  write(folder / kSvhnFiles[1], svhn_file(10, 1000));
}

// ---- CIFAR-10 ----

/// A batch of images n = first ..., with labels n % 10.
inline Bytes cifar10_batch(int count, int first) {
  Bytes bytes;
  for (int n = first; n < first + count; ++n) {
    bytes.push_back(static_cast<std::uint8_t>(n % 10));
    for (int channel = 0; channel < 3; ++channel)
      for (int row = 0; row < 32; ++row)
        for (int col = 0; col < 32; ++col) bytes.push_back(photo_pixel(n, row, col, channel));
  }
  return bytes;
}

/// `count` images in each of the six files.
inline void write_cifar10(const fs::path& folder, int count) {
  for (int i = 0; i < static_cast<int>(kCifar10Files.size()); ++i)
    write(folder / kCifar10Files[i], cifar10_batch(count, i * count));
}

}  // namespace saccade
