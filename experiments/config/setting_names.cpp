#include "experiments/config/setting_names.h"

#include <algorithm>
#include <map>

namespace saccade {
namespace {

// In bytes. Longer words are no misspelt name, and comparing them would take long.
constexpr std::size_t kLongestName = 100;

std::string last_word(const std::string& key) { return key.substr(key.rfind('.') + 1); }
std::string section_of(const std::string& key) {
  return key.substr(0, key.size() - last_word(key).size());
}

// Other names of settings that are common in the field.
const std::map<std::string, std::string>& aliases() {
  static const std::map<std::string, std::string> table = {
      {"lr", "training.learning_rate"},
      {"rate", "training.learning_rate"},
      {"epochs", "training.episodes"},
      {"steps", "training.episodes"},
      {"iterations", "training.episodes"},
      {"batch", "training.batch_size"},
      {"bs", "training.batch_size"},
      {"wd", "training.weight_decay"},
      {"clip", "training.max_grad_norm"},
      {"grad_clip", "training.max_grad_norm"},
      {"scheduler", "training.schedule"},
      {"gamma", "reinforce.discount"},
      {"lambda", "reinforce.trace"},
      {"gae_lambda", "reinforce.trace"},
      {"baseline", "reinforce.advantage"},
      {"glimpses", "attention.glimpse.num_glimpses"},
      {"sigma", "attention.glimpse.std"},
      {"tau", "attention.glimpse.temperature"},
      {"glimpse_size", "retina.patch_size"},
      {"patch", "retina.patch_size"},
      {"num_scales", "retina.scales"},
      {"num_patches", "retina.scales"},
      {"hidden_dim", "model.hidden_size"},
      {"rnn", "model.core"},
      {"cell", "model.core"},
      {"dataset", "data.source"},
      {"data_dir", "data.path"},
      {"image_size", "scene.canvas"},
      {"resume_from", "init_from"},
      {"pretrained", "init_from"}};
  return table;
}

// Levenshtein's distance with weights for typing errors: a missing letter costs little, because
// people abbreviate (`lr`), and a replaced one costs most.
double typing_distance(const std::string& typed, const std::string& key) {
  constexpr double kLeftOut = 0.2, kAdded = 1.5, kReplaced = 2.0;
  std::vector<double> row(key.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = kLeftOut * static_cast<double>(j);
  for (const char letter : typed) {
    double diagonal = row[0];
    row[0] += kAdded;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const double replaced = diagonal + (letter == key[j - 1] ? 0.0 : kReplaced);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + kAdded, row[j - 1] + kLeftOut});
    }
  }
  return row.back();
}

// Number of insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
std::size_t letters_apart(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> table(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      std::size_t& least = table[i][j];
      if (i == 0 || j == 0) {
        least = i + j;
        continue;
      }
      least = std::min({table[i - 1][j] + 1, table[i][j - 1] + 1,
                        table[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        least = std::min(least, table[i - 2][j - 2] + 1);
    }
  return table[a.size()][b.size()];
}

}  // namespace

std::string nearest_key(const std::string& given, const std::vector<std::string>& keys) {
  const std::string key = given.substr(0, kLongestName);
  if (const auto alias = aliases().find(key);
      alias != aliases().end() && std::ranges::find(keys, alias->second) != keys.end())
    return alias->second;
  constexpr double kElsewhere = 1.5;  // the cost of another section, however different
  const auto distance = [&](const std::string& candidate) {
    if (candidate.ends_with("." + key)) return 0.0;  // only its sections are missing
    return std::min(kElsewhere, typing_distance(section_of(key), section_of(candidate))) +
           typing_distance(last_word(key), last_word(candidate));
  };
  return *std::min_element(keys.begin(), keys.end(),
                           [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
}

std::optional<std::string> meant_key(const std::string& word,
                                     const std::vector<std::string>& keys) {
  if (std::ranges::find(keys, word) != keys.end()) return word;
  if (const auto alias = aliases().find(word); alias != aliases().end()) return alias->second;
  const auto found =
      std::ranges::find_if(keys, [&](const std::string& key) { return key.ends_with("." + word); });
  return found == keys.end() ? std::nullopt : std::optional(*found);
}

std::optional<std::string> nearest_word(const std::string& word,
                                        const std::vector<std::string>& words) {
  if (word.size() > kLongestName) return std::nullopt;
  std::optional<std::string> nearest;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;  // too many
  for (const std::string& candidate : words)
    if (const std::size_t letters = letters_apart(word, candidate);
        letters < std::min(least, candidate.size())) {
      least = letters;
      nearest = candidate;
    }
  return nearest;
}

std::string short_name(const std::string& key) {
  const std::size_t last = key.rfind('.');
  if (last == std::string::npos || last == 0) return key;
  const std::size_t before = key.rfind('.', last - 1);
  return before == std::string::npos ? key : key.substr(before + 1);
}

}  // namespace saccade
