#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/looking/glimpse_filters.h"
#include "agent/looking/glimpse_network.h"
#include "agent/spec/config.h"
#include "nn/tensor.h"

namespace saccade {

/// What a glimpse passes on its way to the core: the filters of model.glimpse_network: conv, and
/// the glimpse network.
struct GlimpseParts {
  GlimpseShape shape;                     // of a glimpse as the retina returns it
  std::optional<GlimpseFilters> filters;  // none: the network reads the pixels, scaled
  GlimpseNetwork network;

  /// Multiply-adds of one glimpse; `input`: of the glimpse and its location.
  Work work(Input input) const;
  /// Of one of many glimpses at fixed places, without what is computed once.
  Work work_in_place() const;
};

/// As model.glimpse_network says: `mlp`, or `conv`, whose network reads what GlimpseFilters make of
/// the pixels; both read them as shape.pixels says. Throws InputError listing the names, or naming
/// the key of a size that cannot be. `layout` must outlive them.
GlimpseParts make_glimpse_parts(const ModelConfig& model, const GlimpseShape& shape,
                                ParameterLayout& layout);
std::vector<std::string> glimpse_networks();

/// What the glimpse network reads of R glimpses, and the way back to their pixels. Used by one
/// thread at a time.
class GlimpseInput {
 public:
  /// Keeps a reference to `parts`.
  GlimpseInput(const GlimpseParts& parts, int glimpses);

  /// Of as many glimpses (N, D), which become rows `first` and on of the R.
  ConstMatrix forward(ConstMatrix glimpses, int first, std::span<const float> parameters);
  /// The same after it, of all R (R, D).
  ConstMatrix of(ConstMatrix glimpses) const;

  /// Of rows `first` and on: takes the gradient dwhat (N, what) of what the network makes of them,
  /// before its activation. Must be called for all R before the next two.
  void backward(ConstMatrix dwhat, int first, std::span<const float> parameters);
  /// Then the gradients of the pixels, dglimpses (N, D), written, from the same dwhat.
  void glimpse_backward(Matrix dglimpses, ConstMatrix dwhat, int first,
                        std::span<const float> parameters);
  /// And the gradients of the filters, written (beta = 0) or added to what is there (1); glimpses
  /// (R, D).
  void weight_backward(std::span<float> gradient, ConstMatrix glimpses, float beta = 0.0F);

 private:
  // As the filters read them, or the network where there are none.
  ConstMatrix scaled(ConstMatrix glimpses) const;

  const GlimpseParts& parts_;
  std::optional<GlimpseFilters::Memory> memory_;  // where there are filters
  Tensor<2> scaled_;                              // (R, D): where pixels are scaled, else empty
};

}  // namespace saccade
