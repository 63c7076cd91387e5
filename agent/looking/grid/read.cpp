#include <algorithm>
#include <vector>

#include "agent/looking/grid/candidates.h"
#include "agent/looking/look_base.h"
#include "agent/looking/smooth_look.h"
#include "nn/gemm.h"
#include "nn/rows.h"

namespace saccade {
namespace {

// Returns all T rows of episode b in a (T, B, width) tensor.
Matrix all_steps(Tensor<3>& tensor, int b) {
  const auto [steps, episodes, width] = tensor.shape();
  return {&tensor(0, b, 0), static_cast<int>(steps), static_cast<int>(width),
          static_cast<int>(episodes * width)};
}

// dweights (G) += candidates (G, width) . gradient (width), using `products` (G) as scratch.
void add_products(float* dweights, std::vector<float>& products, ConstMatrix candidates,
                  const float* gradient) {
  row_products(products.data(), candidates, gradient);
  for (int k = 0; k < candidates.rows; ++k) dweights[k] += products[k];
}

std::span<float> row(Matrix m, int r) { return {m.row(r), static_cast<std::size_t>(m.cols)}; }

class EmbeddingRead final : public GridRead {
 public:
  EmbeddingRead(Candidates& candidates, Look& look, CoreMemory& core)
      : candidates_(candidates), look_(look), core_(core), products_(candidates.size()) {}

  void forward(int t, std::span<const float>) override {
    const ConstMatrix weights = step(look_.actions, t);
    for (int b = 0; b < core_.episodes(); ++b)
      weighted_rows(core_.glimpse_feature(t).row(b), weights.row(b), candidates_.embeddings(b));
  }

  void weights_backward(Matrix dweights, int, Matrix dfeature, std::span<const float>) override {
    for (int b = 0; b < core_.episodes(); ++b)
      add_products(dweights.row(b), products_, candidates_.embeddings(b), dfeature.row(b));
  }

  // dembeddings = sum_t weights_t dfeature_t
  void embeddings_backward(ConstMatrix dfeatures) override {
    const int episodes = core_.episodes();
    for (int b = 0; b < episodes; ++b)
      multiply_transposed_a(
          candidates_.dembeddings(b), all_steps(look_.actions, b),
          {dfeatures.row(b), core_.steps, dfeatures.cols, episodes * dfeatures.stride});
  }

  void finish_backward(std::span<float>, Matrix, std::span<const float>) override {}

  void input_backward(Matrix dcanvases, Tensor<3>&, std::span<const float> parameters) override {
    for (int b = 0; b < core_.episodes(); ++b) {
      candidates_.glimpse_backward(b, parameters);
      candidates_.canvas_backward(row(dcanvases, b));
    }
  }

  void picture(int t, int b, float* glimpse) const override {
    weighted_rows(glimpse, &look_.actions(t, b, 0), candidates_.glimpses(b));
  }

 private:
  Candidates& candidates_;
  Look& look_;
  CoreMemory& core_;
  std::vector<float> products_;  // (G)
};

// Base of the reads with one glimpse per step.
class SingleRead : public GridRead {
 protected:
  SingleRead(const GlimpseParts& parts, Look& look, CoreMemory& core)
      : look_(look), core_(core), pass_(parts, look, core) {}

  void picture(int t, int b, float* glimpse) const override {
    std::copy_n(&look_.glimpses(t, b, 0), look_.glimpses.shape()[2], glimpse);
  }

  Look& look_;
  CoreMemory& core_;
  GlimpsePass pass_;
};

class PixelRead final : public SingleRead {
 public:
  PixelRead(Candidates& candidates, const GlimpseParts& parts, Look& look, CoreMemory& core)
      : SingleRead(parts, look, core),
        candidates_(candidates),
        products_(candidates.size()),
        dglimpse_(zeros<2>(core.episodes(), parts.shape.size)),
        dlocation_(zeros<2>(core.episodes(), 2)) {}

  void forward(int t, std::span<const float> parameters) override {
    const ConstMatrix weights = step(look_.actions, t);
    for (int b = 0; b < core_.episodes(); ++b)
      weighted_rows(step(look_.glimpses, t).row(b), weights.row(b), candidates_.glimpses(b));
    pass_.forward(t, parameters);
  }

