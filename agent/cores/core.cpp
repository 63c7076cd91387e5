#include "agent/cores/core.h"

#include "base/error.h"
#include "base/name_table.h"
#include "nn/gemm.h"
#include "nn/layers.h"

namespace saccade {
namespace {

NameTable<CoreKind>& core_table() {
  static NameTable<CoreKind> table{
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

CoreMemory::CoreMemory(int steps_, int episodes, const CoreSizes& sizes,
                       std::unique_ptr<CoreExtension> extension_)
    : steps(steps_),
      features(sizes.features),
      hidden(sizes.hidden),
      input(zeros<3>(steps + 1, episodes, features + hidden)),
      dstate(zeros<3>(steps, episodes, hidden)),
      extension(std::move(extension_)) {}

void reorder_rows(Matrix rows, std::span<const int> parents) {
  Tensor<2> old = zeros<2>(rows.rows, rows.cols);
  copy_rows(matrix(old), rows);
  for (int r = 0; r < rows.rows; ++r) std::copy_n(&old(parents[r], 0), rows.cols, rows.row(r));
}

std::unique_ptr<Core> make_core(const std::string& kind, const std::string& name,
                                const CoreSizes& sizes, ParameterLayout& layout) {
  check_core(kind, sizes);
  return core_table().at(kind).make(name, sizes, layout);
}

void check_core(const std::string& kind, const CoreSizes& sizes) {
  if (const auto check_sizes = core_table().at(kind).check) check_sizes(sizes);
}

void Core::backward(std::span<float> gradient, Matrix dfeatures, CoreMemory& memory,
                    std::span<const float> parameters) const {
  for (int t = memory.steps - 1; t >= 0; --t) step_backward(memory, t, parameters);
  feature_backward(dfeatures, memory, 0, memory.steps, parameters);
  weight_backward(gradient, memory);
}

std::vector<std::string> core_kinds() { return core_table().names(); }
Remembers core_remembers(const std::string& kind) { return core_table().at(kind).remembers; }
void register_core(const std::string& name, const CoreKind& kind) {
  if (kind.make == nullptr)
    throw InputError("model.core: '" + name + "' cannot be registered: needed: make");
  core_table().add(name, kind);
}

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
