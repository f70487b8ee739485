// SPDX-License-Identifier: Apache-2.0
// Strided copies of random views against plain loops; every byte outside the destination's elements must
// survive.
#include "kernels/strided_copy.h"

#include <doctest/doctest.h>

#include <cstring>

#include "kernel_testing.h"

using namespace sx;
using namespace sx::kernels;
using sx::testing::for_each_isa;

namespace {

// A view of random order, gaps and direction over a buffer; gives where index zero lies and the buffer's
// length.
struct View {
  std::vector<ptrdiff_t> strides;
  size_t first = 0, length = 1;
};

View random_view(testing::Random& random, const std::vector<size_t>& dims, bool repeats) {
  View v;
  const size_t rank = dims.size();
  v.strides.resize(rank);
  std::vector<size_t> order(rank);
  for (size_t d = 0; d < rank; ++d) order[d] = rank - 1 - d;
  if (random.below(2))
    for (size_t d = rank; d > 1; --d) std::swap(order[d - 1], order[random.below(d)]);
  size_t step = random.below(5) == 0 ? 2 : 1;
  for (size_t d : order) {
    if (repeats && random.below(5) == 0) continue;
    v.strides[d] = static_cast<ptrdiff_t>(step);
    if (dims[d] > 0 && random.below(6) == 0) {
      v.first += (dims[d] - 1) * step;
      v.strides[d] = -v.strides[d];
    }
    v.length += (dims[d] ? dims[d] - 1 : 0) * step;
    step *= dims[d] ? dims[d] : 1;
    if (random.below(6) == 0) step += random.below(4);
  }
  return v;
}

void check(const std::vector<size_t>& dims, size_t element, const View& from, const View& to,
           Parallel& parallel) {
  testing::Random random(element);
  std::vector<uint8_t> src(from.length * element + 1), dst(to.length * element + 1, 0xee);
  for (uint8_t& b : src) b = static_cast<uint8_t>(random.next());
  std::vector<uint8_t> want = dst;
  size_t total = 1;
  for (size_t d : dims) total *= d;
  for (size_t flat = 0; flat < total; ++flat) {
    size_t rest = flat;
    ptrdiff_t a = static_cast<ptrdiff_t>(from.first), b = static_cast<ptrdiff_t>(to.first);
    for (size_t d = dims.size(); d-- > 0; rest /= dims[d]) {
      a += static_cast<ptrdiff_t>(rest % dims[d]) * from.strides[d];
      b += static_cast<ptrdiff_t>(rest % dims[d]) * to.strides[d];
    }
    // One byte further: nothing is aligned.
    std::memcpy(&want[static_cast<size_t>(b) * element + 1], &src[static_cast<size_t>(a) * element + 1],
                element);
  }
  auto plan = CopyPlan::make(element, dims, from.strides, to.strides);
  REQUIRE(plan.ok());
  copy_run(*plan, &src[1] + from.first * element, &dst[1] + to.first * element, parallel);
  CHECK(dst == want);
}

TEST_CASE("copies between random views") {
  for_each_isa([](Isa) {
    Serial serial;
    testing::Threads threads(3);
    testing::Random random(21);
    for (int round = 0; round < 1500; ++round) {
      std::vector<size_t> dims(random.below(6));
      for (size_t& d : dims) d = 1 + random.below(random.below(4) ? 7 : 40);
      if (!dims.empty() && random.below(20) == 0) dims[0] = 0;
      const size_t element = size_t{1} << random.below(5);
      const View from = random_view(random, dims, true), to = random_view(random, dims, false);
      CAPTURE(round);
      check(dims, element, from, to, round % 2 ? static_cast<Parallel&>(serial) : threads);
    }
  });
}

TEST_CASE("large transposes and long runs are cut into chunks") {
  for_each_isa([](Isa) {
    testing::Threads threads(3);
    for (size_t element : {1, 2, 4, 8, 16}) {
      check({301, 517}, element, {{1, 301}, 0, 301 * 517}, {{517, 1}, 0, 301 * 517}, threads);
      check({200003}, element, {{1}, 0, 200003}, {{1}, 0, 200003}, threads);
      check({200003}, element, {{0}, 0, 1}, {{1}, 0, 200003}, threads);
      check({3, 64, 5, 70}, element, {{64 * 5 * 70, 70, 64 * 70, 1}, 0, 3 * 64 * 5 * 70},
            {{64 * 5 * 70, 5 * 70, 70, 1}, 0, 3 * 64 * 5 * 70}, threads);
    }
  });
}

TEST_CASE("an element of three bytes is refused") {
  const size_t dims[] = {4};
  const ptrdiff_t strides[] = {1};
  CHECK_FALSE(CopyPlan::make(3, dims, strides, strides).ok());
}

}  // namespace
