// SPDX-License-Identifier: Apache-2.0
// Symbolic sizes: equal expressions are the same Dim, and every simplification agrees with plain arithmetic.
#include "tensor/dim.h"

#include <doctest/doctest.h>

#include <array>
#include <random>

using namespace sx;

namespace {

int64_t at(Dim d, std::initializer_list<int64_t> symbols) {
  int64_t v = 0;
  REQUIRE(evaluate(d, std::span(symbols.begin(), symbols.size()), v));
  return v;
}

int64_t floor_of(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return a % b != 0 && ((a < 0) != (b < 0)) ? q - 1 : q;
}

}  // namespace

TEST_CASE("polynomials are canonical") {
  DimPool pool;
  const Dim n = pool.symbol("N"), s = pool.symbol("S");
  CHECK(n + s == s + n);
  CHECK((n + 1) * (s + 2) == n * s + Dim(2) * n + s + 2);
  CHECK((n + s) * (n - s) == n * n - s * s);
  CHECK(n - n == Dim(0));
  CHECK(Dim(0) * n == Dim(0));
  CHECK(n + n != n);
  CHECK(pool.symbol("N") == n);
  CHECK(pool.fresh() != pool.fresh());
  CHECK(to_string(n * s + 1) == "N*S + 1");
}

TEST_CASE("division") {
  DimPool pool;
  const Dim n = pool.symbol("N"), s = pool.symbol("S");
  CHECK(floordiv(Dim(768) * n, 64) == Dim(12) * n);
  CHECK(floordiv(n, 1) == n);
  CHECK(mod(Dim(6) * n, 3) == Dim(0));
  CHECK(floordiv(Dim(-7), Dim(2)) == Dim(-4));
  CHECK(mod(Dim(-7), Dim(2)) == Dim(1));
  CHECK(mod(Dim(7), Dim(-2)) == Dim(-1));
  CHECK(mod(Dim(INT64_MIN), Dim(3)) == Dim(1));
  CHECK(mod(Dim(INT64_MIN), Dim(-1)) == Dim(0));
  CHECK(at(mod(n, Dim(-3)), {7, 0}) == -2);
  CHECK(at(floordiv(n + Dim(INT64_MIN), Dim(3)), {0, 0}) == -3074457345618258603);
  CHECK(ceildiv(Dim(7), Dim(2)) == Dim(4));
  CHECK(at(ceildiv(n + 1, 2), {6, 0}) == 4);
  // N may be zero, so N / N is not 1; (N + 1) / (N + 1) is.
  CHECK(floordiv(n, n) != Dim(1));
  CHECK(floordiv(n + 1, n + 1) == Dim(1));
  CHECK(floordiv(s, n) == floordiv(s, n));
  int64_t v = 0;
  const std::array<int64_t, 2> zero{0, 5};
  CHECK(!evaluate(floordiv(s, n), zero, v));
  CHECK(why_no_size(floordiv(s, n), zero) == "5 cannot be divided by 0");
  CHECK(why_no_size(n - s, zero) == "it is -5");
  const std::array<int64_t, 2> unknown{-1, 5};
  CHECK(why_no_size(min(n, s), unknown) == "N is not known");
}

TEST_CASE("minimum, maximum and what can be proved") {
  DimPool pool;
  const Dim n = pool.symbol("N"), s = pool.symbol("S");
  CHECK(min(n, n + 3) == n);
  CHECK(max(n, n + 3) == n + 3);
  CHECK(min(n, s) == min(s, n));
  CHECK(max(n, Dim(0)) == n);
  CHECK(min(n, Dim(INT64_MAX)) == n);
  CHECK(always_at_least(n, 0));
  CHECK(!always_at_least(n, 1));
  CHECK(always_positive(n * s + 1));
  CHECK(!always_at_least(n - s, 0));
}

