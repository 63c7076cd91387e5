#include "experiments/analysis/record.h"

#include <doctest/doctest.h>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/videoio.hpp>

#include "experiments/analysis/evaluate.h"
#include "experiments/evaluation/tally.h"
#include "experiments/pictures/heat_map.h"
#include "experiments/pictures/legend.h"
#include "experiments/pictures/recording.h"
#include "experiments/runs/trained.h"
#include "tests/experiments/gif.h"
#include "tests/experiments/pixels.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

// Three glimpses and two frames for the verdict.
constexpr int kFrames = 5;

bool has_verdict(const Picture& picture) {
  return has_colour(picture, kRightColour) || has_colour(picture, kWrongColour);
}

// The first test scene of a run, played by its agent.
struct PlayedRun : Trained, PlayedScene {
  explicit PlayedRun(const fs::path& folder)
      : Trained(folder), PlayedScene(task, Split::test, flat(weights)) {}
};

}  // namespace

TEST_CASE("a video has a frame for each glimpse and two for the verdict, for each scene") {
  const TinyExperiment tiny;
  const fs::path run = tiny.train("out"), out = tiny.path / "a.gif";
  CHECK(record({.run_folders = {run}, .out = out, .scenes = 3, .fps = 5}).path == out);
  const ReadGif gif = read_gif(out);
  REQUIRE(gif.frames.size() == 3 * kFrames);
  CHECK(gif.delays == std::vector<int>(3 * kFrames, 20));
  const Trained trained(run);
  const EpisodePicture panel(trained.task, "tiny");
  CHECK(gif.frames[0].rows() == panel.rows());
  CHECK(gif.frames[0].cols() == panel.cols());
  CHECK(gif.frames[0].at({2, 2}) == Colour{255, 255, 255});
  for (int i = 0; i < 3 * kFrames; ++i) {
    CAPTURE(i);
    CHECK(has_verdict(gif.frames[i]) == (i % kFrames >= 3));
    CHECK(has_colour(gif.frames[i], LookPicture::scale_colour(0)));
  }
}

TEST_CASE("an MP4 has the expected frames and panel size") {
  const TrainedTiny tiny;
  CHECK(record({.run_folders = {tiny.run}, .scenes = 2}).path == tiny.run / "recording.mp4");
  cv::VideoCapture video((tiny.run / "recording.mp4").string());
  const Trained trained(tiny.run);
  const EpisodePicture panel(trained.task, "tiny");
  cv::Mat frame;
  int count = 0;
  for (; video.read(frame); ++count) {
    CHECK(frame.rows == (panel.rows() + 1) / 2 * 2);
    CHECK(frame.cols == (panel.cols() + 1) / 2 * 2);
    CHECK(cv::norm(frame.at<cv::Vec3b>(2, 2), cv::Vec3b(255, 255, 255)) < 15);
  }
  CHECK(count == 2 * kFrames);
}

TEST_CASE("a contact sheet has a row for each scene and agent and a tile for each step") {
  const TinyExperiment tiny;
  const fs::path hard = tiny.train("hard"), soft = tiny.train("soft", kSoftGrid);
  const auto sheet = [&](const std::vector<fs::path>& runs, int scenes) {
    const fs::path out = tiny.path / "sheet.png";
    record({.run_folders = runs, .out = out, .scenes = scenes, .force = true});
    return cv::imread(out.string());
  };
  const cv::Mat one = sheet({hard}, 1), three = sheet({hard}, 3), both = sheet({hard, soft}, 3);
  // Canvas 13 x 15 at 12 pixels each, three steps, gaps of 8, margins of 12.
  CHECK(one.cols == 3 * (15 * 12 + 8) - 8 + 2 * 12);
  CHECK(three.cols == one.cols);
  const int scene = (three.rows - one.rows) / 2;
  const auto legend = [&](const std::vector<fs::path>& runs) {
    std::vector<LegendEntry> entries;
    for (const fs::path& run : runs) add_entries(entries, sheet_legend(Trained(run).task));
    return legend_rows(entries, one.cols - 2 * 12);
  };
  CHECK(one.rows == 12 + scene + legend({hard}));
  CHECK(three.rows == 12 + 3 * scene + legend({hard}));
  CHECK(both.rows == 12 + 6 * scene + legend({hard, soft}));
  CHECK(legend({hard, soft}) >= legend({hard}));
  CHECK(one.at<cv::Vec3b>(2, 2) == cv::Vec3b(255, 255, 255));
}

