#include "nn/profile.h"

#include <doctest/doctest.h>

#include <numeric>
#include <stdexcept>
#include <vector>

#include "base/clock.h"
#include "nn/gemm.h"
#include "nn/parallel.h"
#include "nn/peak.h"

namespace saccade {
namespace {

void spend(double seconds) {
  const Clock::time_point begin = Clock::now();
  while (seconds_since(begin) < seconds) {
  }
}

double seconds_of(Stage stage, const std::vector<Profiler::Row>& rows) {
  return rows.at(static_cast<std::size_t>(stage)).seconds;
}

double gflop_of(Stage stage, const std::vector<Profiler::Row>& rows) {
  return rows.at(static_cast<std::size_t>(stage)).gflop;
}

TEST_CASE("every stage has a name and a row") {
  const Profiler profiler;
  const std::vector<Profiler::Row> rows = profiler.rows(1);
  REQUIRE(rows.size() == stage_names().size());
  CHECK(rows.size() == static_cast<std::size_t>(Stage::waiting) + 1);
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(rows[i].stage == static_cast<Stage>(i));
}

// Times have only lower bounds: a loaded machine takes longer.
TEST_CASE("time is attributed to the innermost scope, on every thread, and adds up to the total") {
  Workers workers(2);
  const Clock::time_point begin = Clock::now();
  const Profiler profiler;
  workers.for_each(4, [&](int) {
    const StageScope forward(Stage::forward_elementwise);
    spend(1e-3);
    {
      const StageScope look(Stage::look);
      spend(2e-3);
    }
    const ProductScope product(5e6);
    spend(3e-3);
  });
  const std::vector<Profiler::Row> rows = profiler.rows(2);
  const double at_most = 2 * seconds_since(begin);
  CHECK(seconds_of(Stage::forward_elementwise, rows) >= 4e-3);
  CHECK(seconds_of(Stage::look, rows) >= 8e-3);
  CHECK(seconds_of(Stage::forward_products, rows) >= 12e-3);
  CHECK(seconds_of(Stage::backward_products, rows) == 0.0);
  CHECK(gflop_of(Stage::forward_products, rows) == doctest::Approx(4 * 5e-3));
  CHECK(gflop_of(Stage::look, rows) == 0.0);
  CHECK(seconds_of(Stage::waiting, rows) >= 0.0);
  const double sum =
      std::accumulate(rows.begin(), rows.end(), 0.0,
                      [](double total, const Profiler::Row& row) { return total + row.seconds; });
  CHECK(sum >= 24e-3);
  CHECK(sum <= at_most);
}

TEST_CASE("a product is attributed to its pass, and its operations are counted") {
  Tensor<2> a = zeros<2>(8, 16), b = zeros<2>(16, 4), c = zeros<2>(8, 4);
  const Profiler profiler;
  {
    const StageScope scope(Stage::backward_elementwise);
    multiply(matrix(c), matrix(a), matrix(b));
  }
  multiply(matrix(c), matrix(a), matrix(b));  // outside any pass
  const std::vector<Profiler::Row> rows = profiler.rows(1);
  CHECK(gflop_of(Stage::backward_products, rows) == doctest::Approx(2e-9 * 8 * 16 * 4));
  CHECK(gflop_of(Stage::forward_products, rows) == 0.0);
  CHECK(seconds_of(Stage::backward_products, rows) > 0.0);
}

TEST_CASE("a profiler starts from zero, and only one can be active") {
  {
    const Profiler first;
    const StageScope scope(Stage::scene);
    CHECK_THROWS_AS(Profiler(), std::logic_error);
  }
  const Profiler second;
  CHECK(seconds_of(Stage::scene, second.rows(1)) == 0.0);
}

TEST_CASE("scopes without a profiler have no effect") {
  { const StageScope scope(Stage::optimizer); }
  const Profiler profiler;
  CHECK(seconds_of(Stage::optimizer, profiler.rows(1)) == 0.0);
}

TEST_CASE("multiply-adds on registers are counted by vector width") {
  CHECK(multiply_add_on_registers() > 0.01);
  CHECK(multiply_add_on_registers() == multiply_add_on_registers());
}

}  // namespace
}  // namespace saccade
