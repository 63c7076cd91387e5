#include <fmt/format.h>

#include "attention/hidden.h"
#include "base/error.h"
#include "base/name_table.h"
#include "nn/layers.h"

namespace saccade {
namespace {

enum class Query { none, mean, last };

const NameTable<Query>& queries() {
  static const NameTable<Query> table{
      "attention.hidden.query",
      {{"none", Query::none}, {"mean", Query::mean}, {"last", Query::last}}};
  return table;
}

// The outputs, and whether each contains the last state besides the context.
const NameTable<bool>& outputs() {
  static const NameTable<bool> table{"attention.hidden.output",
                                     {{"context_and_last", true}, {"context", false}}};
  return table;
}

struct AttendExtension final : HiddenExtension {
  AttendExtension(AttendMemory memory, int steps, int episodes, int query, int state)
      : attend(std::move(memory)),
        mask(zeros<2>(episodes, steps)),
        dcontext(zeros<2>(episodes, state)),
        query_states(zeros<3>(steps, episodes, query)),
        dquery(zeros<2>(episodes, query)) {}

  AttendMemory attend;
  Tensor<2> mask;          // (B, T): of the current read
  Tensor<2> dcontext;      // (B, H)
  Tensor<3> query_states;  // (T, B, H): if there is a query
  Tensor<2> dquery;        // (B, H)
};

class HiddenAttend final : public HiddenAttention {
 public:
  HiddenAttend(const HiddenConfig& config, const std::string& name, int state_size, int steps,
               ParameterLayout& layout)
      : HiddenAttention(config, state_size, steps),
        query_(queries().at(config.query)),
        with_last_(output_has_last(config.output)),
        attend_(name, config.attend, query_size(), state_size, layout) {}

  int output_size() const override { return (with_last_ ? 2 : 1) * state_size_; }

  HiddenMemory make_memory(int steps, int episodes) const override {
    HiddenMemory memory(steps, episodes, 1);
    memory.extension = std::make_unique<AttendExtension>(
        attend_.make_memory(steps, episodes, steps, KeyOrder::by_step), steps, episodes,
        query_size(), state_size_);
    return memory;
  }

  void prepare(HiddenMemory& memory, ConstMatrix values, std::span<const int> lengths,
               std::span<const float> parameters) const override {
    HiddenAttention::prepare(memory, values, lengths, parameters);
    attend_.prepare(extension(memory).attend, values, parameters);
  }

  void forward(Matrix output, HiddenMemory& memory, int t, ConstMatrix values,
               std::span<const float> parameters) const override {
    AttendExtension& own = extension(memory);
    write_masks(own, memory, t);
    query_forward(own, memory, t, values);
    attend_.forward(output.columns(0, state_size_), own.attend, t, query(own, t), values,
                    matrix(own.mask), parameters);
    copy_rows(step(memory.weights, t), step(own.attend.weights, t));
    for (int b = 0; b < memory.episodes; ++b) {
      if (count(memory, t, b) == 0) {
        std::fill_n(&memory.weights(t, b, 0), memory.steps, 0.0F);
        std::fill_n(output.row(b), state_size_, 0.0F);
      }
      if (with_last_)
        std::copy_n(last(values, memory, t, b), state_size_, output.row(b) + state_size_);
    }
  }

  double backward(Matrix dvalues, HiddenMemory& memory, int t, ConstMatrix doutput,
                  ConstMatrix values, float, std::span<const float> parameters) const override {
    AttendExtension& own = extension(memory);
    write_masks(own, memory, t);
    for (int b = 0; b < memory.episodes; ++b) {
      if (count(memory, t, b) == 0)
        std::fill_n(&own.dcontext(b, 0), state_size_, 0.0F);
      else
        std::copy_n(doutput.row(b), state_size_, &own.dcontext(b, 0));
      if (with_last_)
        add(last_row(dvalues, memory, t, b),
            doutput.columns(state_size_, state_size_).row_range(b, 1));
    }
    own.dquery.fill(0.0F);
    attend_.backward(matrix(own.dquery), dvalues, own.attend, t, matrix(own.dcontext),
                     query(own, t), values, matrix(own.mask), parameters);
    query_backward(dvalues, own, memory, t);
    return 0.0;
  }