TEST_CASE("agents are shown side by side on the same scenes, and the shorter one waits") {
  const TinyExperiment tiny;
  const fs::path one = tiny.train("one"), soft = tiny.train("soft", kSoftGrid);
  const fs::path five = tiny.train("five", with(kSoftGrid, {"attention.glimpse.num_glimpses=5"}));
  const auto gif_of = [&](const std::vector<fs::path>& runs) {
    record({.run_folders = runs, .out = tiny.path / "a.gif", .scenes = 2, .force = true});
    return read_gif(tiny.path / "a.gif").frames;
  };
  const auto alone = gif_of({one}), with_soft = gif_of({one, soft}),
             with_five = gif_of({one, five});
  CHECK(with_soft.size() == 2 * kFrames);
  CHECK(with_soft[0].cols() == 2 * alone[0].cols());
  REQUIRE(with_five.size() == 2 * (kFrames + 2));

  const auto left = [&](const Picture& frame) {  // below the title
    Picture part(frame.rows() - 50, alone[0].cols(), {});
    part.paste(frame, {0, -50});
    return std::vector(part.bytes().begin(), part.bytes().end());
  };
  CHECK(left(with_five[3]) == left(with_five[2]));  // waits
  CHECK(left(with_five[4]) == left(with_five[2]));
  CHECK(left(with_five[1]) != left(with_five[2]));
  CHECK(has_verdict(with_five[5]));
  const auto many = gif_of({one, soft, five, one});
  CHECK(many[0].cols() == 2 * alone[0].cols());
  CHECK(many[0].rows() == 2 * alone[0].rows());
}

TEST_CASE("a recording stops each agent when it is sure, and holds its answer") {
  const TinyExperiment tiny;
  const fs::path run = tiny.train("out");
  const auto gif_of = [&](std::optional<double> stop) {
    record({.run_folders = {run},
            .out = tiny.path / "a.gif",
            .scenes = 4,
            .stop = stop,
            .force = true});
    return read_gif(tiny.path / "a.gif").frames;
  };
  const auto same = [](const Picture& a, const Picture& b) {
    return std::ranges::equal(a.bytes(), b.bytes());
  };
  const auto all = gif_of({}), at_once = gif_of(0.001), never = gif_of(0.999999);
  REQUIRE(all.size() == 4 * kFrames);
  REQUIRE(at_once.size() == all.size());
  for (int i = 0; i < 4 * kFrames; ++i) {
    CAPTURE(i);
    CHECK(has_verdict(at_once[i]) == (i % kFrames >= 1));  // from the second glimpse on
    CHECK(has_verdict(never[i]) == (i % kFrames >= 3));
    if (i % kFrames > 1) CHECK(same(at_once[i], at_once[i - 1]));
  }
  // Later scenes are rounded to the palette of the frames before.
  CHECK(same(at_once[0], all[0]));
  for (int i = 0; i < 3; ++i) CHECK(same(never[i], all[i]));

  // The answer is that of the last look that was taken.
  PlayedRun played(run);
  Episode episode = played.episode();
  episode.stop_after(1);
  CHECK(episode.predictions()[0] == most_probable(&episode.answer.probabilities(0, 0, 0), 3));
  CHECK(episode.right() == (episode.predictions()[0] == episode.labels()[0]));
  CHECK(contains(episode_caption(PicturedAgent(played.task), "", episode, 1, 1000),
                 ", stops after 1 of 3, answers "));

  record({.run_folders = {run}, .out = tiny.path / "all.png", .scenes = 1});
  record({.run_folders = {run}, .out = tiny.path / "stops.png", .scenes = 1, .stop = 0.001});
  const cv::Mat sheet = cv::imread((tiny.path / "all.png").string()),
                stops = cv::imread((tiny.path / "stops.png").string());
  REQUIRE(sheet.size() == stops.size());
  const cv::Point second{12 + 180 + 8 + 90, 12 + 18 + 15 + 60};  // in the second tile
  CHECK(stops.at<cv::Vec3b>(second) == cv::Vec3b(255, 255, 255));
  CHECK(sheet.at<cv::Vec3b>(second) != cv::Vec3b(255, 255, 255));
}