TEST_CASE("broadcasting") {
  DimPool pool;
  const Dim n = pool.symbol("N"), s = pool.symbol("S");
  CHECK(broadcast(n, Dim(1)) == n);
  CHECK(broadcast(n, n) == n);
  CHECK(broadcast(n, Dim(7)) == Dim(7));
  CHECK(broadcast(n, s) == broadcast(s, n));
  CHECK(at(broadcast(n, s), {1, 5}) == 5);
  CHECK(at(broadcast(n, s), {5, 1}) == 5);
  // Whatever fits has the size that is simplified to.
  CHECK(broadcast(n, min(n, Dim(512))) == n);
  CHECK(broadcast(min(n, Dim(2)), n) == n);
  CHECK(broadcast(n, min(n, Dim(1))) != n);
  CHECK(broadcast(s, broadcast(n, s)) == broadcast(n, s));
  int64_t v = 0;
  const std::array<int64_t, 2> unlike{3, 5};
  CHECK(!evaluate(broadcast(n, s), unlike, v));
  CHECK(why_no_size(broadcast(n, s) + Dim(1), unlike) == "3 and 5 do not broadcast");
}

TEST_CASE("substitution") {
  DimPool pool;
  const Dim n = pool.symbol("N"), s = pool.symbol("S");
  const Dim d = floordiv(n * s + 1, 2) + max(n, s);
  const std::array<Dim, 2> values{Dim(4), Dim()};
  const std::array<bool, 2> given{true, false};
  const Dim half = pool.substitute(d, values, given);
  CHECK(at(half, {99, 3}) == at(d, {4, 3}));
}

TEST_CASE("bounds") {
  DimPool pool;
  const Dim n = pool.symbol("N"), s = pool.symbol("S");
  CHECK(min(mod(n, 4), Dim(7)) == mod(n, 4));
  CHECK(max(mod(n, 4) - 3, Dim(0)) == Dim(0));
  CHECK(always_positive(max(n - s, Dim(2))));
  CHECK(bounds_of(mod(n, 4) * Dim(-2)).lower == -6);
  CHECK(bounds_of(floordiv(mod(n, 100), 7)).upper == 14);
  CHECK(bounds_of(n - s).lower == INT64_MIN);
  CHECK(bounds_of(min(n, Dim(5)) - min(s, Dim(3))).lower == -3);
  CHECK(bounds_of(min(n, Dim(5)) - min(s, Dim(3))).upper == 5);
  CHECK(min(n, Dim(INT32_MAX)) != n);
}

TEST_CASE("a chain that uses every link twice costs a link each") {
  DimPool pool;
  const Dim s = pool.symbol("S");
  Dim d = s;
  std::vector<Dim> links;
  for (int i = 0; i < 1000; ++i) links.push_back(d = min(d + 1, Dim(2) * d));
  CHECK(pool.symbols() > 1);
  CHECK(pool.symbols() < 30);
  CHECK(always_at_least(d, 0));
  CHECK(mentions_fresh(d));
  // What can be written down is exact.
  int64_t expected = 3;
  const std::array<int64_t, 1> three{3};
  DimValues values(three);
  for (size_t i = 0; i < 100; ++i) {
    expected = std::min(expected + 1, 2 * expected);
    REQUIRE(!mentions_fresh(links[i]));
    CHECK(at(links[i], {3}) == expected);
    int64_t v = 0;
    REQUIRE(values.value(links[i], v));
    CHECK(v == expected);
  }
  const std::array<Dim, 1> now{Dim(3)};
  const std::array<bool, 1> given{true};
  CHECK(pool.substitute(links[99], now, given) == Dim(expected));
  CHECK(to_string(links[99]).size() < 260);
  CHECK(to_string(links[99]) != to_string(links[98]));
  CHECK(to_string(d).size() < 260);
}

