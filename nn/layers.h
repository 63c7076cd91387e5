#pragma once

#include <span>

#include "nn/tensor.h"

namespace saccade {

// Layers as forward/backward pairs over R rows (R = B, or T * B if time does not matter). Gradients
// have the prefix d. Weight and bias gradients are overwritten unless beta = 1, because nearly
// every parameter has one backward call per step. Activation gradients are computed from outputs,
// so inputs may be reused.

/// y (R, N) = x (R, K) w (K, N) + b (1, N)
void linear_forward(Matrix y, ConstMatrix x, ConstMatrix w, ConstMatrix b);
/// dw (K, N) = x' dy, db (1, N) = column sums of dy; `beta` = 1 adds to them, for a layer that is
/// used twice. The input gradient takes one more product: multiply_transposed_b(dx, dy, w).
void linear_backward(Matrix dw, Matrix db, ConstMatrix dy, ConstMatrix x, float beta = 0.0F);

/// y = x
void copy_rows(Matrix y, ConstMatrix x);
/// y += x
void add(Matrix y, ConstMatrix x);
/// y = relu(y + x), in place.
void add_relu(Matrix y, ConstMatrix x);

/// y += b (1, N), for every row.
void add_bias(Matrix y, ConstMatrix b);
/// y = relu(y + b), in place.
void bias_relu(Matrix y, ConstMatrix b);
/// y = relu(x w + b). NaN stays NaN, so that the loss reveals it.
void linear_relu_forward(Matrix y, ConstMatrix x, ConstMatrix w, ConstMatrix b);
/// dy *= (y > 0), in place: turns dy into the gradient before the activation.
void relu_backward(Matrix dy, ConstMatrix y);

/// Layer normalisation (Ba et al. 2016, equation 4) of each of R rows: y (R, N) = gain (1, N)
/// normalized + shift (1, N), where normalized (R, N) = (x - mean) / deviation and deviation =
/// sqrt(variance + 1e-5). Writes 1 / deviation to inverse_deviation (R, 1).
void layer_norm_forward(Matrix y, Matrix normalized, Matrix inverse_deviation, ConstMatrix x,
                        ConstMatrix gain, ConstMatrix shift);
/// Adds to dx, dgain and dshift; overwrites dy.
void layer_norm_backward(Matrix dx, Matrix dgain, Matrix dshift, Matrix dy, ConstMatrix normalized,
                         ConstMatrix inverse_deviation, ConstMatrix gain);

/// In place, on n numbers; absolute error below 3e-7.
void sigmoid(float* x, int n);
void tanh(float* x, int n);
/// In place; relative error below 3e-7; returns 0 for results below e^-87.
void exp(float* x, int n);

/// p (R, C) = softmax(logits); loss[r] = -log p[r, label[r]]
void cross_entropy_forward(Matrix p, std::span<float> loss, ConstMatrix logits,
                           std::span<const int> labels);
/// dlogits = scale (p - onehot(label))
void cross_entropy_backward(Matrix dlogits, ConstMatrix p, std::span<const int> labels,
                            float scale);

}  // namespace saccade
