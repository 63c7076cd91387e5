#pragma once

#include <memory>
#include <string>
#include <vector>

#include "agent/looking/glimpse_filters.h"
#include "agent/looking/glimpse_network.h"
#include "agent/spec/config.h"
#include "nn/tensor.h"

namespace saccade {

/// The path of a glimpse to the core: the filters of model.glimpse_network, and the glimpse
/// network.
struct GlimpseParts {
  GlimpseShape shape;                       // of a glimpse as the retina returns it
  std::unique_ptr<GlimpseFilters> filters;  // null: the network reads the scaled pixels
  GlimpseNetwork network;

  /// Multiply-adds of one glimpse; `input`: whether the glimpse and its location need gradients.
  Work work(Input input) const;
  /// The same for one of many glimpses at fixed places, without what is computed once per place.
  Work work_in_place() const;
};

/// Makes the parts for model.glimpse_network: `mlp`, or `conv` and `residual`, whose network reads
/// the output of GlimpseFilters; all scale pixels by shape.pixels. Throws InputError listing the
/// valid names, or naming the key of an invalid size. `location_size` is L, the numbers of a
/// location. `layout` must outlive them.
GlimpseParts make_glimpse_parts(const ModelConfig& model, const GlimpseShape& shape,
                                ParameterLayout& layout, int location_size = 2);
std::vector<std::string> glimpse_networks();
/// Whether such a network needs the squares of a retina; else any row of numbers.
bool reads_squares(const std::string& glimpse_network);

/// Computes the glimpse network's input for R glimpses, and the backward pass to their pixels. Used
/// by one thread at a time.
class GlimpseInput {
 public:
  /// Keeps a reference to `parts`. Of the R glimpses, blocks of `block` go backward together, the
  /// first at row 0; R: all do.
  GlimpseInput(const GlimpseParts& parts, int glimpses, int block);

  /// For N glimpses (N, D), which become rows `first` and on of the R.
  ConstMatrix forward(ConstMatrix glimpses, int first, std::span<const float> parameters);
  /// After forward, the same input for glimpses (N, D) that are rows `first` and on.
  ConstMatrix of(ConstMatrix glimpses, int first = 0) const;

  /// For rows `first` and on of one block: takes dwhat (N, what), the gradient of the network's
  /// `what` layer before its activation. Call for the rows of a block before the next two.
  void backward(ConstMatrix dwhat, int first, std::span<const float> parameters);
  /// Then overwrites the gradients of the pixels, dglimpses (N, D), given the same dwhat.
  void glimpse_backward(Matrix dglimpses, ConstMatrix dwhat, int first,
                        std::span<const float> parameters);
  /// And overwrites the gradients of the filters (beta = 0) or adds to them (beta = 1); glimpses
  /// (N, D) are rows `first` and on, a whole block.
  void weight_backward(std::span<float> gradient, ConstMatrix glimpses, int first = 0,
                       float beta = 0.0F);

 private:
  // Scaled for the filters, or for the network if there are none.
  ConstMatrix scaled(ConstMatrix glimpses, int first) const;
  const GlimpseParts& parts_;
  std::unique_ptr<GlimpseFilters::Memory> memory_;  // null if there are no filters
  Tensor<2> scaled_;                                // (R, D): if pixels are scaled, else empty
};

}  // namespace saccade
