#pragma once

#include <memory>
#include <optional>

#include "agent/cores/core.h"
#include "agent/looking/glimpse_input.h"
#include "agent/looking/look.h"
#include "env/environment.h"
#include "nn/tensor.h"

namespace saccade {

/// The glimpses of the G candidates of a grid in each of B episodes, and their embeddings by the
/// glimpse network.
class Candidates {
 public:
  /// Stores nothing unless `seen`; `embedded`: the glimpse network processes every candidate. Keeps
  /// references to `parts` and `environment`; the places (G, 2) must outlive it.
  Candidates(const GlimpseParts& parts, ConstMatrix places, bool seen, bool embedded,
             Environment& environment);

  int size() const { return places_.rows; }  // G
  ConstMatrix places() const { return places_; }
  bool embedded() const { return embeddings_.size() > 0; }

  /// Call when new scenes begin: looks at all candidates.
  void look(std::span<const float> parameters);
  /// (B G, F), row b G + k, and their gradients, which the caller writes.
  ConstMatrix embeddings() const { return matrix(embeddings_); }
  Matrix dembeddings() { return matrix(dembeddings_); }
  void clear_dembeddings() { dembeddings_.fill(0.0F); }
  /// Of episode b: (G, F), (G, F), (G, D).
  ConstMatrix embeddings(int b) const { return step(embeddings_, b); }
  Matrix dembeddings(int b) { return step(dembeddings_, b); }
  ConstMatrix glimpses(int b) const { return step(glimpses_, b); }

  /// From dembeddings, which it destroys: overwrites the gradients of the glimpse network.
  void backward(std::span<float> gradient, std::span<const float> parameters);

  /// After backward, for episode b: the gradients (G, D) of the glimpses through their embeddings.
  Matrix glimpse_backward(int b, std::span<const float> parameters);
  /// The buffer of those gradients, to overwrite or add to.
  Matrix dglimpses() { return matrix(dglimpses_); }
  /// Adds to dcanvas (pixels) the gradient that dglimpses imply.
  void canvas_backward(std::span<float> dcanvas) const;

 private:
  template <class Body>
  void for_blocks(const Body& body) const;

  const GlimpseNetwork& network_;
  ConstMatrix places_;  // (G, 2)
  Environment& environment_;
  int block_;  // episodes that are passed together
  std::optional<GlimpseNetwork::Places> embedding_places_;
  std::optional<GlimpseInput> input_;
  Tensor<3> glimpses_;                  // (B, G, D)
  Tensor<3> what_, dwhat_;              // (B, G, what)
  Tensor<3> embeddings_, dembeddings_;  // (B, G, F)
  Tensor<2> dglimpses_;                 // (G, D): one episode
};

/// Turns the weights of the candidates, actions(t) (B, G), into the core's feature(t), with the
/// backward pass. Part of a look over a grid; the order of calls is that of Look.
class GridRead {
 public:
  virtual ~GridRead() = default;

  virtual void forward(int t, std::span<const float> parameters) = 0;
  /// Adds to dweights (B, G); overwrites dfeature (B, F).
  virtual void weights_backward(Matrix dweights, int t, Matrix dfeature,
                                std::span<const float> parameters) = 0;
  /// Overwrites candidates.dembeddings, if there are any, from the gradients of all features (T B,
  /// F).
  virtual void embeddings_backward(ConstMatrix dfeatures) = 0;
  /// After Candidates::backward: overwrites the gradients of the network it reads with, or adds
  /// to them.
  virtual void finish_backward(std::span<float> gradient, Matrix dfeatures,
                               std::span<const float> parameters) = 0;
  /// Implements Look::input_backward.
  virtual void input_backward(Matrix dcanvases, Tensor<3>& dglimpses,
                              std::span<const float> parameters) = 0;
  /// Implements Look::picture.
  virtual void picture(int t, int b, float* glimpse) const = 0;
};

/// The mean of the candidates' embeddings: v = sum_k w_k v_k.
std::unique_ptr<GridRead> make_embedding_read(Candidates& candidates, Look& look, CoreMemory& core);
/// The embedding of the mean of the candidates' glimpses, at the mean of their places:
/// g = sum_k w_k g_k. Writes look.glimpses.
std::unique_ptr<GridRead> make_pixel_read(Candidates& candidates, const GlimpseParts& parts,
                                          Look& look, CoreMemory& core);
/// One glimpse at look.locations; `smooth`: between pixels. Writes look.glimpses.
std::unique_ptr<GridRead> make_glimpse_read(const GlimpseParts& parts, Look& look, bool smooth,
                                            Environment& environment, CoreMemory& core);

}  // namespace saccade
