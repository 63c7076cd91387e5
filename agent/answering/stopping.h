#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/spec/config.h"
#include "agent/spec/episode.h"
#include "env/environment.h"
#include "nn/linear_head.h"
#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// What is known about an attention.glimpse.stop before a model exists.
struct StopKind {
  bool stops = false;     // may answer before the last look
  bool sampled = false;   // learns when, by REINFORCE of sampled decisions
  bool expected = false;  // learns when, by backpropagation of an exact expectation
  double threshold = 0;   // used where attention.glimpse.stop_threshold is 0; in (0, 1)

  /// Whether it has parameters; else it stops by the probability of the answer.
  bool learned() const { return sampled || expected; }
};

/// When an agent that may take T looks answers. After look t = 0 .. T - 1 it stops with probability
/// lambda_t, if it came so far; after the last one it always does.
///
/// `none`: lambda_t = 0 before the last look.
/// `confidence`: training is that of `none`; afterwards lambda_t = 1 if the probability of the
/// answer then is above the threshold, else 0. The answer is the most probable class, or the whole
/// sequence with its end mark.
/// `sampled`: lambda_t = sigmoid(h_{t+1} w + c + v m_t), of the state after the look and of the log
/// odds of the most probable class then, m_t = log(p / (1 - p)). Of sequences v m_t is left out: it
/// would take a decoding after every look. The decision is drawn and learned by REINFORCE; each
/// look after the first costs a price. `expected`: the same lambda_t. The loss is its exact
/// expectation over the time of stopping (PonderNet: Banino, Balaguer and Blundell 2021), with a
/// prior on that time.
///
/// Where they are not drawn, the learned kinds stop after the first look by which the probability
/// of having stopped, 1 - prod_{j <= t} (1 - lambda_j), is above the threshold: a quantile of
/// the distribution that was trained, the median at 0.5. (lambda_t alone is conditional. It can
/// stay below any threshold while the agent has stopped almost surely.)
///
/// Throws InputError listing the names.
const StopKind& find_stop_kind(const std::string& name);
std::vector<std::string> stop_kinds();

/// Throws SettingError if an agent that takes `num_glimpses` looks and gives an answer of this kind
/// cannot stop early.
void check_stop(const GlimpseConfig& config, AnswerKind answer);

/// The decisions to stop of B episodes, (T, B) each. No data: they take all looks.
struct StopCredit {
  ConstMatrix chances;  // c_t: of ending after look t, if the episode came so far: 0 or 1 if it was
                        // drawn, else lambda_t; 1 after the last look
  ConstMatrix reach;    // prod_{j < t} (1 - c_j): of coming to look t
  ConstMatrix rewards;  // sampled: what it earns to stop after look t, beyond what the look earned
};

/// The losses of stopping, summed over episodes.
struct StopLoss {
  double reinforce = 0.0;  // sampled: - weight sum_t A_t log pi(c_t) - entropy bonus
  double penalty = 0.0;    // expected: price x (looks - 1) + prior_weight x KL
};

/// The settings of a stop and its head, if it is learned. Stateless.
class StopRule {
 public:
  /// Parameters `stop.weight` (H, 1), `stop.bias` and, if it `reads_odds`, `stop.sureness` v (1,
  /// 1), if it is learned. An agent that knows nothing begins with lambda_t < 1 / T, so that all
  /// looks are tried, and one that is sure stops: v begins at 1 and c at the log odds of 1 / T.
  StopRule(const AgentConfig& config, int state_size, int steps, bool reads_odds,
           ParameterLayout& layout);

  const StopKind& kind() const { return *kind_; }
  double price() const { return price_; }
  /// In (0, 1).
  double threshold() const { return threshold_; }

  /// Multiply-adds of one episode.
  Work work() const;

 private:
  friend class StopPass;

  const StopKind* kind_;
  double price_, threshold_, prior_, prior_weight_, answer_weight_;
  int state_size_, steps_;
  std::optional<LinearHead> head_;
  const ParameterLayout* layout_;
  int sureness_ = -1;  // v; -1: it does not read the log odds
};

