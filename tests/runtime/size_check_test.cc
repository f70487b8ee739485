// SPDX-License-Identifier: Apache-2.0
// A kernel never sees sizes that the record's inference has not agreed to: inside groups, for sizes that are
// known only during the run, and through views.
#include <doctest/doctest.h>

#include "base/format.h"
#include "model_case.h"

namespace sx::testing {
namespace {

const std::string kHead = "<ir_version: 8, opset_import: [\"\" : 17]>\n";

Value ints(std::vector<int64_t> v) { return Value(Tensor::vector_i64(v)); }
Value floats(Dims dims, uint32_t seed = 1) { return Value(numbers(std::move(dims), seed)); }

struct Refused {
  std::string name;
  std::string text;
  std::vector<Value> feeds;
  const char* says;
};

// A part of x, whose size only the run tells.
const std::string kLate = "g (float[n,m] x, int64[1] from, int64[1] to, int64[1] axis";
const std::string kSlice = "s = Slice(x, from, to, axis) ";

std::vector<Refused> refused() {
  auto late = [](Dims x, int64_t to, int64_t axis, Value other) {
    return std::vector<Value>{floats(std::move(x)), ints({0}), ints({to}), ints({axis}), std::move(other)};
  };
  return {
      {"gemm in a group",
       "g (float[m,k] a, float[4,3] b) => (float[m,3] y) { t = Gemm(a, b) y = Relu(t) }",
       {floats({2, 5}), floats({4, 3})},
       "the summed axis"},
      {"product and sum in a group",
       "g (float[m,k] a, float[l,3] b, float[p,3] c) => (float[m,3] y) { t = MatMul(a, b) u = Add(t, c) y = "
       "Relu(u) }",
       {floats({2, 5}), floats({4, 3}), floats({2, 3})},
       "5 and 4"},
      {"sum of a convolution in a group",
       "g (float[1,2,h,w] x, float[1,c,h,w] z) => (float[1,2,h,w] y) <float[2,2,1,1] k = {1,0,0,1}> "
       "{ t = Conv(x, k) u = Add(t, z) y = Relu(u) }",
       {floats({1, 2, 5, 5}), floats({1, 3, 5, 5})},
       "broadcast"},
      {"late sum", kLate + ", float[4,4] z) => (float[p,q] y) { " + kSlice + "y = Add(s, z) }",
       late({6, 4}, 3, 0, floats({4, 4})), "do not broadcast"},
      {"late product", kLate + ", float[4,4] z) => (float[p,q] y) { " + kSlice + "y = MatMul(s, z) }",
       late({6, 4}, 3, 1, floats({4, 4})), "3 is not 4"},
      {"late gemm", kLate + ", float[4,4] z) => (float[p,q] y) { " + kSlice + "y = Gemm(s, z) }",
       late({6, 4}, 3, 1, floats({4, 4})), "3 is not 4"},
      {"late concat",
       kLate + ", float[4,4] z) => (float[p,q] y) { " + kSlice + "y = Concat<axis = 0>(s, z) }",
       late({6, 4}, 3, 1, floats({4, 4})), "3 is not 4"},
      {"late slope", kLate + ", float[4] z) => (float[p,q] y) { " + kSlice + "y = PRelu(s, z) }",
       late({6, 4}, 3, 1, floats({4})), "does not spread"},
      {"late reshape",
       kLate + ", float[1] z) => (float[p,q] y) { " + kSlice +
           "c = Constant<value_ints = [5, 5]>() y = Reshape(s, c) }",
       late({6, 4}, 3, 1, floats({1})), "elements"},
      {"reshape to a scalar",
       "g (float[n] x, int64[0] none) => (float y) { y = Reshape(x, none) }",
       {floats({2}), ints({})},
       "elements"},
      {"late axis before a reshape",
       "g (float[n,m] x, int64[1] axis) => (float[p,q] y) { u = Unsqueeze(x, axis) "
       "c = Constant<value_ints = [-1, 3]>() y = Reshape(u, c) }",
       {floats({2, 3}), ints({7})},
       "axis 7"},
      {"reshape that forgets a factor",
       "g (float[a,b] x) => (float[c,4] y) { s = Size(x) o = Constant<value_ints = [0]>() u = Unsqueeze(s, "
       "o) "
       "four = Constant<value_ints = [4]>() d = Concat<axis = 0>(u, four) y = Reshape(x, d) }",
       {floats({2, 3})},
       "elements"},
  };
}

}  // namespace

static void check_beside_reference(const std::string& text, const std::vector<Value>& feeds) {
  SessionOptions slow;
  slow.providers = {"reference"};
  slow.rules = false;
  auto fast = session_of_text(kHead + text, {});
  auto truth = session_of_text(kHead + text, slow);
  CHECK(worst_error(run_all(*fast, feeds), run_all(*truth, feeds)) < 1e-6);
}

TEST_CASE("wrong sizes are refused by name, with and without rules, on each provider") {
  for (const Refused& c : refused()) {
    for (const bool rules : {true, false}) {
      for (const std::string provider : {"cpu", "reference"}) {
        CAPTURE(c.name);
        CAPTURE(rules);
        CAPTURE(provider);
        SessionOptions options;
        options.rules = rules;
        options.providers = {provider};
        auto session = session_of_text(kHead + c.text, options);
        std::vector<Value> out(session->outputs().size());
        for (int turn = 0; turn < 2; ++turn) {  // the session stays usable
          const Status status = session->run(c.feeds, out);
          REQUIRE_FALSE(status.ok());
          CHECK(status.code() == Code::invalid_argument);
          CHECK_MESSAGE(status.to_string().find(c.says) != std::string::npos, status.to_string());
          CHECK_MESSAGE(status.to_string().find("node ") != std::string::npos, status.to_string());
          CHECK(session->providers().front() == provider);
        }
      }
    }
  }
}

TEST_CASE("a late size that changes from run to run is checked each time") {
  auto session = session_of_text(
      kHead + kLate + ", float[4,4] z) => (float[p,q] y) { " + kSlice + "t = MatMul(s, z) y = Relu(t) }", {});
  auto run = [&](int64_t columns) {
    const std::vector<Value> in = {floats({6, 8}), ints({0}), ints({columns}), ints({1}), floats({4, 4})};
    std::vector<Value> out(1);
    return session->run(in, out);
  };
  CHECK(run(4).ok());
  CHECK_FALSE(run(3).ok());
  CHECK(run(4).ok());
  CHECK_FALSE(run(5).ok());
  CHECK(run(4).ok());
}

TEST_CASE("views with any strides reach products and attention as the standard says") {
  struct Case {
    std::string name;
    std::string text;
    std::vector<Value> feeds;
  };
  const std::vector<Case> cases = {
      {"expanded rows",
       "g (float[1,5] a, float[5,3] b) => (float[4,3] y) { s = Constant<value_ints = [4, 5]>() e = Expand(a, "
       "s) y = MatMul(e, b) }",
       {floats({1, 5}), floats({5, 3})}},
      {"expanded columns",
       "g (float[4,1] a, float[5,3] b) => (float[4,3] y) { s = Constant<value_ints = [4, 5]>() e = Expand(a, "
       "s) y = MatMul(e, b) }",
       {floats({4, 1}), floats({5, 3})}},
      {"expanded right side",
       "g (float[2,4,5] a, float[5,1] b) => (float[2,4,3] y) { s = Constant<value_ints = [2, 5, 3]>() e = "
       "Expand(b, s) y = MatMul(a, e) }",
       {floats({2, 4, 5}), floats({5, 1})}},
      {"rows backwards",
       "g (float[4,5] a, float[5,3] b) => (float[4,3] y) { f = Constant<value_ints = [-1]>() t = "
       "Constant<value_ints = [-100]>() "
       "x = Constant<value_ints = [0]>() e = Slice(a, f, t, x, f) y = MatMul(e, b) }",
       {floats({4, 5}), floats({5, 3})}},
      {"every second column",
       "g (float[4,10] a, float[5,3] b) => (float[4,3] y) { f = Constant<value_ints = [0]>() t = "
       "Constant<value_ints = [100]>() "
       "x = Constant<value_ints = [1]>() two = Constant<value_ints = [2]>() e = Slice(a, f, t, x, two) y = "
       "MatMul(e, b) }",
       {floats({4, 10}), floats({5, 3})}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    check_beside_reference(c.text, c.feeds);
  }
}

TEST_CASE("convolutions of late sizes behind a rewritten one lie as their readers expect") {
  std::string weights;
  for (int i = 0; i < 16 * 16 * 9; ++i) weights += format("{}{}", i ? ", " : "", i % 7 - 3);
  check_beside_reference(
      "g (float[] x) => (float[a,b,c,d] y) <float[16,16,3,3] w = {" + weights +
          "}, float bias = {2}> { s = Conv(x, w) t = Add(s, bias) y = Conv<pads = [1, 1, 1, 1]>(t, w) }",
      {floats({2, 16, 9, 7})});
}

TEST_CASE("a value without elements may have a long axis") {
  check_beside_reference(
      "g (float[n,m] x) => (float[a,b] y) { c = Constant<value_ints = [1099511627776, 0]>() "
      "y = Reshape(x, c) }",
      {floats({3, 0})});
}

}  // namespace sx::testing
