#include "experiments/pictures/video.h"

#include <doctest/doctest.h>

#include <opencv2/videoio.hpp>

#include "experiments/pictures/heat_map.h"
#include "experiments/pictures/palette.h"
#include "tests/experiments/gif.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

constexpr Colour kWhite = {255, 255, 255};
constexpr Colour kRed = {209, 46, 46};

bool same(const Picture& a, const Picture& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() && std::ranges::equal(a.bytes(), b.bytes());
}

// A square that moves over white.
Picture walking_square(int step) {
  Picture picture(40, 50, kWhite);
  picture.fill({4 + 6 * step, 10, 8, 8}, kRed);
  return picture;
}

// More colours than a GIF frame can have, and a flat part.
Picture rainbow(int shift) {
  Picture picture(60, 90, kRed);
  for (int y = 0; y < 60; ++y)
    for (int x = 0; x < 60; ++x)
      picture.fill({x, y, 1, 1},
                   {static_cast<std::uint8_t>(4 * x), static_cast<std::uint8_t>(4 * y),
                    static_cast<std::uint8_t>(shift)});
  return picture;
}

// Relative paths begin in this folder.
struct InFolder {
  explicit InFolder(const fs::path& folder) { fs::current_path(folder); }
  ~InFolder() { fs::current_path(before); }
  fs::path before = fs::current_path();
};

void write(const fs::path& path, const std::vector<Picture>& frames, double fps = 4) {
  const auto video =
      open_video(path, {.rows = frames[0].rows(), .cols = frames[0].cols(), .fps = fps});
  for (const Picture& frame : frames) video->add(frame);
  video->close();
}

}  // namespace

TEST_CASE("a GIF shows exactly the frames that were added, and loops") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "a.gif";
  // The third frame repeats the second.
  const std::vector<Picture> frames = {walking_square(0), walking_square(1), walking_square(1),
                                       walking_square(5)};
  write(path, frames);
  const ReadGif gif = read_gif(path);
  REQUIRE(gif.frames.size() == frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) CHECK(same(gif.frames[i], frames[i]));
  CHECK(gif.frames[3].at({34, 10}) == kRed);
  CHECK(gif.delays == std::vector<int>(4, 25));
  CHECK(contains(bytes_of(path), std::string("NETSCAPE2.0\x03\x01\0\0", 15)));  // endless
}

TEST_CASE("a GIF frame stores only what changed") {
  const TemporaryFolder folder;
  write(folder.path / "a.gif", {walking_square(0), walking_square(1), walking_square(1)});
  const ReadGif gif = read_gif(folder.path / "a.gif");
  CHECK(gif.boxes == std::vector<Box>{{0, 0, 50, 40}, {4, 10, 14, 8}, {0, 0, 1, 1}});
}

TEST_CASE("GIF frames last whole hundredths of a second, at least two") {
  const TemporaryFolder folder;
  for (const auto& [fps, delay] : {std::pair(0.1, 1000), {3.0, 33}, {60.0, 2}}) {
    write(folder.path / "a.gif", {walking_square(0)}, fps);
    CHECK(read_gif(folder.path / "a.gif").delays == std::vector{delay});
  }
}

TEST_CASE("many colours are reduced to 255 similar ones, and flat parts stay exact") {
  const TemporaryFolder folder;
  const std::vector<Picture> frames = {rainbow(0), rainbow(90), rainbow(91)};
  write(folder.path / "a.gif", frames);
  const ReadGif gif = read_gif(folder.path / "a.gif");
  REQUIRE(gif.frames.size() == 3);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    double distance = 0.0;
    int most = 0;
    for (std::size_t k = 0; k < frames[i].bytes().size(); ++k) {
      const int off = std::abs(frames[i].bytes()[k] - gif.frames[i].bytes()[k]);
      distance += off;
      most = std::max(most, off);
    }
    CHECK(distance / static_cast<double>(frames[i].bytes().size()) < 3.5);
    CHECK(most < 32);
    CHECK(gif.frames[i].at({80, 30}) == kRed);
  }
}

