#include "experiments/runs/study.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/printable.h"
#include "experiments/config/preset.h"
#include "experiments/config/settings.h"
#include "experiments/config/unused_settings.h"
#include "experiments/config/yaml_text.h"
#include "experiments/runs/run_folder.h"

namespace saccade {
namespace {

constexpr int kMaxRuns = 10'000;

std::string to_text(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  YAML::Emitter emitter;
  emitter << YAML::Flow << node;
  return emitter.c_str();
}

// The value of a study key, and where it was set.
struct StudyEntry {
  YAML::Node node;
  std::string origin;  // a file, or "override '...'"
  bool has_lines = true;

  std::string place(const YAML::Node& of) const { return place_in(origin, of.Mark(), has_lines); }
  [[noreturn]] void fail(const YAML::Node& of, const std::string& message) const {
    throw InputError(place(of) + ": " + message);
  }
  void require_distinct_keys(const YAML::Node& map) const {
    SeenKeys seen;
    for (const auto& pair : map)
      seen.add(to_text(pair.first), pair.first.Mark(), origin, has_lines);
  }
};

using Assignments = std::vector<Assignment>;

// A variant or a part of one. `name` labels its assignments.
struct Variant {
  Assignments assignments;
  std::string name;                // empty: the label is made of the assignments
  std::vector<std::string> words;  // key=value of each labelled assignment
};
using Variants = std::vector<Variant>;

Assignment assignment(const YAML::Node& key, const YAML::Node& value, const StudyEntry& vary) {
  const std::string name = key.IsScalar() ? key.Scalar() : to_text(key);
  if (name == "seed" || name == "name" || name == "variant")
    vary.fail(key, fmt::format("vary: {} cannot be varied; seeds: [...] varies seeds, and {{name: "
                               "..., key.path: value}} names a variant",
                               name));
  return {name, to_text(value), vary.place(value)};
}

void add_assignment(Variant& variant, Assignment assignment) {
  variant.words.push_back(assignment.key + "=" + assignment.value);
  variant.assignments.push_back(std::move(assignment));
}

void name_variant(Variant& variant, const YAML::Node& name, const StudyEntry& vary) {
  if (!name.IsScalar() || !is_word(name.Scalar()))
    vary.fail(name,
              fmt::format("vary: name: '{}' cannot name a folder; allowed: up to 100 letters, "
                          "digits, '.', '_' and '-', the first a letter or digit",
                          abridged(to_text(name))));
  variant.name = name.Scalar();
}

Variant joined(Variant variant, const Variant& next) {
  variant.assignments.insert(variant.assignments.end(), next.assignments.begin(),
                             next.assignments.end());
  variant.words.insert(variant.words.end(), next.words.begin(), next.words.end());
  variant.name += (variant.name.empty() || next.name.empty() ? "" : "-") + next.name;
  return variant;
}

// Returns every combination of one variant from each list; the last list varies fastest.
Variants combinations(const std::vector<Variants>& lists, const StudyEntry& vary) {
  Variants product(1);
  for (const Variants& list : lists) {
    if (product.size() * list.size() > kMaxRuns)
      vary.fail(vary.node, fmt::format("vary: more than {} variants", kMaxRuns));
    Variants longer;
    for (const Variant& before : product)
      for (const Variant& one : list) longer.push_back(joined(before, one));
    product = std::move(longer);
  }
  return product;
}

// Returns a variant for each value of a key.
Variants values_of_key(const YAML::Node& key, const YAML::Node& values, const StudyEntry& vary) {
  if (!values.IsSequence() || values.size() == 0)
    vary.fail(key, fmt::format("vary: {}: allowed: a list of one value and more",
                               abridged(to_text(key))));
  Variants variants;
  for (const YAML::Node& value : values)
    add_assignment(variants.emplace_back(), assignment(key, value, vary));
  return variants;
}

Variants listed(const YAML::Node& list, const StudyEntry& vary) {
  Variants variants;
  for (const YAML::Node& item : list) {
    if (!item.IsMap())
      vary.fail(item, "vary: allowed in its list: {key.path: value, ...}, or lists of them alone");
    vary.require_distinct_keys(item);
    Variant& variant = variants.emplace_back();
    for (const auto& pair : item)
      if (pair.first.IsScalar() && pair.first.Scalar() == "name")
        name_variant(variant, pair.second, vary);
      else
        add_assignment(variant, assignment(pair.first, pair.second, vary));
    if (!variant.name.empty()) variant.words.clear();
  }
  return variants;
}

// Lists are combined, so a key in two of them would get two values.
void refuse_shared_keys(const std::vector<Variants>& lists) {
  std::map<std::string, std::size_t> owners;  // key -> its list
  for (std::size_t i = 0; i < lists.size(); ++i)
    for (const Variant& variant : lists[i])
      for (const Assignment& a : variant.assignments)
        if (owners.emplace(a.key, i).first->second != i)
          throw InputError(
              fmt::format("{}: vary: {} stands in two lists that are combined; "
                          "allowed: in one of them",
                          a.place, abridged(a.key)));
}

Variants list_variants(const StudyEntry& vary) {
  const bool is_list = vary.node.IsSequence();
  if ((!vary.node.IsMap() && !is_list) || vary.node.size() == 0)
    vary.fail(vary.node,
              "vary: an empty study; allowed: key.path: [value, ...], a list of "
              "{key.path: value, ...}, or a list of such lists");
  std::vector<Variants> lists;
  if (!is_list) {
    vary.require_distinct_keys(vary.node);
    for (const auto& pair : vary.node)
      lists.push_back(values_of_key(pair.first, pair.second, vary));
    return combinations(lists, vary);
  }
  if (!vary.node[0].IsSequence()) return listed(vary.node, vary);
  for (const YAML::Node& list : vary.node) {
    if (!list.IsSequence() || list.size() == 0)
      vary.fail(list, "vary: allowed in its list of lists: [{key.path: value, ...}, ...]");
    lists.push_back(listed(list, vary));
  }
  refuse_shared_keys(lists);
  return combinations(lists, vary);
}

std::vector<std::string> list_seeds(const StudyEntry& seeds) {
  const auto fail = [&] {
    seeds.fail(seeds.node,
               fmt::format("seeds: '{}'; allowed: an integer from 1 to {}, or a list of seeds",
                           abridged(to_text(seeds.node)), kMaxRuns));
  };
  std::vector<std::string> list;
  if (seeds.node.IsScalar()) {
    const auto count = parse_integer(seeds.node.Scalar());
    if (!count || *count < 1 || *count > kMaxRuns) fail();
    for (int seed = 1; seed <= *count; ++seed) list.push_back(std::to_string(seed));
    return list;
  }
  if (!seeds.node.IsSequence() || seeds.node.size() == 0) fail();
  for (const YAML::Node& seed : seeds.node) {
    const auto number = seed.IsScalar() ? parse_integer(seed.Scalar()) : std::nullopt;
    if (!number) fail();
    list.push_back(std::to_string(*number));  // normalises 01 to 1
  }
  if (std::set(list.begin(), list.end()).size() != list.size()) fail();
  return list;
}

// Returns the keys that the variants are tuned by; every variant must assign each of them.
std::vector<std::string> list_tuned_keys(const StudyEntry& tuned_by, const Variants& variants) {
  std::vector<std::string> keys;
  const auto add = [&](const YAML::Node& node) {
    const std::string key = to_text(node);
    const auto is_it = [&](const Assignment& a) { return a.key == key; };
    for (const Variant& variant : variants)
      if (std::ranges::none_of(variant.assignments, is_it))
        tuned_by.fail(node, fmt::format("tuned_by: '{}' is not varied; allowed: a key that every "
                                        "variant of vary has, or a list of them",
                                        abridged(key)));
    keys.push_back(key);
  };
  if (tuned_by.node.IsSequence())
    for (const YAML::Node& node : tuned_by.node) add(node);
  else
    add(tuned_by.node);
  return keys;
}

[[noreturn]] void refuse_seed(const std::string& place) {
  throw InputError(place + ": seed has no effect with seeds; allowed: one of the two");
}

// Returns the override's name for messages.
std::string place_of(const std::string& override) {
  return "override '" + abridged(override) + "'";
}

// Returns the values that "key=a,b" or "key=[a, b]" lists for a setting with one value, and
// "key=[a, b],[c, d]" for a setting with a list; nothing for an override with a single value.
std::optional<YAML::Node> listed_values(const std::string& override) {
  const std::size_t equals = std::min(override.find('='), override.size() - 1);
  const Setting* setting = find_setting(override.substr(0, equals));
  if (setting == nullptr || std::holds_alternative<Text>(setting->allowed)) return std::nullopt;
  try {
    const YAML::Node values = YAML::Load("[" + override.substr(equals + 1) + "]");
    if (values.size() > 1) return values;
    if (values.size() == 1 && values[0].IsSequence() && !takes_list(*setting)) return values[0];
  } catch (const YAML::Exception&) {  // the configuration parser reports the error
  }
  return std::nullopt;
}

// Extracts the study's keys from the file, then from the overrides, and removes them from both.
struct StudyKeys {
  StudyKeys(const YAML::Node& file, const std::string& origin,
            std::vector<std::string>& overrides) {
    if (file["vary"]) vary = {file["vary"], origin};
    if (file["seeds"]) seeds = {file["seeds"], origin};
    if (file["tuned_by"]) tuned_by = {file["tuned_by"], origin};
    if (seeds && file["seed"]) refuse_seed(seeds->place(file["seed"]));
    std::erase_if(overrides, [&](const std::string& override) {
      return take(vary, "vary=", override) || take(seeds, "seeds=", override) ||
             take(tuned_by, "tuned_by=", override) || take_list(override);
    });
  }