  void finish(std::span<float> gradient, Matrix dvalues, HiddenMemory& memory, int first,
              ConstMatrix values, std::span<const float> parameters) const override {
    AttendExtension& own = extension(memory);
    attend_.finish(gradient, dvalues, own.attend, first, matrix(own.query_states), values,
                   parameters);
  }

  Work work(int steps, int reads) const override { return attend_.work(reads, steps); }

 private:
  int query_size() const { return query_ == Query::none ? 0 : state_size_; }

  static AttendExtension& extension(HiddenMemory& memory) {
    return static_cast<AttendExtension&>(*memory.extension);
  }
  ConstMatrix query(const AttendExtension& own, int t) const {
    return query_ == Query::none ? ConstMatrix{} : step(own.query_states, t);
  }

  template <class T>
  static MatrixView<T> last_row(MatrixView<T> values, const HiddenMemory& memory, int t, int b) {
    return states(values, memory, t, b).row_range(length(memory, t, b) - 1, 1);
  }
  static const float* last(ConstMatrix values, const HiddenMemory& memory, int t, int b) {
    return last_row(values, memory, t, b).data;
  }

  // Attend needs at least one allowed state. If none is allowed, allows the first; the result is
  // replaced by zeros.
  void write_masks(AttendExtension& own, const HiddenMemory& memory, int t) const {
    for (int b = 0; b < memory.episodes; ++b) {
      write_mask(&own.mask(b, 0), memory, t, b);
      if (count(memory, t, b) == 0) own.mask(b, 0) = 1.0F;
    }
  }

  void query_forward(AttendExtension& own, const HiddenMemory& memory, int t,
                     ConstMatrix values) const {
    if (query_ == Query::none) return;
    for (int b = 0; b < memory.episodes; ++b) {
      float* query = &own.query_states(t, b, 0);
      if (query_ == Query::mean)
        mean_forward(query, memory, t, b, values);
      else
        std::copy_n(last(values, memory, t, b), state_size_, query);
    }
  }

  void query_backward(Matrix dvalues, AttendExtension& own, const HiddenMemory& memory,
                      int t) const {
    if (query_ == Query::none) return;
    const ConstMatrix dquery = matrix(own.dquery);
    for (int b = 0; b < memory.episodes; ++b) {
      if (query_ == Query::mean)
        mean_backward(dvalues, memory, t, b, dquery.row(b));
      else
        add(last_row(dvalues, memory, t, b), dquery.row_range(b, 1));
    }
  }

  Query query_;
  bool with_last_;
  Attend attend_;
};

}  // namespace

std::vector<std::string> hidden_queries() { return queries().names(); }
std::vector<std::string> hidden_outputs() { return outputs().names(); }
bool output_has_last(const std::string& output) { return outputs().at(output); }

void check_hidden_attend(const HiddenConfig& config) {
  constexpr int kWidth = 1;  // any equal value: query and values are both states
  check(config.attend, kWidth, kWidth);
  const Query query = queries().at(config.query);
  outputs().at(config.output);
  const std::string& score = config.attend.score;
  if (query == Query::none && score_needs_query(score)) {
    std::vector<std::string> others = score_kinds();
    std::erase_if(others, score_needs_query);
    throw SettingError(
        {"attention.hidden.query", "attention.hidden.score"},
        fmt::format("attention.hidden.query: none, but attention.hidden.score: {} needs one; "
                    "allowed: mean or last, or the score {}",
                    score, join(others)));
  }
  if (query != Query::none && !score_needs_query(score))
    throw SettingError(
        {"attention.hidden.query", "attention.hidden.score"},
        fmt::format("attention.hidden.query: {}, but attention.hidden.score: {} takes none; "
                    "allowed: none, or another score",
                    config.query, score));
}

std::unique_ptr<HiddenAttention> make_hidden_attend(const HiddenConfig& config,
                                                    const std::string& name, int state_size,
                                                    int steps, ParameterLayout& layout) {
  return std::make_unique<HiddenAttend>(config, name, state_size, steps, layout);
}

}  // namespace saccade