TEST_CASE("a palette is exact if the colours fit, and never exceeds its limit") {
  std::vector<Colour> pixels;
  for (int i = 0; i < 1000; ++i)
    pixels.push_back({static_cast<std::uint8_t>(i % 7), 0, static_cast<std::uint8_t>(i % 11)});
  const Palette exact = choose_palette(pixels, 77);
  CHECK(exact.colours.size() == 77);
  for (std::size_t i = 0; i < pixels.size(); ++i)
    REQUIRE(exact.colours[exact.indices[i]] == pixels[i]);
  const Palette few = choose_palette(pixels, 76);
  CHECK(few.colours.size() == 76);
  CHECK(choose_palette(pixels, 1).colours.size() == 1);
  CHECK(choose_palette({}, 5).colours.empty());
  // A colour that most pixels have is kept; otherwise the mean is used.
  const Colour a = {100, 0, 0}, b = {110, 0, 0}, c = {120, 0, 0};
  CHECK(choose_palette(std::vector{a, b, a, a, c}, 1).colours == std::vector{a});
  CHECK(choose_palette(std::vector{a, b, c, c, a}, 1).colours == std::vector{b});
}

TEST_CASE("an MP4 has the frames, the size and the colours that were added") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "a.mp4";
  std::vector<Picture> frames;
  for (int i = 0; i < 5; ++i) {  // odd sides
    frames.emplace_back(141, 221, kWhite);
    frames.back().fill({20 + 30 * i, 40, 40, 40}, kRed);
  }
  write(path, frames);

  cv::VideoCapture video(path.string());
  REQUIRE(video.isOpened());
  CHECK(video.get(cv::CAP_PROP_FPS) == doctest::Approx(4.0));
  const int codec = static_cast<int>(video.get(cv::CAP_PROP_FOURCC));
  CHECK((codec == cv::VideoWriter::fourcc('a', 'v', 'c', '1') ||
         codec == cv::VideoWriter::fourcc('h', '2', '6', '4')));
  cv::Mat frame;
  int count = 0;
  for (; video.read(frame); ++count) {
    CHECK(frame.cols == 222);
    CHECK(frame.rows == 142);
    const auto near = [&](int x, int y, Colour c) {
      const cv::Vec3b pixel = frame.at<cv::Vec3b>(y, x);  // blue, green, red
      return cv::norm(cv::Vec3i(pixel) - cv::Vec3i(c.blue, c.green, c.red)) < 24;
    };
    CHECK(near(20 + 30 * count + 20, 60, kRed));
    CHECK(near(20 + 30 * count - 12, 60, kWhite));
    CHECK(near(221, 141, kWhite));
  }
  CHECK(count == 5);
}

TEST_CASE("a colon in the name of an MP4 is no protocol of FFmpeg") {
  const TemporaryFolder folder;
  const InFolder here(folder.path);
  fs::create_directory("12:30");
  for (const std::string name : {"12:30.mp4", "file:a.mp4", "12:30/a.mp4"}) {
    CAPTURE(name);
    write(name, {walking_square(0), walking_square(1)});
    CHECK(fs::file_size(folder.path / name) > 0);
    const VideoShape shape = shape_of_mp4(name);
    CHECK(shape.rows == 40);
    CHECK(shape.cols == 50);
  }
}