  std::optional<StudyEntry> vary, seeds, tuned_by;
  std::vector<Variants> lists;  // of overrides that list values of a setting, in order

 private:
  static bool take(std::optional<StudyEntry>& entry, const std::string& key,
                   const std::string& override) {
    if (!override.starts_with(key)) return false;
    const std::string place = place_of(override);
    entry = {load_yaml(override.substr(key.size()), [&](const YAML::Mark&) { return place; }),
             place, false};
    return true;
  }

  bool take_list(const std::string& override) {
    const std::optional<YAML::Node> values = listed_values(override);
    if (!values) return false;
    const StudyEntry entry{*values, place_of(override), false};
    const YAML::Node key(override.substr(0, override.find('=')));
    lists.push_back(values_of_key(key, *values, entry));
    return true;
  }
};

void refuse_overridden(const Assignments& variant, const std::vector<std::string>& overrides) {
  for (const std::string& override : overrides)
    for (const Assignment& assignment : variant)
      if (override.starts_with(assignment.key + "="))
        throw InputError(fmt::format("{}: {} is varied at {}; vary={{...}} replaces that",
                                     place_of(override), assignment.key, assignment.place));
}

// Returns whether a variant assigns a setting that has no effect given its other settings.
bool assigns_unread(const Assignments& variant, const Config& config) {
  return std::ranges::any_of(variant, [&](const Assignment& assignment) {
    return unmet_need(*find_setting(assignment.key), config).has_value();
  });
}

}  // namespace

std::vector<const Config*> configs_of(const Study& study) {
  std::vector<const Config*> configs;
  for (const StudyRun& run : study.runs) configs.push_back(&run.config);
  return configs;
}

Study read_study(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
  const std::filesystem::path file = find_experiment(path);
  return parse_study(read_config_text(file), file.string(), {}, overrides);
}

Study parse_study(const std::string& text, const std::string& origin, const Assignments& given,
                  const std::vector<std::string>& given_overrides) {
  std::vector<std::string> overrides = given_overrides;
  const ExperimentFile file(text, origin);
  const StudyKeys keys(file.document(), origin, overrides);
  std::vector<Variants> lists = keys.lists;
  if (keys.vary) lists.insert(lists.begin(), list_variants(*keys.vary));
  refuse_shared_keys(lists);
  const Variants variants = combinations(lists, keys.vary.value_or(StudyEntry{{}, origin, false}));
  if (keys.seeds && variants.size() * list_seeds(*keys.seeds).size() > kMaxRuns)
    keys.seeds->fail(keys.seeds->node, fmt::format("seeds: more than {} runs", kMaxRuns));
  if (keys.seeds)
    for (const std::string& override : overrides)
      if (override.starts_with("seed="))
        throw InputError(
            fmt::format("{}: the study has seeds; seeds=[...] replaces them", place_of(override)));
  if (keys.seeds)
    for (const Assignment& assignment : given)
      if (assignment.key == "seed") refuse_seed(assignment.place);

  Study study;
  study.single = !keys.vary && !keys.seeds && !keys.tuned_by && keys.lists.empty();
  if (keys.tuned_by) study.tuned_by = list_tuned_keys(*keys.tuned_by, variants);
  std::map<std::filesystem::path, std::size_t> folders;  // the run that has each
  for (const Variant& variant : variants) {
    refuse_overridden(variant.assignments, overrides);
    std::vector<std::string> words = variant.words;
    words.insert(words.end(), overrides.begin(), overrides.end());
    const auto add = [&](const Assignments& own) {
      Assignments assignments = given;
      assignments.insert(assignments.end(), own.begin(), own.end());
      if (!variant.name.empty())
        assignments.push_back({"variant", variant.name, keys.vary->place(keys.vary->node)});
      StudyRun run{.folder = {}, .config = file.run(assignments, overrides)};
      run.folder = run_folder_below(run.config, words);
      const auto [first, is_new] = folders.emplace(run.folder, study.runs.size());
      if (!is_new) {
        // The same run, but for a setting that has no effect.
        if (assigns_unread(own, run.config) &&
            differences(study.runs[first->second].config, run.config).empty())
          return;
        throw InputError(
            fmt::format("{}: two variants would share the folder {}",
                        own.empty() ? keys.vary->place(keys.vary->node) : own.front().place,
                        run.folder.string()));
      }
      study.runs.push_back(std::move(run));
    };
    if (!keys.seeds)
      add(variant.assignments);
    else
      for (const std::string& seed : list_seeds(*keys.seeds)) {
        Assignments seeded = variant.assignments;
        seeded.push_back({"seed", seed, keys.seeds->place(keys.seeds->node)});
        add(seeded);
      }
  }
  study.name = study.runs.front().config.name;
  return study;
}

}  // namespace saccade
