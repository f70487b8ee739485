// SPDX-License-Identifier: Apache-2.0
// Numbers at any address: what callers give, and weights that a kernel packs or reads.
#include <doctest/doctest.h>

#include "../odd_address.h"
#include "base/format.h"
#include "model_case.h"

namespace sx::testing {
namespace {

const std::string kHead = "<ir_version: 8, opset_import: [\"\" : 17]>\n";

SessionOptions options_of(const std::string& provider) {
  SessionOptions options;
  options.providers = {provider};
  return options;
}

}  // namespace

TEST_CASE("inputs may lie at any address") {
  const std::string text =
      kHead +
      "g (float[n, 4] x, int64[m] i) => (float[m, 4] y, float[4] z) {\n"
      "  t = Exp(x) y = Gather<axis = 0>(t, i) z = ReduceMean<axes = [0], keepdims = 0>(x) }";
  const Tensor x = numbers({33, 4}, 1), i = Tensor::vector_i64(std::vector<int64_t>{5, 0, 32, -1, 7});
  for (const char* provider : {"cpu", "reference"}) {
    INFO(provider);
    const auto session = session_of_text(text, options_of(provider));
    const auto expected = run_all(*session, {Value(x), Value(i)});
    for (int again = 0; again < 2; ++again)
      CHECK(bit_equal(run_all(*session, {Value(at_odd_address(x)), Value(at_odd_address(i))}), expected));
    CHECK(bit_equal(run_all(*session, {Value(x), Value(i)}), expected));
  }
}

TEST_CASE("memory for an output at an odd address is refused") {
  const auto session =
      session_of_text(kHead + "g (float[8] x) => (float[8] y) { y = Neg(x) }", options_of("cpu"));
  const std::vector<Value> in = {Value(numbers({8}, 1))};
  std::vector<Value> out = {Value(at_odd_address(numbers({8}, 2), /*writable=*/true))};
  const Status s = session->run(in, std::span<Value>(out));
  REQUIRE(!s.ok());
  CHECK(s.to_string().find("output 'y' is float32, the memory bound to it is not aligned to 4 bytes") !=
        std::string::npos);
}

TEST_CASE("a constant matrix behind a Transpose is packed") {
  const std::string graph =
      "g (float[2, m, 3] x) => (float[2, m, 4] y) <float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> "
      "{\n"
      "  t = Transpose<perm = [1, 0]>(w) p = MatMul(x, t) y = Relu(p) }";
  SessionOptions plain = options_of("cpu");
  plain.rules = false;
  const auto session = session_of_text(kHead + graph, plain);
  CHECK(session->packed_bytes() > 0);
  const std::vector<Value> in = {Value(numbers({2, 5, 3}, 1))};
  const auto expected = run_all(*session_of_text(kHead + graph, options_of("reference")), in);
  CHECK(worst_error(run_all(*session, in), expected) < 1e-6);
}

}  // namespace sx::testing
