#pragma once

#include "nn/parameters.h"
#include "nn/tensor.h"
#include "nn/work.h"

namespace saccade {

/// Encodes what was seen and where in one feature (Mnih et al. 2014, section 3.1 and figure 1B):
///   g = relu(W_3 relu(W_1 rho + b_1) + W_4 relu(W_2 l + b_2) + b)
/// [W_3; W_4] are one parameter: the two inner activations lie side by side in `joint`. The glimpse
/// rho is its pixels, or the filters' output (GlimpseInput).
class GlimpseNetwork {
 public:
  struct Sizes {
    int glimpse;       // D: of rho
    int what;          // width of W_1
    int where;         // width of W_2
    int features;      // F
    int location = 2;  // L: numbers of a location
  };

  GlimpseNetwork(const Sizes& sizes, ParameterLayout& layout);

  const Sizes& sizes() const { return sizes_; }
  int joint_size() const { return sizes_.what + sizes_.where; }

  /// feature (R, F), joint (R, what + where), glimpse (R, D), location (R, L)
  void forward(Matrix feature, Matrix joint, ConstMatrix glimpse, ConstMatrix location,
               std::span<const float> parameters) const;
  /// Replaces dfeature by its gradient before the activation and overwrites djoint.
  void activation_backward(Matrix djoint, Matrix dfeature, ConstMatrix feature, ConstMatrix joint,
                           std::span<const float> parameters) const;
  /// After activation_backward: overwrites the gradient of the locations.
  void location_backward(Matrix dlocation, ConstMatrix djoint,
                         std::span<const float> parameters) const;
  /// And that of the glimpses. Also for glimpses at Places, after their backward. dwhat (R, what)
  /// are the first columns of djoint.
  void glimpse_backward(Matrix dglimpse, ConstMatrix dwhat,
                        std::span<const float> parameters) const;
  /// After activation_backward: overwrites this network's gradients (beta = 0) or adds to them
  /// (beta = 1).
  void weight_backward(std::span<float> gradient, ConstMatrix djoint, ConstMatrix dfeature,
                       ConstMatrix joint, ConstMatrix glimpse, ConstMatrix location,
                       float beta = 0.0F) const;

  /// The same network for glimpses at the same K places in each of B episodes, row b K + k. What
  /// depends only on the place is computed once.
  struct Places {
    Places(ConstMatrix locations, const Sizes& sizes);

    ConstMatrix locations;  // (K, 2)
    Tensor<2> where;        // (K, where): relu(W_2 l + b_2)
    Tensor<2> offset;       // (K, F): W_4 where + b
    Tensor<2> dwhere;       // (K, where)
    Tensor<2> doffset;      // (K, F)
  };
  Places make_places(ConstMatrix locations) const { return {locations, sizes_}; }

  /// Computes what depends only on the place: before forward, for new parameters.
  void begin(Places& places, std::span<const float> parameters) const;
  /// feature (B K, F), what (B K, what), glimpse (B K, D)
  void forward(Matrix feature, Matrix what, const Places& places, ConstMatrix glimpse,
               std::span<const float> parameters) const;
  /// Before backward of the first glimpses.
  static void begin_backward(Places& places) { places.doffset.fill(0.0F); }
  /// Overwrites the gradients of this network (beta = 0) or adds to them (beta = 1), but for those
  /// of what depends only on the place. Replaces dfeature as above and overwrites dwhat (B K,
  /// what).
  void backward(std::span<float> gradient, Matrix dwhat, Matrix dfeature, Places& places,
                ConstMatrix feature, ConstMatrix what, ConstMatrix glimpse,
                std::span<const float> parameters, float beta) const;
  /// After backward of all glimpses: overwrites those gradients.
  void finish_backward(std::span<float> gradient, Places& places,
                       std::span<const float> parameters) const;

  /// Multiply-adds of one glimpse.
  Work work(Input glimpse, Input location) const;
  /// The same for one of many glimpses at fixed places, without what is computed once per place.
  Work work_in_place(Input glimpse) const;

 private:
  Sizes sizes_;
  const ParameterLayout* layout_;
  int what_weight_, what_bias_, where_weight_, where_bias_, joint_weight_, joint_bias_;
};

}  // namespace saccade
