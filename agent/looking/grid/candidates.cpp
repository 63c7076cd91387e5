#include "agent/looking/grid/candidates.h"

#include <algorithm>

namespace saccade {
namespace {

constexpr int kBlockRows = 512;

}  // namespace

Candidates::Candidates(const GlimpseParts& parts, ConstMatrix places, bool seen, bool embedded,
                       Environment& environment)
    : network_(parts.network), places_(places), environment_(environment) {
  const int batch = environment.episodes(), count = places.rows;
  block_ = std::clamp(kBlockRows / count, 1, batch);
  if (!seen) return;
  glimpses_ = zeros<3>(batch, count, parts.shape.size);
  dglimpses_ = zeros<2>(count, parts.shape.size);
  if (!embedded) return;
  input_.emplace(parts, batch * count, block_ * count);
  what_ = dwhat_ = zeros<3>(batch, count, network_.sizes().what);
  embeddings_ = dembeddings_ = zeros<3>(batch, count, network_.sizes().features);
  embedding_places_.emplace(network_.make_places(places));
}

// Calls body(first row, rows) for the candidates of a few episodes at a time, so that what one pass
// over them writes is still in the cache for the next.
template <class Body>
void Candidates::for_blocks(const Body& body) const {
  const int rows = block_ * size(), all = environment_.episodes() * size();
  for (int first = 0; first < all; first += rows) body(first, std::min(rows, all - first));
}

void Candidates::look(std::span<const float> parameters) {
  if (glimpses_.size() == 0) return;
  if (embedded()) network_.begin(*embedding_places_, parameters);
  for_blocks([&](int first, int rows) {
    const auto block = [&](Tensor<3>& tensor) { return matrix(tensor).row_range(first, rows); };
    environment_.look_at_all(places_, block(glimpses_), first / size());
    if (embedded())
      network_.forward(block(embeddings_), block(what_), *embedding_places_,
                       input_->forward(block(glimpses_), first, parameters), parameters);
  });
}

void Candidates::backward(std::span<float> gradient, std::span<const float> parameters) {
  network_.begin_backward(*embedding_places_);
  for_blocks([&](int first, int rows) {
    const auto block = [&](Tensor<3>& tensor) { return matrix(tensor).row_range(first, rows); };
    const float beta = first == 0 ? 0.0F : 1.0F;
    network_.backward(gradient, block(dwhat_), block(dembeddings_), *embedding_places_,
                      block(embeddings_), block(what_), input_->of(block(glimpses_), first),
                      parameters, beta);
    input_->backward(block(dwhat_), first, parameters);
    input_->weight_backward(gradient, block(glimpses_), first, beta);
  });
  network_.finish_backward(gradient, *embedding_places_, parameters);
}

Matrix Candidates::glimpse_backward(int b, std::span<const float> parameters) {
  input_->backward(step(dwhat_, b), b * size(), parameters);  // another block's may be there
  input_->glimpse_backward(dglimpses(), step(dwhat_, b), b * size(), parameters);
  return dglimpses();
}

void Candidates::canvas_backward(std::span<float> dcanvas) const {
  const ConstMatrix dglimpses = matrix(dglimpses_);
  for (int k = 0; k < size(); ++k)
    environment_.look_backward(dcanvas, places_.row(k),
                               {dglimpses.row(k), static_cast<std::size_t>(dglimpses.cols)});
}

}  // namespace saccade
