#pragma once

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "attention/attend.h"
#include "tests/attention/parameter_gradients.h"
#include "tests/naive.h"

// Attention over values in double precision, element by element.
namespace saccade::naive_attention {

using Row = std::vector<double>;
using Parameters = NaiveParameters;

inline double product(const Row& a, const Row& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b.at(i);
  return sum;
}

/// x' W for one row.
inline Row linear(const Row& x, const NaiveMatrix& w) {
  Row y(w.cols);
  for (int j = 0; j < w.cols; ++j)
    for (int i = 0; i < w.rows; ++i) y[j] += x.at(i) * w(i, j);
  return y;
}

inline Row row_of(const NaiveMatrix& m, int r) {
  return Row(m.values.begin() + r * m.cols, m.values.begin() + (r + 1) * m.cols);
}

inline Row tanh_of(Row x) {
  for (double& z : x) z = std::tanh(z);
  return x;
}

/// The score of query s and key h, with parameters `<name>.<..>`.
inline double score(const std::string& kind, const Parameters& p, const std::string& name,
                    const Row& s, const Row& h) {
  if (kind == "dot") return product(s, h);
  if (kind == "scaled_dot") return product(s, h) / std::sqrt(static_cast<double>(h.size()));
  if (kind == "general") return product(linear(s, p.at(name + ".weight")), h);
  if (kind != "additive" && kind != "location_free")
    throw std::logic_error("no naive score " + kind);
  Row inner = linear(h, p.at(name + ".key.weight"));
  for (std::size_t i = 0; i < inner.size(); ++i) inner[i] += p.at(name + ".bias").values[i];
  if (kind == "additive") {
    const Row query = linear(s, p.at(name + ".query.weight"));
    for (std::size_t i = 0; i < inner.size(); ++i) inner[i] += query[i];
  }
  return product(row_of(p.at(name + ".v"), 0), tanh_of(inner));
}

/// exp(z_k) over their sum where `read` is set, otherwise 0.
inline Row masked_softmax(const Row& z, const std::vector<bool>& read) {
  Row p(z.size());
  double sum = 0.0;
  for (std::size_t k = 0; k < z.size(); ++k) sum += p[k] = read[k] ? std::exp(z[k]) : 0.0;
  for (double& x : p) x /= sum;
  return p;
}

/// The centre of query j in area local; `length`: number of values up to the last allowed one.
inline double centre(const AttendConfig& config, const Parameters& p, const std::string& name,
                     int j, const Row& query, int length) {
  if (config.position == "current") return std::min(j, length - 1);
  const Row hidden = tanh_of(linear(query, p.at(name + ".position.weight")));
  const double u = product(row_of(p.at(name + ".position.v"), 0), hidden);
  return (length - 1) / (1.0 + std::exp(-u));
}

/// The weights of query j on the values of one episode.
inline Row weights(const AttendConfig& config, const Parameters& p, const std::string& name, int j,
                   const Row& query, const std::vector<Row>& values,
                   const std::vector<bool>& allowed) {
  Row z;
  for (const Row& value : values)
    z.push_back(score(config.score, p, name + ".score", query, value));
  if (config.area == "global") return masked_softmax(z, allowed);

  const int n = static_cast<int>(values.size());
  int length = 0;
  for (int k = 0; k < n; ++k)
    if (allowed[k]) length = k + 1;
  const double c = centre(config, p, name, j, query, length);
  std::vector<bool> read(n);
  bool any = false;
  for (int k = 0; k < n; ++k) {
    read[k] = allowed[k] && std::abs(k - c) <= config.window;
    any = any || read[k];
  }
  if (!any) {
    int nearest = length - 1;
    for (int k = n - 1; k >= 0; --k)
      if (allowed[k] && std::abs(k - c) <= std::abs(nearest - c)) nearest = k;
    read[nearest] = true;
  }
  Row a = masked_softmax(z, read);
  const double sigma = config.window / 2.0;
  for (int k = 0; k < n; ++k) a[k] *= std::exp(-(k - c) * (k - c) / (2.0 * sigma * sigma));
  return a;
}

/// sum_k a_k v_k
inline Row context(const Row& a, const std::vector<Row>& values) {
  Row sum(values.at(0).size());
  for (std::size_t k = 0; k < a.size(); ++k)
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += a[k] * values[k][i];
  return sum;
}

}  // namespace saccade::naive_attention
