// A safetensors file, and how a checkpoint reads it.

#include "agent/learning/checkpoint.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support.h"

namespace saccade::fuzz {
namespace {

ParameterLayout two_parameters() {
  ParameterLayout layout;
  layout.add("a.weight", 2, 3, constant(0.0F));
  layout.add("a.bias", 1, 3, constant(0.0F));
  return layout;
}

}  // namespace
}  // namespace saccade::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace saccade;
  static const TemporaryFolder folder;
  static const ParameterLayout layout = fuzz::two_parameters();
  const std::filesystem::path path = folder.path / "input.safetensors";
  fuzz::put_file(path, fuzz::Input(data, size).rest());
  fuzz::takes([&] { read_safetensors(path).find("a.bias"); });
  fuzz::takes([&] {
    const Checkpoint checkpoint(path);
    auto parameters = Tensor<1>::from_shape({layout.size()});
    fuzz::takes([&] { checkpoint.config_yaml(); });
    fuzz::takes([&] { checkpoint.updates(); });
    fuzz::takes([&] { checkpoint.restore_averaged(parameters, layout); });
    fuzz::takes([&] { checkpoint.copy_shared(parameters, layout); });
    checkpoint.write_averaged(folder.path / "averaged.safetensors", checkpoint.precision());
  });
  return 0;
}
