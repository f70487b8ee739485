// SPDX-License-Identifier: Apache-2.0
// A session that meets ever new sizes keeps its memory and its expressions; a program for sizes that come
// again is made beside the runs, and what a late step prepared is not used for operands that lie otherwise.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "model_case.h"
#include "runtime/program.h"

namespace sx::testing {
namespace {

// Sizes decide what runs: which branch is taken, and so how long the result is.
const char* kBranch = R"(<ir_version: 8, opset_import: ["" : 17]>
  g (float[N] x) => (float[M] y) {
    n = Size(x)
    hundred = Constant<value_int = 100>()
    small = Less(n, hundred)
    w = If(small) <then_branch = t () => (float[A] u) { u = Relu(x) },
                   else_branch = e () => (float[B] v) { v = Concat<axis = 0>(x, x) }>
    y = Sqrt(w)
  })";

int64_t length(int64_t n) { return n < 100 ? n : 2 * n; }

Value ones(int64_t n) {
  const std::vector<float> v(size_t(n), 4.0f);
  return Value(Tensor::of<float>(DType::f32, {n}, v));
}

}  // namespace

TEST_CASE("three thousand sizes leave nothing behind") {
  SessionOptions options;
  options.most_plans = 4;
  auto session = session_of_text(kBranch, options);
  for (int turn = 0; turn < 3; ++turn) run_all(*session, {ones(3000)});
  const size_t symbols = session->graph().pool().symbols();
  const size_t held = session->arena_bytes();
  for (int64_t n = 1; n <= 3000; ++n) {
    const std::vector<Value> y = run_all(*session, {ones(1 + n % 3001)});
    REQUIRE(y[0].tensor.count() == length(1 + n % 3001));
  }
  CHECK(session->program().plans() <= 4);
  CHECK(session->graph().pool().symbols() <= symbols);
  CHECK(session->arena_bytes() <= held + (1 << 20));
}

TEST_CASE("sizes that come again from many threads give the same numbers all along") {
  SessionOptions options;
  options.threads = 1;
  options.most_plans = 3;
  auto session = session_of_text(kBranch, options);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t k = 0; k < 300; ++k) {
        const int64_t n = 97 + (k + t) % 7;
        const std::vector<Value> in = {ones(n)};
        std::vector<Value> out(1);
        const Status status = session->run(in, out);
        const bool right =
            status.ok() && out[0].tensor.count() == length(n) && out[0].tensor.as<float>()[0] == 2.0f;
        wrong += right ? 0 : 1;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("an operand of the same size that lies otherwise is prepared anew") {
  auto session = session_of_text(R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[n,m] x, int64[k] keep, float[4,2] z) => (float[p,q] y) {
      c = Compress<axis = 1>(x, mask) f = Constant<value_ints = [0]>() t = Constant<value_ints = [4]>()
      a = Constant<value_ints = [1]>() mask = Cast<to = 9>(keep)
      s = Slice(c, f, t, a) y = MatMul(s, z)
    })",
                                 {});
  const Value z(numbers({4, 2}, 3));
  for (const int64_t columns : {4, 9, 6, 4}) {
    const Tensor x = numbers({3, columns}, 5);
    const std::vector<int64_t> keep(size_t(columns), 1);
    const std::vector<Value> y = run_all(*session, {Value(x), Value(Tensor::vector_i64(keep)), z});
    for (int64_t r = 0; r < 3; ++r) {
      for (int64_t c = 0; c < 2; ++c) {
        double sum = 0;
        for (int64_t k = 0; k < 4; ++k)
          sum += double(x.as<float>()[size_t(r * columns + k)]) *
                 double(z.tensor.as<float>()[size_t(k * 2 + c)]);
        CHECK(y[0].tensor.as<float>()[size_t(r * 2 + c)] == doctest::Approx(sum).epsilon(1e-5));
      }
    }
  }
}

}  // namespace sx::testing
