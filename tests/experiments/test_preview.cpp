#include "experiments/analysis/preview.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <opencv2/imgcodecs.hpp>

#include "base/error.h"
#include "experiments/config/config.h"
#include "experiments/pictures/scene_sheet.h"
#include "experiments/training/test_and_summarize.h"
#include "experiments/training/train.h"
#include "tests/env/digit_fixtures.h"
#include "tests/experiments/config_messages.h"
#include "tests/experiments/pixels.h"
#include "tests/experiments/program.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

std::unique_ptr<Task> task_of(const std::string& yaml, int channels) {
  return std::make_unique<Task>(parse_config("name: drawn\n" + yaml, "test"),
                                noise_data(30, channels, 10));
}

// Sizes of a sheet of one scene on a canvas of 20 x 20, which is enlarged nine times.
constexpr int kRim = 14, kLabel = 20, kZoom = 9, kCanvas = 20 * kZoom;

TEST_CASE("data preview: a training scene is drawn with its box") {
  const auto task = task_of(
      "data: {augmentation: {rotation: 40}}\n"
      "scene: {kind: cluttered, canvas: [20, 20], num_distractors: 2, distractor_size: 3}\n"
      "retina: {patch_size: 6, scales: 2}\n",
      3);
  const Picture sheet = scene_sheet(*task, 1);
  const auto environment = task->environments(Split::train)(1, 1);
  environment->reset(0);
  const Box box = environment->facts()[0].boxes[0];
  const Box drawn = {kRim + box.x * kZoom, kRim + kLabel + box.y * kZoom, box.width * kZoom,
                     box.height * kZoom};
  const int frame = 2 * (drawn.width + drawn.height) - 4;
  CHECK(count_colour(sheet, kAnswerBox, drawn) == frame);
  CHECK(count_colour(sheet, kAnswerBox, whole_of(sheet)) == frame);

  // Every pixel of the canvas outside the frame is a square of its colour.
  Tensor<2> canvas = zeros<2>(1, 3 * 20 * 20), glimpse = zeros<2>(1, 2 * 3 * 6 * 6);
  environment->view(matrix(canvas));
  const auto byte = [](float value) { return static_cast<std::uint8_t>(std::lround(255 * value)); };
  for (int row = 0; row < 20; ++row)
    for (int col = 0; col < 20; ++col) {
      const Colour wanted = {byte(canvas(0, row * 20 + col)), byte(canvas(0, 400 + row * 20 + col)),
                             byte(canvas(0, 800 + row * 20 + col))};
      CHECK(sheet.at({kRim + col * kZoom + 4, kRim + kLabel + row * kZoom + 4}) == wanted);
    }

  // Beside it both scales at the centre: 180 pixels for two, so that a pixel is 13 wide.
  const Tensor<2> centre = zeros<2>(1, 2);
  environment->look(ConstMatrix(matrix(centre)), matrix(glimpse));
  for (int scale = 0; scale < 2; ++scale) {
    const int side = 13 * 6 + 4;
    const int left = kRim + kCanvas + 6 + 2, top = kRim + kLabel + scale * (side + 6) + 2;
    for (int row = 0; row < 6; ++row)
      for (int col = 0; col < 6; ++col) {
        const int at = scale * 108 + row * 6 + col;
        const Colour wanted = {byte(glimpse(0, at)), byte(glimpse(0, at + 36)),
                               byte(glimpse(0, at + 72))};
        CHECK(sheet.at({left + col * 13 + 6, top + row * 13 + 6}) == wanted);
      }
  }
}

