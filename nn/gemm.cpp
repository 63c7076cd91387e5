#include "nn/gemm.h"

#include <dnnl.h>
#include <omp.h>

#include <stdexcept>

namespace saccade {
namespace {

void product(char transpose_a, char transpose_b, Matrix c, ConstMatrix a, ConstMatrix b, int inner,
             float beta) {
  // Debian's oneDNN runs on OpenMP: without this every worker would open a team of its own.
  thread_local const bool single_threaded = (omp_set_num_threads(1), true);
  static_cast<void>(single_threaded);
  if (c.rows == 0 || c.cols == 0) return;
  const dnnl_status_t status =
      dnnl_sgemm(transpose_a, transpose_b, c.rows, c.cols, inner, 1.0F, a.data, a.stride, b.data,
                 b.stride, beta, c.data, c.stride);
  if (status != dnnl_success) throw std::logic_error("oneDNN refused a matrix product");
}

}  // namespace

void multiply(Matrix c, ConstMatrix a, ConstMatrix b, float beta) {
  SACCADE_CHECK(c.rows == a.rows && c.cols == b.cols && a.cols == b.rows);
  product('N', 'N', c, a, b, a.cols, beta);
}

void multiply_transposed_a(Matrix c, ConstMatrix a, ConstMatrix b, float beta) {
  SACCADE_CHECK(c.rows == a.cols && c.cols == b.cols && a.rows == b.rows);
  product('T', 'N', c, a, b, a.rows, beta);
}

void multiply_transposed_b(Matrix c, ConstMatrix a, ConstMatrix b, float beta) {
  SACCADE_CHECK(c.rows == a.rows && c.cols == b.rows && a.cols == b.cols);
  product('N', 'T', c, a, b, a.cols, beta);
}

}  // namespace saccade