TEST_CASE("a recording can be limited to scenes that the first agent gets wrong or right") {
  const TrainedTiny tiny;
  const double error = evaluate({.run_folder = tiny.run, .threads = 1}).metrics.at("test/error");
  REQUIRE(error > 0.0);
  REQUIRE(error < 1.0);
  for (const auto& [only, verdict, other] :
       {std::tuple("wrong", kWrongColour, kRightColour), {"right", kRightColour, kWrongColour}}) {
    record({.run_folders = {tiny.run},
            .out = tiny.path / "a.gif",
            .scenes = 20,
            .only = only,
            .force = true});
    const ReadGif gif = read_gif(tiny.path / "a.gif");
    REQUIRE(gif.frames.size() == 20 * kFrames);
    for (int i = 3; i < 20 * kFrames; i += kFrames) {
      CHECK(has_colour(gif.frames[i], verdict));
      CHECK_FALSE(has_colour(gif.frames[i], other));
    }
  }
}

TEST_CASE("another seed records other scenes, and the same command makes the same bytes") {
  const TrainedTiny tiny(kSoftGrid);
  for (const std::string name : {"a.gif", "a.png"}) {
    const auto bytes = [&](std::optional<std::uint64_t> seed) {
      record({.run_folders = {tiny.run},
              .out = tiny.path / name,
              .scenes = 2,
              .seed = seed,
              .force = true});
      return bytes_of(tiny.path / name);
    };
    const std::string first = bytes({});
    CHECK(bytes({}) == first);
    CHECK(bytes(777) == first);  // evaluation.seed
    CHECK(bytes(778) != first);
  }
}

TEST_CASE("the hottest pixel of a soft look is where most of its weight is") {
  const TinyExperiment tiny;
  PlayedRun played(tiny.train("out", kSoftGrid));
  for (int t = 0; t < 3; ++t) {
    const Gaze gaze = played.rollout.look->gaze(t, 0);
    // Patches of 4 pixels spaced by 4 do not overlap.
    const int k = static_cast<int>(std::ranges::max_element(gaze.weights) - gaze.weights.begin());
    const std::vector<double> heat = heat_map(gaze, 13, 15);
    const auto hottest = std::ranges::max_element(heat) - heat.begin();
    const auto distance = [&](float place, int pixels, auto pixel) {
      return std::abs(0.5F * (place + 1.0F) * static_cast<float>(pixels) -
                      (static_cast<float>(pixel) + 0.5F));
    };
    CHECK(distance(gaze.places(k, 0), 15, hottest % 15) <= 2.5F);
    CHECK(distance(gaze.places(k, 1), 13, hottest / 15) <= 2.5F);
    const Picture soft = LookPicture(played.task, 180).canvas(played.episode(), t, false);
    CHECK_FALSE(has_colour(soft, LookPicture::scale_colour(0)));  // no squares
  }
}

TEST_CASE("the squares of a hard look enclose what its scales show") {
  const TinyExperiment tiny;
  PlayedRun played(tiny.train("out", {"attention.glimpse.first=center"}));
  const LookPicture look(played.task, 180);
  const Picture canvas = look.canvas(played.episode(), 0, false);
  // 4 of 13 x 15 pixels around (6.5, 7.5), at 12 each: corner at row 5, column 6.
  const Colour finest = LookPicture::scale_colour(0);
  CHECK(canvas.at({6 * 12, 5 * 12 + 20}) == finest);
  CHECK(canvas.at({10 * 12 - 1, 9 * 12 - 1}) == finest);
  CHECK(canvas.at({6 * 12 - 1, 5 * 12 + 20}) != finest);
  CHECK(canvas.at({4 * 12, 3 * 12}) == LookPicture::scale_colour(1));
  const std::vector<Picture> seen = look.seen(played.episode(), 0, 41);
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].cols() == 40);
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 4; ++x)
      CHECK(seen[0].at({10 * x, 10 * y}).red ==
            static_cast<int>(255.0F * played.episode().canvas(0)[(5 + y) * 15 + 6 + x] + 0.5F));
}