TEST_CASE("data preview: every kind of task can be drawn") {
  // Settings a kind needs besides a canvas.
  const std::map<std::string, std::string> needs = {
      {"bag", "scene: {canvas: [24, 60], num_digits: 2}"},
      {"transcribe",
       "scene: {canvas: [24, 60], num_digits: 2, num_distractors: 0}\n"
       "attention: {hidden: {kind: attend}}"},
      {"catch", "scene: {canvas: [24, 60]}\nattention: {glimpse: {num_glimpses: 23}}"},
      {"digits_to_words",
       "scene: {max_number: 99}\nattention: {glimpse: {kind: whole}, hidden: {kind: attend}}"}};
  for (const std::string& kind : task_kinds()) {
    if (find_task_kind(kind).is_own) continue;  // nothing to show without a program
    CAPTURE(kind);
    std::string yaml = needs.contains(kind) ? needs.at(kind) : "scene: {canvas: [24, 60]}";
    yaml.insert(yaml.find('{') + 1, "kind: " + kind + ", ");
    const auto task = task_of(yaml + "\nretina: {patch_size: 6, scales: 2}\n", 1);
    const Picture four = scene_sheet(*task, 4), one_line = scene_sheet(*task, 3);
    CHECK(four.cols() == one_line.cols());
    CHECK(four.rows() - one_line.rows() == one_line.rows() - kRim);
    CHECK(has_colour(four, kAnswerBox));
    const Picture again = scene_sheet(*task, 4);
    CHECK(std::ranges::equal(four.bytes(), again.bytes()));
  }
}

TEST_CASE("data preview: mean and deviation of each channel of the images") {
  Dataset images;
  images.images.resize({2, 1, 2, 3});
  const std::array<std::uint8_t, 12> pixels = {255, 0, 51, 255, 255, 51, 255, 0, 51, 255, 255, 51};
  std::ranges::copy(pixels, images.images.begin());
  const PixelConfig found = pixels_of(images);
  CHECK(found.mean == std::vector{1.0, 0.5, 0.2});
  REQUIRE(found.deviation.size() == 3);
  CHECK(found.deviation[0] == 0.0);
  CHECK(found.deviation[1] == 0.5);
  CHECK(found.deviation[2] == doctest::Approx(0.0));
}

TEST_CASE("a task has at most 2000 classes, which bounds the confusion matrix of a test") {
  const auto task_with = [](int classes) {
    return Task(parse_config("name: many\nscene: {kind: centered, canvas: [20, 20]}\n"
                             "retina: {patch_size: 6, scales: 2}",
                             "test"),
                noise_data(30, 1, classes))
        .model.num_classes();
  };
  CHECK(task_with(2000) == 2000);
  CHECK_THROWS_WITH_AS(task_with(2001),
                       "2001 classes (data.source: mnist, scene.label: sum); allowed: up to 2000",
                       InputError);
}

TEST_CASE("data preview writes a sheet, and never overwrites a file") {
  const TinyExperiment tiny;
  const auto run = [&](CommandWords words) {
    words.insert(words.begin(), {"data", "preview", "tiny.yaml"});
    return run_saccade(tiny.path, words);
  };
  const Program::Result done = run({"scene.num_distractors=0", "--out", "sheet.png"});
  CHECK(done.code == 0);
  CHECK(contains(done.err, "warning: "));  // scene.distractor_size has no effect now
  check_starts(done.out,
               "sheet.png\ndata: 80 images of 6 x 6 pixels, grey, 3 classes (0 27, 1 27, 2 26)\n"
               "  50 for training, 10 for validation (the last of the training file), 20 for the "
               "test (the test file)\ndata.mean=[0.");
  CHECK(contains(done.out, "] data.deviation=[0."));
  const cv::Mat sheet = cv::imread((tiny.path / "sheet.png").string());
  // 13 x 15 pixels as 12 x 12 squares; two scales of 4 pixels as 17.
  REQUIRE(sheet.cols == 14 + 3 * (15 * 12 + 6 + 4 * 17 + 4 + 14));
  CHECK(sheet.rows == 14 + 4 * (20 + 13 * 12 + 14));

  const auto before = contents(tiny.path);
  check_refused(run({"--out", "sheet.png"}), "sheet.png: exists already");
  check_refused(run({"--out", "sheet.gif"}), "sheet.gif: unknown suffix '.gif'; allowed: .png");
  check_refused(run({"--out", "none/sheet.png"}), "none/sheet.png: cannot be written: No such");
  check_refused(run({"seeds=2", "--out", "a.png"}), "tiny.yaml: a study");
  check_refused(run({"scene.canvas=[2, 2]", "--out", "a.png"}), "");
  check_refused(run({"--scenes", "0", "--out", "a.png"}), "--scenes: ");
  CHECK(contents(tiny.path) == before);
  check_done(run({"--out", "sheet.png", "--scenes", "1", "--force"}));
  CHECK(cv::imread((tiny.path / "sheet.png").string()).rows == 14 + 20 + 13 * 12 + 14);
}

