// SPDX-License-Identifier: Apache-2.0
#include "tensor/dim_bounds.h"

#include <algorithm>

namespace sx {
namespace {

constexpr int64_t kLowest = INT64_MIN, kHighest = INT64_MAX;

bool infinite(int64_t v) { return v == kLowest || v == kHighest; }

// `nothing` is the infinity of the side that is computed.
int64_t add_end(int64_t a, int64_t b, int64_t nothing) {
  int64_t sum = 0;
  return infinite(a) || infinite(b) || __builtin_add_overflow(a, b, &sum) ? nothing : sum;
}

int64_t multiply_end(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  int64_t p = 0;
  if (!infinite(a) && !infinite(b) && !__builtin_mul_overflow(a, b, &p)) return p;
  return (a < 0) == (b < 0) ? kHighest : kLowest;
}

// Only where the divisor is not negative; a divisor of zero has no quotient to bound.
DimBounds divide(DimBounds a, DimBounds b) {
  if (b.lower < 0 || b.upper < 1) return {};
  const int64_t least = std::max<int64_t>(b.lower, 1), most = b.upper;
  DimBounds q;
  if (a.lower >= 0)
    q.lower = most == kHighest ? 0 : a.lower / most;
  else if (a.lower != kLowest)
    q.lower = floor_div(a.lower, least);
  if (a.upper < 0)
    q.upper = most == kHighest ? -1 : floor_div(a.upper, most);
  else if (a.upper != kHighest)
    q.upper = a.upper / least;
  return q;
}

DimBounds remainder(DimBounds a, DimBounds b) {
  if (b.lower < 0 || b.upper < 1) return {};
  const int64_t below = b.upper == kHighest ? kHighest : b.upper - 1;
  return {0, a.lower >= 0 ? std::min(a.upper, below) : below};
}

}  // namespace

DimBounds add(DimBounds a, DimBounds b) {
  return {add_end(a.lower, b.lower, kLowest), add_end(a.upper, b.upper, kHighest)};
}

DimBounds multiply(DimBounds a, DimBounds b) {
  const auto [low, high] = std::minmax({multiply_end(a.lower, b.lower), multiply_end(a.lower, b.upper),
                                        multiply_end(a.upper, b.lower), multiply_end(a.upper, b.upper)});
  return {std::min(low, kHighest - 1), std::max(high, kLowest + 1)};
}

DimBounds bounds_of(const std::vector<DimTerm>& terms) {
  DimBounds sum{0, 0};
  for (const DimTerm& t : terms) {
    DimBounds product{t.coefficient, t.coefficient};
    for (const DimAtom* a : t.atoms) product = multiply(product, a->bounds);
    sum = add(sum, product);
  }
  return sum;
}

DimBounds bounds_of(DimOp op, DimBounds a, DimBounds b) {
  switch (op) {
    case DimOp::symbol: return {};
    case DimOp::floordiv: return divide(a, b);
    case DimOp::mod: return remainder(a, b);
    case DimOp::min: return {std::min(a.lower, b.lower), std::min(a.upper, b.upper)};
    case DimOp::max: return {std::max(a.lower, b.lower), std::max(a.upper, b.upper)};
    // It is one of the two, and a size.
    case DimOp::broadcast:
      return {std::max<int64_t>(0, std::min(a.lower, b.lower)), std::max(a.upper, b.upper)};
    case DimOp::sum: return add(a, b);
    case DimOp::product: return multiply(a, b);
  }
  return {};
}

}  // namespace sx
