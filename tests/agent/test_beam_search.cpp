// Beam search against exhaustive search.
#include "agent/answering/beam_search.h"

#include <doctest/doctest.h>

#include <functional>
#include <numeric>

#include "tests/agent/support.h"

namespace saccade {
namespace {

constexpr int kBeamSymbols = 4, kLongest = 4;  // V, J
constexpr int kEnd = kBeamSymbols - 1;
constexpr int kBeamSteps = 3, kStates = 5, kBeamEpisodes = 6;

// A decoder with random weights, and states of episodes of different lengths.
struct BeamSituation {
  BeamSituation(const std::string& core, const std::string& hidden, std::uint32_t seed)
      : config(make_config(core, hidden)),
        decoder(config.decoder, config.hidden, kBeamSymbols, kStates, kBeamSteps, layout),
        parameters(zeros<1>(layout.size())),
        states(zeros<2>(kBeamSteps * kBeamEpisodes, kStates)) {
    randomize(flat(parameters), layout, 1.0F, seed);
    RandomStream stream(seed, Purpose::scene, 0, 0);
    for (float& value : states) value = stream.normal();
    for (int b = 0; b < kBeamEpisodes; ++b) lengths.push_back(1 + (b + 1) % kBeamSteps);
  }

  static AgentConfig make_config(const std::string& core, const std::string& hidden) {
    AgentConfig config;
    config.decoder = {.core = core, .hidden_size = 6};
    config.hidden = {.kind = hidden, .attend = {.score_hidden = 4}};
    return config;
  }

  /// Returns the symbols (J) of these episodes, one after the other.
  std::vector<std::vector<int>> search(const std::vector<int>& episodes, int width) const {
    const int count = static_cast<int>(episodes.size());
    Tensor<2> own = zeros<2>(kBeamSteps * count, kStates);
    std::vector<int> own_lengths, said(count * kLongest, -1);
    for (const int b : episodes) own_lengths.push_back(lengths[b]);
    for (int t = 0; t < kBeamSteps; ++t)
      for (int i = 0; i < count; ++i)
        std::copy_n(&states(t * kBeamEpisodes + episodes[i], 0), kStates, &own(t * count + i, 0));
    beam_search(said, decoder, kLongest, width, matrix(own), own_lengths, kBeamSteps,
                flat(parameters));
    std::vector<std::vector<int>> all;
    for (int i = 0; i < count; ++i)
      all.emplace_back(said.begin() + i * kLongest, said.begin() + (i + 1) * kLongest);
    return all;
  }
  std::vector<std::vector<int>> search_all(int width) const {
    std::vector<int> episodes(kBeamEpisodes);
    std::iota(episodes.begin(), episodes.end(), 0);
    return search(episodes, width);
  }

  /// log p of each symbol, (J, V), for which the preceding ones are given.
  std::vector<std::vector<double>> log_probabilities(int b, const std::vector<int>& symbols) const {
    Tensor<2> own = zeros<2>(kBeamSteps, kStates);
    for (int t = 0; t < kBeamSteps; ++t)
      std::copy_n(&states(t * kBeamEpisodes + b, 0), kStates, &own(t, 0));
    DecoderMemory memory = decoder.make_memory(kLongest, 1);
    decoder.begin(memory, matrix(own), {&lengths[b], 1}, flat(parameters));
    std::vector<std::vector<double>> all;
    for (int j = 0; j < kLongest && j <= static_cast<int>(symbols.size()); ++j) {
      const int previous = j == 0 ? kEnd : symbols[j - 1];
      decoder.step(memory, j, {&previous, 1}, matrix(own), flat(parameters));
      all.emplace_back();
      for (int v = 0; v < kBeamSymbols; ++v)
        all[j].push_back(std::log(memory.probabilities(j, 0, v)));
    }
    return all;
  }
  /// log p of a sequence up to its end mark.
  double score(int b, const std::vector<int>& symbols) const {
    const std::vector<std::vector<double>> log_p = log_probabilities(b, symbols);
    double sum = 0.0;
    for (std::size_t j = 0; j < symbols.size(); ++j) {
      sum += log_p[j][symbols[j]];
      if (symbols[j] == kEnd) break;
    }
    return sum;
  }
  /// Naive beam search, one hypothesis after the other; greedy for width 1.
  std::vector<int> naive_beam(int b, std::size_t width) const {
    struct Hypothesis {
      double log_p;
      std::vector<int> symbols;
    };
    std::vector<Hypothesis> beam = {{0.0, {}}};
    for (int j = 0; j < kLongest; ++j) {
      std::vector<Hypothesis> longer;
      for (const Hypothesis& old : beam) {
        const auto add = [&](int symbol, double log_p) {
          longer.push_back({old.log_p + log_p, old.symbols});
          longer.back().symbols.push_back(symbol);
        };
        if (j > 0 && old.symbols.back() == kEnd) {
          add(kEnd, 0.0);
          continue;
        }
        const std::vector<double> log_p = log_probabilities(b, old.symbols).back();
        for (int symbol = 0; symbol < kBeamSymbols; ++symbol) add(symbol, log_p[symbol]);
      }
      std::ranges::stable_sort(longer, std::greater(), &Hypothesis::log_p);
      longer.resize(std::min(longer.size(), width));
      beam = longer;
    }
    return beam[0].symbols;
  }
  /// The best score of all sequences.
  double best_score(int b) const {
    double best = -INFINITY;
    int sequences = 1;
    for (int j = 0; j < kLongest; ++j) sequences *= kBeamSymbols;
    for (int number = 0; number < sequences; ++number) {
      std::vector<int> symbols;
      for (int j = 0, rest = number; j < kLongest; ++j, rest /= kBeamSymbols)
        symbols.push_back(rest % kBeamSymbols);
      best = std::max(best, score(b, symbols));
    }
    return best;
  }

