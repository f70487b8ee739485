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

TEST_CASE("sizes that grow hold little more than the largest of them needs") {
  constexpr int64_t kStep = 5000, kLargest = 200 * kStep;
  auto grown = session_of_text(kBranch, {}), fresh = session_of_text(kBranch, {});
  for (int64_t n = kStep; n <= kLargest; n += kStep) run_all(*grown, {ones(n)});
  run_all(*fresh, {ones(kLargest)});
  CHECK(grown->arena_bytes() <= 3 * fresh->arena_bytes());
  for (int64_t n = kLargest; n > 0; n -= kStep) run_all(*grown, {ones(n)});
  CHECK(grown->arena_bytes() <= 3 * fresh->arena_bytes());
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

TEST_CASE("a loop that takes no turn has the sizes its body would make, in every run") {
  for (const char* fed : {"float[A, B] x", "float[2, 3] x", "float[] x"}) {
    CAPTURE(std::string(fed));
    std::string text = R"(<ir_version: 8, opset_import: ["" : 17]>
      g (INPUT, int64 trips) => (z) {
        two = Constant<value_floats = [1.0, 1.0]>()
        axes = Constant<value_ints = [-1]>()
        column = Unsqueeze(two, axes)
        y, z = Loop(trips, , x) <body = b (int64 i, bool go, float[] state) => (on, next, item) {
          on = Identity(go)
          next = Add(state, column)
          item = Transpose(next)
        }>
      })";
    text.replace(text.find("INPUT"), 5, fed);
    auto session = session_of_text(text, {});
    for (int turn = 0; turn < 4; ++turn) {
      const std::vector<Value> z =
          run_all(*session, {Value(numbers({2, 3}, 1)), Value(Tensor::scalar_i64(0))});
      CHECK(to_string(z[0].tensor.dims()) == "[0, 3, 2]");
    }
  }
}

TEST_CASE("attention to one row that is repeated") {
  const char* text = R"(<ir_version: 10, opset_import: ["" : 23]>
    g (float[1, 2, 8, 4] q, float[1, 1, 1, 4] k, float[1, 1, 1, 3] v) => (y) {
      keys = Constant<value_ints = [1, 2, 5, 4]>()
      values = Constant<value_ints = [1, 2, 5, 3]>()
      many_k = Expand(k, keys)
      many_v = Expand(v, values)
      y = Attention(q, many_k, many_v)
    })";
  const std::vector<Value> in = {Value(numbers({1, 2, 8, 4}, 1)), Value(numbers({1, 1, 1, 4}, 2)),
                                 Value(numbers({1, 1, 1, 3}, 3))};
  const std::vector<Value> y = run_all(*session_of_text(text, {}), in);
  const auto one = in[2].tensor.as<float>(), all = y[0].tensor.as<float>();
  for (size_t k = 0; k < all.size(); ++k) CHECK(all[k] == doctest::Approx(one[k % 3]));
}

TEST_CASE("a factor of one element gives a scalar its axis, whatever is fused") {
  const char* text = R"(<ir_version: 8, opset_import: ["" : 20]>
    g (float[] x) => (y) {
      half = Constant<value_floats = [0.5]>()
      one = Constant<value_float = 1.0>()
      root = Constant<value_float = 1.4142135>()
      d = Div(x, root)
      e = Erf(d)
      a = Add(e, one)
      m = Mul(x, a)
      y = Mul(m, half)
    })";
  const std::vector<Value> y = run_all(*session_of_text(text, {}), {Value(numbers({}, 1))});
  CHECK(to_string(y[0].tensor.dims()) == "[1]");
}

}  // namespace sx::testing