TEST_CASE(
    "the squares of a point read between pixels are at exact positions, with a path and no heat") {
  const TinyExperiment tiny;
  PlayedRun played(
      tiny.train("out", {"attention.glimpse.kind=soft_point", "attention.glimpse.first=center"}));
  const Picture canvas = LookPicture(played.task, 180).canvas(played.episode(), 0, false);
  // 4 of 13 x 15 pixels around (6.5, 7.5), at 12 each: corner at row 4.5, column 5.5.
  const Colour finest = LookPicture::scale_colour(0);
  CHECK(canvas.at({66, 54 + 20}) == finest);
  CHECK(canvas.at({66 + 4 * 12 - 1, 54 + 4 * 12 - 1}) == finest);
  CHECK(canvas.at({65, 54 + 20}) != finest);
  CHECK(canvas.at({2, 2}).red == canvas.at({2, 2}).blue);  // black or grey
}

TEST_CASE("class names show sums and pairs") {
  const TinyExperiment tiny;
  const auto name = [&](int label, const Overrides& overrides) {
    return Task(read_config(tiny.yaml, with({"scene.canvas=[20, 20]"}, overrides)))
        .class_name(label);
  };
  CHECK(name(2, {}) == "2");
  CHECK(name(4, {"scene.num_digits=2"}) == "4");
  CHECK(name(4, {"scene.num_digits=2", "scene.label=pair"}) == "1+2");
  CHECK(name(5, {"scene.num_digits=2", "scene.label=pair"}) == "2+2");
}

TEST_CASE("agents are named by what distinguishes them") {
  Config a, b;
  a.name = "apple", b.name = "berry";
  const std::vector<const Config*> both = {&a, &b}, same = {&a, &a}, one = {&a};
  const std::vector<fs::path> folders = {"runs/x/seed-1", "runs/y/seed-1"};
  CHECK(agent_names(one, std::span(folders).first(1)) == Names{"apple"});
  CHECK(agent_names(both, folders) == Names{"apple", "berry"});
  CHECK(agent_names(same, folders) == Names{"x/seed-1", "y/seed-1"});
  b.name = "apple";
  b.agent.glimpse.kind = "soft_grid";
  b.agent.glimpse.num_glimpses = 4;
  CHECK(agent_names(both, folders) == Names{"hard_gaussian", "soft_grid"});
  b.agent.glimpse.kind = "hard_gaussian";
  CHECK(agent_names(both, folders) == Names{"num_glimpses 8", "num_glimpses 4"});
  const std::vector<fs::path> twice = {"runs/x", "runs/x/"};
  CHECK(agent_names(same, twice) == Names{"1. apple", "2. apple"});
}

TEST_CASE("a run records on schedule, and a resumed one makes the same files") {
  const TinyExperiment tiny;
  const Names schedule = {"record.every=64", "record.scenes=2"};
  const fs::path run_folder = tiny.train("out", schedule) / "recordings";
  const auto files = contents(run_folder);
  Names names;
  for (const auto& [name, bytes] : files) names.push_back(name);
  CHECK(names ==
        Names{"episodes-000.gif", "episodes-064.gif", "episodes-128.gif", "episodes-192.gif"});
  CHECK(read_gif(run_folder / names[1]).frames.size() == 2 * kFrames);
  CHECK(files.at(names[0]) != files.at(names[3]));

  RunRequest options = tiny.options("stopped", schedule);
  CHECK(!run(options, true));  // after one update
  options.resume = true;
  CHECK(run(options, false));
  CHECK(contents(options.out / "recordings") == files);
  CHECK(bytes_of(options.out / kLast) == bytes_of(tiny.path / "out" / kLast));
  const fs::path silent = tiny.train("silent");
  CHECK_FALSE(fs::exists(silent / "recordings"));
}

TEST_CASE("without a known label there is no verdict") {
  const TinyExperiment tiny;
  PlayedRun played(tiny.train("out"));
  const EpisodePicture panel(played.task, "tiny");
  const int last = played.rollout.core.steps - 1;
  Episode episode = played.episode();
  CHECK(has_verdict(panel.panel(episode, last, /*verdict=*/true)));
  CHECK(contains(episode_caption(played.task, "", episode, 1, 400), "true class"));
  episode.judged = false;
  CHECK_FALSE(has_verdict(panel.panel(episode, last, /*verdict=*/true)));
  CHECK(episode_caption(played.task, "", episode, 1, 400) ==
        "1. answers " + played.task.spoken(episode.predictions()));
}

}  // namespace saccade
