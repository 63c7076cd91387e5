#include "agent/cores/core.h"

#include "nn/gemm.h"
#include "nn/layers.h"
#include "nn/name_table.h"

namespace saccade {
namespace {

using Maker = std::unique_ptr<Core> (*)(const std::string& name, const CoreSizes& sizes,
                                        ParameterLayout& layout);

void check_nothing(const CoreSizes&) {}

struct Kind {
  Maker make;
  void (*check)(const CoreSizes& sizes) = check_nothing;
  Remembers remembers = Remembers::in_its_state;
};

const NameTable<Kind>& kinds() {
  static const NameTable<Kind> table{
      "model.core",
      {{"rnn", {make_rnn}},
       {"lstm", {make_lstm}},
       {"gru", {make_gru}},
       {"feedforward", {.make = make_feedforward, .remembers = Remembers::nothing}},
       {"attention",
        {.make = make_attention, .check = check_attention, .remembers = Remembers::all_it_read}}}};
  return table;
}

}  // namespace

CoreMemory::CoreMemory(int steps_, int episodes, int features_, int hidden_, int gates_,
                       bool has_cell)
    : steps(steps_),
      features(features_),
      hidden(hidden_),
      input(zeros<3>(steps + 1, episodes, features + hidden)),
      gates(zeros<3>(steps, episodes, gates_)),
      cell(zeros<3>(steps + 1, episodes, has_cell ? hidden : 0)),
      dstate(zeros<3>(steps, episodes, hidden)),
      dgates(zeros<3>(steps, episodes, gates_)),
      dcell(zeros<2>(episodes, has_cell ? hidden : 0)) {}

std::unique_ptr<Core> make_core(const std::string& kind, const std::string& name,
                                const CoreSizes& sizes, ParameterLayout& layout) {
  check_core(kind, sizes);
  return kinds().at(kind).make(name, sizes, layout);
}

void check_core(const std::string& kind, const CoreSizes& sizes) { kinds().at(kind).check(sizes); }

void Core::backward(std::span<float> gradient, Matrix dfeatures, CoreMemory& memory,
                    std::span<const float> parameters) const {
  for (int t = memory.steps - 1; t >= 0; --t) step_backward(memory, t, parameters);
  feature_backward(dfeatures, memory, 0, memory.steps, parameters);
  weight_backward(gradient, memory);
}

std::vector<std::string> core_kinds() { return kinds().names(); }
Remembers core_remembers(const std::string& kind) { return kinds().at(kind).remembers; }

std::vector<std::string> recurrent_core_kinds() {
  std::vector<std::string> names = core_kinds();
  std::erase_if(names, [](const std::string& kind) {
    return core_remembers(kind) != Remembers::in_its_state;
  });
  return names;
}

void input_weight_backward(Matrix dw, Matrix db, ConstMatrix dz, CoreMemory& memory) {
  const int first = memory.episodes();
  linear_backward(dw.row_range(0, memory.features), db, dz, memory.all_features());
  multiply_transposed_a(dw.row_range(memory.features, memory.hidden),
                        memory.all_states().row_range(first, memory.rows() - first),
                        dz.row_range(first, memory.rows() - first));
}

void multiply_input(Matrix z, CoreMemory& memory, int t, ConstMatrix w) {
  if (t == 0)
    multiply(z, memory.feature(0), w.row_range(0, memory.features));
  else
    multiply(z, step(memory.input, t), w);
}

}  // namespace saccade