TEST_CASE("an invalid or unwritable video is refused with the formats that work") {
  const TemporaryFolder folder;
  const auto fault = [&](const std::string& name, int cols = 64) {
    return message_of<InputError>(
        [&] { open_video(folder.path / name, {.rows = 64, .cols = cols}); });
  };
  CHECK(video_formats() == Names{".mp4", ".gif"});
  CHECK(contains(fault("a.avi"),
                 "a.avi: '.avi' is not a suffix of a video; formats that work: .mp4, "));
  CHECK(contains(fault("none/a.gif"), "none/a.gif: cannot be written: "));
  CHECK(contains(fault("none/a.mp4"), "none/a.mp4: cannot be written as H.264 with 64 x 64"));
  CHECK(contains(fault("a.gif", 70'000), "at most 65535 pixels"));
  // Messages have the name that the user knows.
  CHECK(message_of<InputError>([&] {
          open_video(folder.path / "none/part.mp4", {.rows = 64, .cols = 64}, "mine.mp4");
        }).starts_with("mine.mp4: cannot be written as H.264"));
  CHECK(contents(folder.path).empty());
}

TEST_CASE("the program of SACCADE_FFMPEG gets the frames of an .mp4, and its failure is an error") {
  const TemporaryFolder folder;
  const fs::path program = folder.path / "encoder", path = folder.path / "a.mp4";
  const auto encoder = [&](const std::string& does) {
    put_bytes(program, "#!/bin/sh\nfor out; do :; done\n" + does + "\n");
    fs::permissions(program, fs::perms::owner_all);
  };
  const TemporaryVariable chosen("SACCADE_FFMPEG", program.c_str());
  const std::string begin = "printf '\\0\\0\\0\\040ftyp' > \"$out\"; ";
  encoder(begin + "echo \"$@\" >> \"$out\"; cat >> \"$out\"");
  const std::vector<Picture> frames = {walking_square(0), walking_square(1)};
  write(path, frames);
  const std::string written = bytes_of(path);
  CHECK(contains(written, "-video_size 50x40 -framerate 4 -i - "));
  std::string bytes;
  for (const Picture& frame : frames) bytes.append(frame.bytes().begin(), frame.bytes().end());
  CHECK(written.ends_with(bytes));
  {
    const InFolder here(folder.path);
    write("12:30.mp4", frames);
    CHECK(contains(bytes_of("12:30.mp4"), " " + fs::absolute("12:30.mp4").string() + "\n"));
  }

  encoder("exit 1");  // before it has read anything
  CHECK(message_of<std::runtime_error>([&] {
          write(path, {50, walking_square(0)});
        }).starts_with(path.string() + ": cannot be written: "));
  // It fails at the end, or says that all went well and has written nothing, or no .mp4.
  for (const char* does : {"exit 1", ": > \"$out\"", "echo notes of the encoder > \"$out\""}) {
    CAPTURE(does);
    encoder(std::string("cat > /dev/null; ") + does);
    CHECK(message_of<std::runtime_error>([&] {
            write(path, frames);
          }).starts_with(path.string() + ": cannot be written: "));
  }
}

TEST_CASE("heat is the weight spread over the patches, with a maximum of 1") {
  Tensor<2> places = zeros<2>(2, 2);
  places(0, 0) = -0.5F;  // x, column 5 of 20; y is the middle, row 5 of 10
  places(1, 0) = -0.3F;  // column 7
  const std::vector<float> weights = {0.6F, 0.4F};
  // Patches of 4 x 4 pixels.
  const std::vector<double> heat = heat_map({matrix(places), weights, 0.2F, 0.4F}, 10, 20);
  const auto at = [&](int row, int col) { return heat[row * 20 + col]; };
  CHECK(at(3, 3) == doctest::Approx(0.6));
  CHECK(at(5, 5) == 1.0);  // covered by both
  CHECK(at(6, 8) == doctest::Approx(0.4));
  for (const auto& [row, col] : {std::pair(2, 5), {7, 5}, {5, 2}, {5, 9}}) CHECK(at(row, col) == 0);
}

TEST_CASE("heat colours dark pixels and keeps light or cold ones visible") {
  Picture canvas(1, 3, {});
  canvas.fill({1, 0, 1, 1}, kWhite);
  overlay_heat(canvas, {1.0, 1.0, 0.0}, 0.9);
  const auto light = [&](int x) {
    const Colour c = canvas.at({x, 0});
    return 0.2126 * c.red + 0.7152 * c.green + 0.0722 * c.blue;
  };
  CHECK(canvas.at({0, 0}).red > 200);
  CHECK(light(1) > light(0) + 60);
  CHECK(canvas.at({2, 0}) == Colour{});
}

}  // namespace saccade
