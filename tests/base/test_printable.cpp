#include "base/printable.h"

#include <doctest/doctest.h>

#include <string>

namespace saccade {
namespace {

TEST_CASE("is valid UTF-8 or not") {
  for (const std::string text : {"", "plain", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x91\x81",
                                 "\xf4\x8f\xbf\xbf", "\xed\x9f\xbf", "\xee\x80\x80"}) {
    CAPTURE(printable(text));
    CHECK(is_utf8(text));
  }
  const std::string faults[] = {
      "\xff",              // invalid byte
      "\x80",              // continuation byte without a start
      "caf\xc3",           // truncated
      "\xe2\x82",          // truncated
      "\xc3(",             // missing continuation
      "\xc0\xaf",          // overlong
      "\xe0\x80\xaf",      // overlong
      "\xf0\x80\x80\xaf",  // overlong
      "\xed\xa0\x80",      // a surrogate
      "\xf4\x90\x80\x80",  // beyond the last character
  };
  for (const std::string& text : faults) {
    CAPTURE(printable(text));
    CHECK_FALSE(is_utf8(text));
  }
}

TEST_CASE("a long text is abridged between characters, with its length") {
  CHECK(abridged(std::string(200, 'a')) == std::string(200, 'a'));
  CHECK(abridged(std::string(1'000'000, 'a')) ==
        std::string(150, 'a') + "... (1000000 characters) ..." + std::string(50, 'a'));
  CHECK(abridged("begin and end", 8) == "begin ... (13 characters) ...nd");
  std::string euros;
  for (int i = 0; i < 100; ++i) euros += "\xe2\x82\xac";
  for (std::size_t most = 0; most < euros.size(); ++most) {
    CAPTURE(most);
    CHECK(is_utf8(abridged(euros, most)));
    CHECK(abridged(euros, most).find("... (100 characters) ...") != std::string::npos);
  }
  CHECK(abridged(std::string(300, '\x80')).size() < 300);  // not UTF-8
}

TEST_CASE("control sequences of terminals are shown as bytes") {
  CHECK(printable("a\tb\nc\xc3\xa9") == "a\tb\nc\xc3\xa9");
  CHECK(printable("\x1b[31mred\x07\x7f\r") == "\\x1b[31mred\\x07\\x7f\\x0d");
  CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\xc2\x9b"
                  "31m") ==
        "\\xc2\\x9b"
        "31m");  // CSI as a single character
  CHECK(printable("\xe2\x80\xae"
                  "gpj") ==
        "\\xe2\\x80\\xae"
        "gpj");  // right-to-left override
  CHECK(printable("no\xff"
                  "n") ==
        "no\\xff"
        "n");
  CHECK(printable("\xc3\xc3\xa9") == "\\xc3\xc3\xa9");  // the next one is still seen
}

}  // namespace
}  // namespace saccade