/// The rule of an agent that may answer before its last look, else none.
std::optional<StopRule> make_stop_rule(const AgentConfig& config, int state_size, int steps,
                                       bool reads_odds, ParameterLayout& layout);

/// The decisions of B episodes, and their backward pass. Allocates nothing after construction.
class StopPass {
 public:
  /// Keeps a reference to `parts`.
  StopPass(const StopRule& parts, int steps, int episodes);

  /// Whether episodes that are played like this may end before the last look.
  bool acts_in(SamplingMode sampling) const;

  /// Decides after every look, from the states h_1 .. h_T (T B, H) and from how sure the answer is
  /// then, (T, B), of which the last row is not read: its probability for `confidence`, its log
  /// odds m_t for a head that reads them, no data for another one. A decision is drawn after every
  /// look, whether the episode came so far or not, so that every one has a return.
  void decide(ConstMatrix states, ConstMatrix sureness, const StepContext& now);

  // After decide:

  /// The number of looks after which episode b answered, 1 .. T: of a deterministic episode, the
  /// first after which stopped_by, or the probability of the answer, is above the threshold.
  int stopped_at(int b) const { return stopped_at_[b]; }
  /// c_t and the probability of coming to look t, (T, B): see StopCredit.
  ConstMatrix chances() const { return matrix(chances_); }
  ConstMatrix reach() const { return matrix(reach_); }
  /// p_t = c_t prod_{j < t} (1 - c_j): of answering after look t (Banino et al. 2021, equation 3;
  /// the last look takes the rest).
  float share(int t, int b) const { return reach_(t, b) * chances_(t, b); }
  /// 1 - prod_{j <= t} (1 - c_j): of having stopped after look t.
  float stopped_by(int t, int b) const { return 1.0F - reach_(t, b) * (1.0F - chances_(t, b)); }

  /// Overwrites the gradients of the head.
  ///
  /// sampled: of - weight sum_t A_t log pi(c_t) - entropy bonus, with the advantages credit.stops.
  /// The states and the log odds are constants.
  ///
  /// expected: of sum_t p_t L_t + price sum_t t p_t + beta KL(p || q), where L_t is
  /// `losses` (T, B), the cross-entropy after look t, with the weight of an answer's, and
  /// q_t = prior (1 - prior)^t is geometric, truncated like p: the last look takes the rest (Banino
  /// et al. 2021, equation 4, and a price). Then KL(p || q) = sum_{t < T - 1} prod_{j < t}
  /// (1 - lambda_j) KL(lambda_t || prior), of two Bernoulli variables each: it is 0 only where
  /// every lambda_t is the prior. Adds the gradients of the states to dstates (T B, H). That of m_t
  /// is dlog_odds; those of L_t are not its part.
  StopLoss backward(std::span<float> gradient, Matrix dstates, const Credit& credit,
                    ConstMatrix losses, ConstMatrix states, ConstMatrix sureness,
                    std::span<const float> parameters);
  /// After backward of an expected stop: the gradient of m_t, t < T - 1.
  double dlog_odds(int t, int b) const { return static_cast<double>(dlogits_(t, b)) * slope_; }

 private:
  int steps() const { return static_cast<int>(logits_.shape()[0]); }
  int episodes() const { return static_cast<int>(stopped_at_.size()); }
  /// Rows of all looks but the last, ((T - 1) B, 1).
  Matrix decided(Tensor<2>& logits) const;
  void write_halting(ConstMatrix states, ConstMatrix log_odds, std::span<const float> parameters);
  void slope_backward(std::span<float> gradient, ConstMatrix log_odds) const;
  void draw(const StepContext& now);
  void follow_confidence(ConstMatrix probabilities);
  void find_stops();
  StopLoss sampled_backward(const Credit& credit);
  StopLoss expected_backward(ConstMatrix losses, float scale);

  const StopRule& parts_;
  std::vector<int> stopped_at_;  // (B)
  Tensor<2> logits_, dlogits_;   // (T, B): of lambda_t
  Tensor<2> chances_, reach_;    // (T, B)
  float slope_ = 0.0F;           // v
};

}  // namespace saccade