  AgentConfig config;
  ParameterLayout layout;
  Decoder decoder;
  Tensor<1> parameters;
  Tensor<2> states;  // (T B, H)
  std::vector<int> lengths;
};

template <class Check>
void for_every_decoder(const Check& check) {
  for (const std::string& core : recurrent_core_kinds())
    for (const char* hidden : {"last", "mean", "attend"})
      for (const std::uint32_t seed : {1U, 2U, 3U, 4U}) {
        CAPTURE(core);
        CAPTURE(hidden);
        CAPTURE(seed);
        check(BeamSituation(core, hidden, seed));
      }
}

TEST_CASE("a beam as wide as the number of sequences finds the most probable one") {
  int better = 0;  // than greedy
  for_every_decoder([&](const BeamSituation& s) {
    const auto said = s.search_all(kBeamSymbols * kBeamSymbols * kBeamSymbols);
    for (int b = 0; b < kBeamEpisodes; ++b) {
      CAPTURE(b);
      const double best = s.best_score(b), greedy = s.score(b, s.naive_beam(b, 1));
      CHECK(s.score(b, said[b]) == doctest::Approx(best).epsilon(1e-5));
      CHECK(best >= greedy);
      better += best > greedy + 1e-3 ? 1 : 0;
    }
  });
  CHECK(better > 0);
}

TEST_CASE("a beam of any width agrees with a naive one, and wider beams are better on average") {
  double gain = 0.0;  // of a beam of three over greedy
  for_every_decoder([&](const BeamSituation& s) {
    for (const int width : {1, 2, 3, 6}) {
      CAPTURE(width);
      const auto said = s.search_all(width);
      for (int b = 0; b < kBeamEpisodes; ++b) {
        CAPTURE(b);
        CHECK(said[b] == s.naive_beam(b, width));
        if (width == 3) gain += s.score(b, said[b]) - s.score(b, s.naive_beam(b, 1));
      }
    }
  });
  CHECK(gain > 0.1);
}

TEST_CASE("after an end mark a beam outputs only end marks") {
  int ended = 0;
  for_every_decoder([&](const BeamSituation& s) {
    for (const int width : {1, 2, 5})
      for (const std::vector<int>& said : s.search_all(width)) {
        const auto end = std::ranges::find(said, kEnd);
        CHECK(std::all_of(end, said.end(), [](int symbol) { return symbol == kEnd; }));
        ended += end < said.end() - 1 ? 1 : 0;
      }
  });
  CHECK(ended > 0);
}

TEST_CASE("a beam's result does not depend on the episode's position in the batch") {
  for_every_decoder([&](const BeamSituation& s) {
    for (const int width : {2, 3}) {
      const auto all = s.search_all(width);
      const std::vector<int> order = {4, 0, 5, 5, 2};
      const auto others = s.search(order, width);
      for (std::size_t i = 0; i < order.size(); ++i) CHECK(others[i] == all[order[i]]);
      CHECK(s.search({3}, width)[0] == all[3]);
    }
  });
}

}  // namespace
}  // namespace saccade
