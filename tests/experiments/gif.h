#pragma once

#include <doctest/doctest.h>
#include <gif_lib.h>

#include <filesystem>
#include <vector>

#include "experiments/pictures/picture.h"
#include "tests/support.h"

namespace saccade {

/// A GIF file as displayed: every frame complete.
struct ReadGif {
  std::vector<Picture> frames;
  std::vector<Box> boxes;   // area stored by each frame
  std::vector<int> delays;  // hundredths of a second
};

inline ReadGif read_gif(const fs::path& path) {
  int error = 0;
  GifFileType* file = DGifOpenFileName(path.c_str(), &error);
  REQUIRE(file != nullptr);
  REQUIRE(DGifSlurp(file) == GIF_OK);
  ReadGif gif;
  Picture shown(file->SHeight, file->SWidth, {});
  for (int i = 0; i < file->ImageCount; ++i) {
    const SavedImage& image = file->SavedImages[i];
    const GifImageDesc& at = image.ImageDesc;
    GraphicsControlBlock control;
    REQUIRE(DGifSavedExtensionToGCB(file, i, &control) == GIF_OK);
    for (int y = 0; y < at.Height; ++y)
      for (int x = 0; x < at.Width; ++x) {
        const int index = image.RasterBits[y * at.Width + x];
        if (index == control.TransparentColor) continue;
        const GifColorType c = at.ColorMap->Colors[index];
        shown.fill({at.Left + x, at.Top + y, 1, 1}, {c.Red, c.Green, c.Blue});
      }
    gif.frames.push_back(shown);
    gif.boxes.push_back({at.Left, at.Top, at.Width, at.Height});
    gif.delays.push_back(control.DelayTime);
  }
  DGifCloseFile(file, nullptr);
  return gif;
}

}  // namespace saccade
