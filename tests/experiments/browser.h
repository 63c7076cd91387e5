#pragma once

#include <cstdlib>
#include <optional>
#include <sstream>

#include "tests/experiments/program.h"

namespace saccade {

/// Returns a Chromium on the PATH, if there is one.
inline std::optional<fs::path> find_browser() {
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path == nullptr ? "" : path, ':'))
    for (const char* name : {"chromium", "chromium-browser", "google-chrome"})
      if (access((fs::path(folder) / name).c_str(), X_OK) == 0) return fs::path(folder) / name;
  return std::nullopt;
}

/// Without a browser: reports that the test is skipped, and returns true.
inline bool skipped_without_browser(const std::string& test) {
  if (find_browser()) return false;
  MESSAGE("skipped: '" << test << "' needs chromium (scripts/install-deps --browser)");
  return true;
}

/// Opens an HTML file in a window of the given width and returns what the probe (probe.js) saw. A
/// hanging browser is killed after two minutes.
inline nlohmann::json seen_in_browser(const fs::path& page, bool dark, int width) {
  TemporaryFolder folder;
  std::string html = bytes_of(page);
  const std::string head = "<head>";
  REQUIRE(contains(html, head));
  html.insert(html.find(head) + head.size(),
              "<script>" + bytes_of(source_folder() / "tests/experiments/probe.js") + "</script>");
  put_bytes(folder.path / "probed.html", html);
  Program browser(folder.path,
                  {"/usr/bin/timeout",
                   "--kill-after=5",
                   "60",
                   find_browser().value().string(),
                   "--headless",
                   "--no-sandbox",
                   "--disable-gpu",
                   "--disable-quic",
                   "--no-first-run",
                   "--disable-background-networking",
                   "--disable-component-update",
                   "--disable-sync",
                   "--disable-extensions",
                   "--disable-dev-shm-usage",
                   "--user-data-dir=" + (folder.path / "profile").string(),
                   "--window-size=" + std::to_string(width) + ",900",
                   std::string("--blink-settings=preferredColorScheme=") + (dark ? "0" : "1"),
                   "--virtual-time-budget=10000",
                   "--dump-dom",
                   "file://" + (folder.path / "probed.html").string()});
  const Program::Result result = browser.finish();
  REQUIRE_MESSAGE(result.code == 0, result.err);
  const std::size_t from = result.out.find("SEEN{"), to = result.out.rfind("}SEEN");
  REQUIRE_MESSAGE(to != std::string::npos, result.out.substr(0, 1000));
  return nlohmann::json::parse(result.out.substr(from + 4, to - from - 3));
}

/// Checks a report in a real browser, in light mode in a wide window and in dark mode in a narrow
/// one: no error, no request, all `charts` charts drawn on screen and in print, with words and
/// marks inside them, working tooltips and series switches, every figure reachable, and nothing
/// beyond the window's edge. Call skipped_without_browser() first.
inline void check_report_in_browser(const fs::path& report, std::size_t charts) {
  for (const bool dark : {false, true}) {
    CAPTURE(dark);
    const nlohmann::json seen = seen_in_browser(report, dark, dark ? 520 : 1200);
    CHECK(seen.at("errors") == nlohmann::json::array());
    REQUIRE(seen.contains("hostile"));  // the probe finished
    CHECK(seen.at("requests") == nlohmann::json::array());
    CHECK(seen.at("hostile") == "");
    CHECK(seen.at("dark") == dark);
    CHECK(seen.at("paper") == (dark ? "rgb(21, 23, 27)" : "rgb(255, 255, 255)"));
    CHECK(seen.at("printedPaper") == "rgb(255, 255, 255)");
    CHECK(seen.at("overflow") == 0);
    CHECK(seen.at("figures").size() == 2);
    for (const auto& table : seen.at("figures")) {
      CHECK(table.at("hidden") == 0);
      CHECK(table.at("header") == !dark);
      CHECK((table.at("titled") > 3) == dark);
    }
    for (const auto& swatch : seen.at("swatches")) CHECK(swatch == "beside");
    CHECK(seen.at("tables").size() == charts);
    for (const auto& table : seen.at("tables")) CHECK(table.at("rows") > 1);
    const std::string light_ink = "rgb(33, 37, 41)", dark_ink = "rgb(230, 232, 236)";
    for (const char* when : {"drawn", "printed", "again"}) {
      CAPTURE(when);
      CHECK(seen.at(when).size() == charts);
      const bool light = !dark || when == std::string("printed");
      for (const auto& svg : seen.at(when)) {
        CAPTURE(svg.at("id"));
        CHECK(svg.at("pixels") > 2000);
        CHECK(svg.at("colours") > 20);
        CHECK(svg.at("text").get<std::string>().size() > 20);
        CHECK(svg.at("cutOff") == nlohmann::json::array());
        CHECK(svg.at("ink") == (light ? light_ink : dark_ink));
      }
    }
    CHECK(seen.at("pointedAt").size() > 0);
    for (const auto& spot : seen.at("pointedAt")) {
      CAPTURE(spot.at("id"));
      CHECK(spot.at("text").get<std::string>().size() > 5);
    }
    CHECK(seen.at("switched").size() > 0);
    for (const auto& series : seen.at("switched")) {
      CAPTURE(series.at("id"));
      CHECK(series.at("before") > 0);
      CHECK(series.at("after") == 0);
      CHECK(series.at("again") == series.at("before"));
    }
    for (const auto& width : seen.at("images")) CHECK(width > 0);
    for (const auto& room : seen.at("roomBelow")) CHECK(room >= 64.0);
    const bool video = contains(bytes_of(report), "style=\"--rows: ");
    CHECK(seen.at("roomBelow").size() == (video ? 1 : 0));
    CHECK(seen.at("recordings") == 1);
  }
}

}  // namespace saccade
