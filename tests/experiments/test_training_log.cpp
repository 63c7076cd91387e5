// The log of a training besides metrics.csv: the same rows as lines of JSON and as TensorBoard
// events, including recordings, settings and the test's figures.
#include "experiments/runs/training_log.h"

#include <cstring>
#include <limits>
#include <map>
#include <opencv2/imgcodecs.hpp>
#include <set>

#include "experiments/files/event_file.h"
#include "tensorboard.pb.h"
#include "tests/experiments/gif.h"
#include "tests/experiments/support.h"

namespace saccade {
namespace {

using tensorboard::Event;

const std::string kEvents = "events.out.tfevents.saccade";
const std::string kLines = "metrics.jsonl";
const Overrides kAllLogs = {"log.tensorboard=true", "log.jsonl=true", "record.every=64",
                            "record.scenes=1"};

template <class Number>
Number number_at(const std::string& bytes, std::size_t place) {
  Number number{};
  REQUIRE(place + sizeof number <= bytes.size());
  std::memcpy(&number, bytes.data() + place, sizeof number);  // little-endian, like the file
  return number;
}

// Returns every event of a file; its frames must be complete.
std::vector<Event> read_events(const fs::path& path) {
  const std::string bytes = bytes_of(path);
  std::vector<Event> events;
  for (std::size_t place = 0; place < bytes.size();) {
    const auto length = number_at<std::uint64_t>(bytes, place);
    CHECK(number_at<std::uint32_t>(bytes, place + 8) == masked_crc32c_of(bytes.substr(place, 8)));
    REQUIRE(place + 12 + length + 4 <= bytes.size());
    const std::string message = bytes.substr(place + 12, length);
    CHECK(number_at<std::uint32_t>(bytes, place + 12 + length) == masked_crc32c_of(message));
    REQUIRE(events.emplace_back().ParseFromString(message));
    place += 12 + length + 4;
  }
  return events;
}

// The contents of events without their times, one text each.
Names said(std::vector<Event> events) {
  Names texts;
  for (Event& event : events) {
    event.set_wall_time(0);
    for (auto& value : *event.mutable_summary()->mutable_value())
      if (value.tag().starts_with("time/")) value.set_simple_value(0);
    texts.push_back(event.SerializeAsString());
  }
  return texts;
}

std::vector<nlohmann::json> read_lines(const fs::path& path) {
  std::vector<nlohmann::json> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

std::vector<nlohmann::json> timeless_lines(const fs::path& path) {
  std::vector<nlohmann::json> rows = read_lines(path);
  for (nlohmann::json& row : rows) row = without_times(row);
  return rows;
}

void check_same_log(const fs::path& one, const fs::path& other) {
  CHECK(said(read_events(one / kEvents)) == said(read_events(other / kEvents)));
  CHECK(timeless_lines(one / kLines) == timeless_lines(other / kLines));
  CHECK(without_times(Csv(one / "metrics.csv")) == without_times(Csv(other / "metrics.csv")));
}

}  // namespace

TEST_CASE("CRC-32C agrees with its standard") {
  CHECK(crc32c_of("123456789") == 0xE3069283U);
  CHECK(crc32c_of(std::string(32, '\0')) == 0x8A9136AAU);  // RFC 3720, B.4
  CHECK(crc32c_of(std::string(32, '\xFF')) == 0x62A8AB43U);
  CHECK(crc32c_of("") == 0);
}

TEST_CASE("TensorBoard and metrics.jsonl receive every row of metrics.csv") {
  const TrainedTiny tiny(kAllLogs);
  const Csv table(tiny.run / "metrics.csv");
  REQUIRE(table.column.at("episodes") == kTinyRows);

  const std::vector<nlohmann::json> lines = read_lines(tiny.run / kLines);
  REQUIRE(lines.size() == kTinyRows.size());
  std::vector<Event> rows;
  for (const Event& event : read_events(tiny.run / kEvents))
    if (event.summary().value_size() > 0 && !event.summary().value(0).has_metadata() &&
        event.summary().value(0).tag() != "recording")
      rows.push_back(event);
  REQUIRE(rows.size() == kTinyRows.size());

  double before = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    CHECK(rows[i].step() == std::stoll(kTinyRows[i]));
    CHECK(rows[i].wall_time() >= before);
    before = rows[i].wall_time();
    std::map<std::string, float> scalars;
    for (const auto& value : rows[i].summary().value())
      CHECK(scalars.emplace(value.tag(), value.simple_value()).second);
    std::size_t cells = 0;
    for (const std::string& column : table.columns) {
      CAPTURE(column);
      const std::string& cell = table.column.at(column)[i];
      CHECK(scalars.contains(column) == !cell.empty());
      CHECK(lines[i].contains(column) == !cell.empty());
      if (cell.empty() || !scalars.contains(column) || !lines[i].contains(column)) continue;
      CHECK(lines[i][column].get<double>() == std::stod(cell));
      CHECK(scalars.at(column) == doctest::Approx(std::stod(cell)).epsilon(1e-6));
      ++cells;
    }
    CHECK(scalars.size() == cells);
    CHECK(lines[i].size() == cells);
  }
}

TEST_CASE("TensorBoard receives the settings first and the test's figures last, once") {
  const TinyExperiment tiny;
  const fs::path folder = tiny.train("whole", kAllLogs);
  const std::vector<Event> events = read_events(folder / kEvents);
  const auto content_of = [&](const Event& event, const char* tag) {
    REQUIRE(event.summary().value_size() > 0);
    const auto& value = event.summary().value(0);
    CHECK(value.tag() == tag);
    CHECK(value.metadata().plugin().name() == "hparams");
    tensorboard::HParams content;
    CHECK(content.ParseFromString(value.metadata().plugin().content()));
    return content;
  };
  REQUIRE(events.size() > 2);
  std::map<std::string, tensorboard::HParams::Value> settings;
  const tensorboard::HParams begin = content_of(events[1], "_hparams_/session_start_info");
  for (const auto& entry : begin.start().settings())
    CHECK(settings.emplace(entry.name(), entry.value()).second);
  CHECK(settings.at("training.learning_rate").number() == 0.02);
  CHECK(settings.at("training.episodes").number() == 192.0);
  CHECK(settings.at("model.core").text() == "lstm");
  CHECK(settings.at("scene.canvas").text() == "[13, 15]");
  CHECK(settings.at("log.jsonl").flag());
  CHECK_FALSE(settings.contains("model.heads"));  // no effect here

  const Event& last = events.back();
  CHECK(last.step() == 192);
  CHECK(content_of(last, "_hparams_/session_end_info").end().status() == 1);
  const nlohmann::json summary = read_json(folder / "summary.json");
  std::set<std::string> figures;
  for (const auto& value : last.summary().value())
    if (!value.has_metadata()) {
      CHECK(value.simple_value() == summary[value.tag()].get<float>());
      CHECK(figures.insert(value.tag()).second);
    }
  CHECK(figures.contains("test/error"));
  CHECK(figures.contains("test/error_low"));
  CHECK_FALSE(figures.contains("attention/on_target"));  // a column of metrics.csv

  // A test that is repeated replaces the figures, and that of a longer run too.
  RunRequest options = tiny.options("whole", kAllLogs);
  options.resume = true;
  fs::remove(folder / "summary.json");
  CHECK(run(options, false));
  CHECK(said(read_events(folder / kEvents)) == said(events));
  options.overrides.push_back("training.episodes=256");
  CHECK(run(options, false));
  int tests = 0;
  for (const Event& event : read_events(folder / kEvents))
    for (const auto& value : event.summary().value()) tests += value.tag() == "test/error";
  CHECK(tests == 1);
  CHECK(read_events(folder / kEvents).back().step() == 256);
}

TEST_CASE("TensorBoard receives the recordings") {
  const TinyExperiment tiny;
  for (const std::string format : {"gif", "png", "mp4"}) {
    CAPTURE(format);
    Overrides overrides = kAllLogs;
    overrides.push_back("record.format=" + format);
    const fs::path folder = tiny.train(format, overrides);
    std::vector<std::int64_t> steps;
    for (const Event& event : read_events(folder / kEvents)) {
      if (event.summary().value_size() == 0 || !event.summary().value(0).has_image()) continue;
      steps.push_back(event.step());
      const auto& value = event.summary().value(0);
      CHECK(value.tag() == "recording");
      const std::string shown = format == "png" ? "png" : "gif";  // it cannot show .mp4
      const std::string file = fmt::format("recordings/episodes-{:03}.{}", event.step(), shown);
      CHECK(fs::exists(folder / fs::path(file).replace_extension(format)));
      CHECK((value.image().encoded_image_string() == bytes_of(folder / file)));
      CHECK(value.image().colorspace() == 3);
      if (shown == "gif") {
        const Picture video = read_gif(folder / file).frames[0];
        CHECK(value.image().width() == video.cols());
        CHECK(value.image().height() == video.rows());
      } else {
        const cv::Mat image = cv::imread((folder / file).string());
        CHECK(value.image().width() == image.cols);
        CHECK(value.image().height() == image.rows);
      }
    }
    CHECK(steps == std::vector<std::int64_t>{0, 64, 128, 192});
  }
}

TEST_CASE("a stopped and resumed run leaves the log of an uninterrupted one") {
  const TinyExperiment tiny;
  const fs::path whole = tiny.train("whole", kAllLogs);
  RunRequest options = tiny.options("stopped", kAllLogs);
  int stops = 0;
  for (; !run_one_update(options); ++stops) {
    REQUIRE(stops < 13);
    options.resume = true;
  }
  CHECK(stops == 12);
  check_same_log(options.out, whole);
}

TEST_CASE("a killed run drops the log entries after its checkpoint") {
  const TinyExperiment tiny;
  const fs::path whole = tiny.train("whole", kAllLogs);
  // Killed four updates after its checkpoint, with several events and rows in between; the last
  // ones may be incomplete.
  for (const int updates : {1, 4, 7})
    for (const bool cut : {false, true}) {
      CAPTURE(updates);
      CAPTURE(cut);
      RunRequest options = tiny.options(fmt::format("killed{}{}", updates, cut), kAllLogs);
      const auto advance = [&](int count) {
        for (int n = 0; n < count; ++n) {
          CHECK_FALSE(run_one_update(options));
          options.resume = true;
        }
      };
      advance(updates);
      const std::string checkpoint = bytes_of(options.out / kLast);
      advance(4);
      put_bytes(options.out / kLast, checkpoint);
      if (cut) {
        const std::string events = bytes_of(options.out / kEvents);
        put_bytes(options.out / kEvents, events.substr(0, events.size() - 3));
        put_bytes(options.out / kLines, bytes_of(options.out / kLines) + R"({"episodes": 4)");
      }
      CHECK(run(options, false));
      check_same_log(options.out, whole);
    }
}

TEST_CASE("a log is kept up to the first altered event") {
  const TemporaryFolder folder;
  const fs::path path = folder.path / "events";
  {
    EventFile file(path, -1);
    for (const int step : {1, 2, 3}) {
      MetricValues row;
      row["train/loss"] = 0.5 * step;
      file.add_scalars(step, row);
    }
  }
  const std::string bytes = bytes_of(path);
  const std::vector<Event> all = read_events(path);
  REQUIRE(all.size() == 4);
  CHECK(all[0].file_version() == "brain.Event:2");

  EventFile(path, 2);
  CHECK(read_events(path).size() == 3);
  for (const std::size_t byte : {bytes.size() - 1, bytes.size() - 10}) {  // its checksum, the value
    std::string altered = bytes;
    altered[byte] ^= 1;
    put_bytes(path, altered);
    EventFile(path, 9);
    CHECK(read_events(path).size() == 3);
  }
  put_bytes(path, "no events");
  EventFile(path, 9);
  CHECK(read_events(path).size() == 1);

  EventFile file(path, 9);
  CHECK_THROWS_WITH_AS(file.add_picture(1, "recording", "no picture"),
                       "a picture for TensorBoard is neither a PNG nor a GIF", std::runtime_error);
}

TEST_CASE("non-finite values are null in metrics.jsonl") {
  const TemporaryFolder folder;
  MetricsLines lines(folder.path / kLines, 0);
  MetricsRow row;
  row["episodes"] = 5;
  row["train/loss"] = std::numeric_limits<double>::quiet_NaN();
  lines.append(row);
  CHECK(bytes_of(folder.path / kLines) == "{\"episodes\": 5, \"train/loss\": null}\n");
}

}  // namespace saccade