TEST_CASE("what outgrows its limits claims no more than is known of it") {
  DimPool pool;
  Dim left = 0, right = 0;
  for (int i = 0; i < 40; ++i) {
    left = left + pool.fresh();
    right = right + pool.fresh();
  }
  CHECK(!always_at_least(left - right, 0));
  CHECK(always_at_least(left + right + 5, 5));
  CHECK(left + right == left + right);
  CHECK(min(left, right) != left);
  CHECK(min(left, right) != right);
  CHECK(!always_at_least(left * (Dim(0) - right) * left, 0));
}

TEST_CASE("hostile sizes end in saturation or a new symbol, never in undefined behaviour") {
  DimPool pool;
  const Dim n = pool.symbol("N");
  const Dim huge = Dim(INT64_MAX);
  CHECK((huge + Dim(1)).is_constant());
  CHECK((huge * huge).is_constant());
  CHECK((Dim(INT64_MIN) * Dim(2)).is_constant());
  const Dim overflow = (huge * n) * Dim(2);
  CHECK(!overflow.is_constant());
  int64_t v = 0;
  const std::array<int64_t, 1> large{INT64_MAX};
  CHECK(!evaluate(n * n, large, v));
  CHECK(why_no_size(n * n, large) == "it is too large");
  CHECK(floordiv(Dim(5), Dim(0)).is_constant());
  Dim deep = n;
  for (int i = 0; i < 1000; ++i) deep = floordiv(deep + 1, 2) * n + min(deep, n);
  CHECK(!to_string(deep).empty());
  Dim wide = 0;
  for (int i = 0; i < 200; ++i) wide = wide + pool.fresh() * pool.fresh();
  CHECK(!to_string(wide).empty());
}

TEST_CASE("random expressions agree with plain arithmetic") {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    DimPool pool;
    const int64_t a = int64_t(random() % 9), b = int64_t(random() % 9);
    std::vector<Dim> dims{pool.symbol("A"), pool.symbol("B"), Dim(int64_t(random() % 7)),
                          Dim(-int64_t(random() % 5))};
    std::vector<int64_t> numbers{a, b, dims[2].constant(), dims[3].constant()};
    for (int step = 0; step < 12; ++step) {
      const size_t i = random() % dims.size(), j = random() % dims.size();
      const int64_t x = numbers[i], y = numbers[j];
      switch (random() % 7) {
        case 0:
          dims.push_back(dims[i] + dims[j]);
          numbers.push_back(x + y);
          break;
        case 1:
          dims.push_back(dims[i] - dims[j]);
          numbers.push_back(x - y);
          break;
        case 2:
          if (std::abs(x) > 10000 || std::abs(y) > 10000) continue;
          dims.push_back(dims[i] * dims[j]);
          numbers.push_back(x * y);
          break;
        case 3:
          if (y == 0) continue;
          dims.push_back(floordiv(dims[i], dims[j]));
          numbers.push_back(floor_of(x, y));
          break;
        case 4:
          if (y == 0) continue;
          dims.push_back(mod(dims[i], dims[j]));
          numbers.push_back(x - floor_of(x, y) * y);
          break;
        case 5:
          dims.push_back(min(dims[i], dims[j]));
          numbers.push_back(std::min(x, y));
          break;
        default:
          dims.push_back(max(dims[i], dims[j]));
          numbers.push_back(std::max(x, y));
          break;
      }
      int64_t v = 0;
      const std::array<int64_t, 2> symbols{a, b};
      // An expression that outgrew its limits became a fresh symbol, which has no number here.
      if (pool.symbols() > 2) break;
      REQUIRE(evaluate(dims.back(), symbols, v));
      CHECK(bounds_of(dims.back()).lower <= v);
      CHECK(bounds_of(dims.back()).upper >= v);
      DimValues values(symbols);
      int64_t again = 0;
      CHECK((values.value(dims.back(), again) && again == v));
      const std::array<Dim, 2> replaced{Dim(a), Dim(b)};
      const std::array<bool, 2> given{true, true};
      CHECK(pool.substitute(dims.back(), replaced, given) == Dim(v));
      INFO(to_string(dims.back()));
      CHECK(v == numbers.back());
    }
  }
}