  void weights_backward(Matrix dweights, int t, Matrix dfeature,
                        std::span<const float> parameters) override {
    pass_.activation_backward(dfeature, t, 1, parameters);
    pass_.input_backward(matrix(dglimpse_), matrix(dlocation_), t, parameters);
    for (int b = 0; b < core_.episodes(); ++b)
      add_products(dweights.row(b), products_, candidates_.glimpses(b), &dglimpse_(b, 0));
    multiply_transposed_b(dweights, matrix(dlocation_), candidates_.places(), 1.0F);
  }

  // Embeddings get gradients only through their scores.
  void embeddings_backward(ConstMatrix) override { candidates_.clear_dembeddings(); }

  void finish_backward(std::span<float> gradient, Matrix dfeatures,
                       std::span<const float>) override {
    pass_.weight_backward(gradient, dfeatures, candidates_.embedded() ? 1.0F : 0.0F);
  }

  // For all candidates of an episode, sums the gradients of the read and of the score.
  void input_backward(Matrix dcanvases, Tensor<3>& dglimpses,
                      std::span<const float> parameters) override {
    pass_.glimpse_backward(dglimpses, parameters);
    for (int b = 0; b < core_.episodes(); ++b) {
      if (candidates_.embedded()) candidates_.glimpse_backward(b, parameters);
      multiply_transposed_a(candidates_.dglimpses(), all_steps(look_.actions, b),
                            all_steps(dglimpses, b), candidates_.embedded() ? 1.0F : 0.0F);
      candidates_.canvas_backward(row(dcanvases, b));
    }
  }

 private:
  Candidates& candidates_;
  std::vector<float> products_;  // (G)
  Tensor<2> dglimpse_;           // (B, D)
  Tensor<2> dlocation_;          // (B, 2)
};

class GlimpseRead final : public SingleRead {
 public:
  GlimpseRead(const GlimpseParts& parts, Look& look, bool smooth, Environment& environment,
              CoreMemory& core)
      : SingleRead(parts, look, core), environment_(environment) {
    if (smooth) slopes_ = zeros<2>(core.episodes(), 2 * parts.shape.size);
  }

  void forward(int t, std::span<const float> parameters) override {
    if (smooth())
      environment_.look_smoothly(step(look_.locations, t), step(look_.glimpses, t),
                                 matrix(slopes_));
    else
      environment_.look(step(look_.locations, t), step(look_.glimpses, t));
    pass_.forward(t, parameters);
  }

  // A choice is a constant, so its weights have no gradient.
  void weights_backward(Matrix, int, Matrix, std::span<const float>) override {}
  void embeddings_backward(ConstMatrix) override {}

  void finish_backward(std::span<float> gradient, Matrix dfeatures,
                       std::span<const float> parameters) override {
    pass_.activation_backward(dfeatures, 0, core_.steps, parameters);
    pass_.weight_backward(gradient, dfeatures);
  }

  void input_backward(Matrix dcanvases, Tensor<3>& dglimpses,
                      std::span<const float> parameters) override {
    if (!smooth()) return pass_.retina_backward(dcanvases, dglimpses, environment_, parameters);
    pass_.glimpse_backward(dglimpses, parameters);
    SmoothLook::canvas_backward(dcanvases, environment_, look_.locations, dglimpses);
  }

 private:
  bool smooth() const { return slopes_.size() > 0; }

  Environment& environment_;
  Tensor<2> slopes_;  // (B, 2 D): of a smooth look, unused; else no data
};

}  // namespace

std::unique_ptr<GridRead> make_embedding_read(Candidates& candidates, Look& look,
                                              CoreMemory& core) {
  return std::make_unique<EmbeddingRead>(candidates, look, core);
}

std::unique_ptr<GridRead> make_pixel_read(Candidates& candidates, const GlimpseParts& parts,
                                          Look& look, CoreMemory& core) {
  return std::make_unique<PixelRead>(candidates, parts, look, core);
}

std::unique_ptr<GridRead> make_glimpse_read(const GlimpseParts& parts, Look& look, bool smooth,
                                            Environment& environment, CoreMemory& core) {
  return std::make_unique<GlimpseRead>(parts, look, smooth, environment, core);
}

}  // namespace saccade
