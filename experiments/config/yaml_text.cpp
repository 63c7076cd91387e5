#include "experiments/config/yaml_text.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>

#include <sstream>
#include <vector>

#include "base/error.h"
#include "base/printable.h"

namespace saccade {
namespace {

// Thrown for a text with more than kMostYamlValues.
struct TooMany {
  YAML::Mark mark;
};

// Collects where documents begin. Throws TooMany at the first value too many.
class Documents final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override { starts.push_back(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { count(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    count(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    count(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    count(mark);
  }
  void OnMapEnd() override {}

  std::vector<YAML::Mark> starts;

 private:
  void count(const YAML::Mark& mark) {
    if (++values_ > kMostYamlValues) throw TooMany{mark};
  }

  int values_ = 0;
};

}  // namespace

std::string place_in(const std::string& source, const YAML::Mark& mark, bool has_lines) {
  if (!has_lines || mark.is_null()) return source;
  return fmt::format("{}:{}:{}", source, mark.line + 1, mark.column + 1);
}

// Counts the documents first, because YAML::LoadAll never returns for some texts that are not YAML.
YAML::Node load_yaml(const std::string& text,
                     const std::function<std::string(const YAML::Mark&)>& place) {
  const auto fail = [&](const YAML::Mark& mark, const std::string& message) {
    throw InputError(place(mark) + ": " + message);
  };
  if (!is_utf8(text)) fail(YAML::Mark(), "is not UTF-8");
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    Documents documents;
    while (documents.starts.size() < 2 && parser.HandleNextDocument(documents)) {
    }
    if (documents.starts.size() > 1)
      fail(documents.starts[1], "a second YAML document ('---'); allowed: one");
    return YAML::Load(text);
  } catch (const TooMany& many) {
    fail(many.mark, fmt::format("more than {} keys and values", kMostYamlValues));
  } catch (const YAML::Exception& error) {
    fail(error.mark, "not valid YAML: " + abridged(error.msg));
  }
  return {};
}

void SeenKeys::add(const std::string& key, const YAML::Mark& mark, const std::string& source,
                   bool has_lines) {
  const auto [first, is_new] = lines_.emplace(key, mark.line + 1);
  if (is_new) return;
  throw InputError(
      fmt::format("{}: repeated key '{}'{}", place_in(source, mark, has_lines), abridged(key),
                  has_lines ? fmt::format("; line {} has it already", first->second) : ""));
}

}  // namespace saccade
