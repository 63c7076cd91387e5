#include "agent/looking/grid/candidates.h"

namespace saccade {

Candidates::Candidates(const GlimpseParts& parts, ConstMatrix places, bool seen, bool embedded,
                       Environment& environment)
    : network_(parts.network), places_(places), environment_(environment) {
  const int batch = environment.episodes(), count = places.rows;
  if (!seen) return;
  glimpses_ = zeros<3>(batch, count, parts.shape.size);
  dglimpses_ = zeros<2>(count, parts.shape.size);
  if (!embedded) return;
  input_.emplace(parts, batch * count);
  what_ = dwhat_ = zeros<3>(batch, count, network_.sizes().what);
  embeddings_ = dembeddings_ = zeros<3>(batch, count, network_.sizes().features);
  embedding_places_.emplace(network_.make_places(places));
}

void Candidates::look(std::span<const float> parameters) {
  if (glimpses_.size() > 0) environment_.look_at_all(places_, matrix(glimpses_));
  if (embedded())
    network_.forward(matrix(embeddings_), matrix(what_), *embedding_places_,
                     input_->forward(matrix(glimpses_), 0, parameters), parameters);
}

void Candidates::backward(std::span<float> gradient, std::span<const float> parameters) {
  network_.backward(gradient, matrix(dwhat_), matrix(dembeddings_), *embedding_places_,
                    matrix(embeddings_), matrix(what_), input_->of(matrix(glimpses_)), parameters);
  input_->backward(matrix(dwhat_), 0, parameters);
  input_->weight_backward(gradient, matrix(glimpses_));
}

Matrix Candidates::glimpse_backward(int b, std::span<const float> parameters) {
  input_->glimpse_backward(dglimpses(), step(dwhat_, b), b * size(), parameters);
  return dglimpses();
}

void Candidates::canvas_backward(std::span<float> dcanvas) const {
  const ConstMatrix dglimpses = matrix(dglimpses_);
  for (int k = 0; k < size(); ++k)
    environment_.look_backward(dcanvas, places_(k, 0), places_(k, 1),
                               {dglimpses.row(k), static_cast<std::size_t>(dglimpses.cols)});
}

}  // namespace saccade