// Writes 12 images per class of the given side in pixels, and a file that is not an image.
void write_squares(const fs::path& folder, int side) {
  for (const char* name : {"cat", "dog"}) {
    fs::create_directories(folder / name);
    put_bytes(folder / name / "notes.txt", "no image");
    for (int n = 0; n < 12; ++n)
      cv::imwrite((folder / name / fmt::format("{}.png", n)).string(),
                  cv::Mat(side, side, CV_8UC1, cv::Scalar(20 * n)));
  }
}

TEST_CASE("a run on an image folder begins with a summary of its data") {
  struct Notes : Progress {
    void note(const std::string& text) override { all += text; }
    std::string all;
  };
  const TemporaryVariable cache("XDG_CACHE_HOME", "");
  const TinyExperiment tiny;
  write_squares(tiny.path / "pets", 8);
  const auto said = [&](const std::string& out, Overrides overrides) {
    overrides.push_back("data.source=folder");
    overrides.push_back("data.path=" + (tiny.path / "pets").string());
    Notes notes;
    CHECK(train(read_config(tiny.yaml, overrides), RunFolder(tiny.path / out), {.threads = 1},
                notes, /*stop=*/false));
    return notes.all;
  };
  CHECK(contains(said("a", {}),
                 "data: 24 images of 8 x 8 pixels, grey, 2 classes (cat 12, dog 12)\n"
                 "  17 for training, 3 for validation (drawn at random from the rest), 4 for the "
                 "test (a sixth of all, drawn at random)\n"));
  CHECK(contains(said("b", {"data.size=5"}), "24 images of 5 x 5 pixels (resized: data.size)"));
  fs::create_directories(tiny.path / "split");
  fs::rename(tiny.path / "pets", tiny.path / "split" / "train");
  fs::rename(tiny.path / "split", tiny.path / "pets");
  write_squares(tiny.path / "pets" / "test", 8);
  CHECK(contains(said("c", {}),
                 "20 for training, 4 for validation (drawn at random from the "
                 "folder train), 24 for the test (the folder test)\n"));
}

TEST_CASE("images that do not fit the canvas are refused with the settings to change") {
  const TemporaryVariable cache("XDG_CACHE_HOME", "");
  const TinyExperiment tiny;
  write_squares(tiny.path / "pets", 64);
  const auto result = run_saccade(
      tiny.path, {"run", "tiny.yaml", "data.source=folder", "data.path=pets", "--out", "a"});
  check_refused(result,
                "scene.canvas: 13 x 15 with scene.border: 0 leaves no room for 1 digit(s) of 64 x "
                "64; needed: scene.canvas of at least 64 x 64, or smaller digits (images of a "
                "folder are resized by data.size: 13 or less)");
}

TEST_CASE("an overfitting agent is reported if there are enough validation images to tell") {
  CHECK(overfitting_word(0.008, 0.54, 50) ==
        "It overfits: 0.8 % error on the training images, 54.0 % on the 50 validation images.\n"
        "  More images, data.augmentation or fewer training.episodes may help.\n");
  CHECK(overfitting_word(0.30, 0.54, 10'000) == "");  // less than twice
  CHECK(overfitting_word(0.01, 0.05, 10'000) == "");  // less than 5 points
  CHECK(overfitting_word(0.05, 0.5, 2) == "");        // two images are too few
  CHECK(overfitting_word(std::nan(""), 0.54, 50) == "");
}

}  // namespace
}  // namespace saccade
