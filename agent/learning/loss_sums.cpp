#include "agent/learning/loss_sums.h"

#include <fmt/format.h>

#include <sstream>

#include "agent/learning/checkpoint.h"

namespace saccade {

std::span<const LossTerm> loss_terms() {
  static constexpr LossTerm kTerms[] = {
      {"episodes", &LossSums::episodes, false, nullptr},
      {"classifier loss", &LossSums::classifier, true, "train/classifier_loss"},
      {"reinforce loss", &LossSums::reinforce, true, "train/reinforce_loss"},
      {"baseline loss", &LossSums::baseline, true, "train/baseline_loss"},
      {"attention penalty", &LossSums::penalty, true, "train/attention_penalty"},
      {"entropy", &LossSums::entropy, false, "attention/entropy"},
      {"errors", &LossSums::errors, false, "train/error"},
      {"reward", &LossSums::reward, false, "train/reward"}};
  return kTerms;
}

LossSums& LossSums::operator+=(const LossSums& other) {
  for (const LossTerm& term : loss_terms()) this->*term.sum += other.*term.sum;
  return *this;
}

double LossSums::loss() const {
  double loss = 0.0;
  for (const LossTerm& term : loss_terms())
    if (term.minimised) loss += this->*term.sum;
  return loss;
}

std::string to_note(const LossSums& sums) {
  std::string note;
  for (const LossTerm& term : loss_terms())
    note += fmt::format("{}{}", note.empty() ? "" : " ", sums.*term.sum);
  return note;
}

LossSums loss_sums_of(const std::string& note) {
  LossSums sums;
  std::istringstream words(note);
  for (const LossTerm& term : loss_terms()) {
    std::string word;
    words >> word;
    sums.*term.sum = from_exact(word);
  }
  return sums;
}

}  // namespace saccade
