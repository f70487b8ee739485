// SPDX-License-Identifier: Apache-2.0
#include "ops/tensor/shapes.h"

#include <algorithm>

namespace sx::ops {
namespace {

// The quotient of two terms; false if an atom or the coefficient does not divide.
bool divide_term(const DimTerm& a, const DimTerm& b, DimTerm& q) {
  if (b.coefficient == 0 || b.coefficient == -1 || a.coefficient % b.coefficient != 0) return false;
  q = {a.coefficient / b.coefficient, a.atoms};
  for (const DimAtom* atom : b.atoms) {
    auto it = std::find(q.atoms.begin(), q.atoms.end(), atom);
    if (it == q.atoms.end()) return false;
    q.atoms.erase(it);
  }
  return true;
}

DimTerm leading(Dim d) { return d.is_constant() ? DimTerm{d.constant(), {}} : d.expr()->terms.front(); }

}  // namespace

Dim product_of(std::span<const Dim> dims) {
  Dim p = 1;
  for (Dim d : dims) p = p * d;
  return p;
}

bool exact_quotient(Dim a, Dim b, Dim& q) {
  if (a == b) {
    q = 1;
    return true;
  }
  DimPool* pool = a.expr() ? a.expr()->pool : b.expr() ? b.expr()->pool : nullptr;
  if (!pool) {
    if (b.constant() == 0 || b.constant() == -1 || a.constant() % b.constant() != 0) return false;
    q = a.constant() / b.constant();
    return true;
  }
  // Long division: terms are in a monomial order, so each step removes the leading one.
  constexpr int kMostSteps = 64;
  q = 0;
  for (int step = 0; step < kMostSteps && !a.is_constant(0); ++step) {
    DimTerm t;
    if (!divide_term(leading(a), leading(b), t)) return false;
    const Dim part = pool->intern({t});
    q = q + part;
    a = a - part * b;
  }
  return a.is_constant(0);
}

Result<Dim> remaining_size(Infer& i, std::vector<Dim> in, std::vector<Dim> out) {
  for (size_t k = 0; k < out.size();) {
    auto it = std::find(in.begin(), in.end(), out[k]);
    if (it == in.end()) {
      ++k;
      continue;
    }
    in.erase(it);
    out.erase(out.begin() + int64_t(k));
  }
  const Dim total = product_of(in), rest = product_of(out);
  Dim q;
  if (exact_quotient(total, rest, q)) return q;
  if (rest.is_constant(0)) return i.fail("the size -1 cannot be told beside a size 0");
  if (total.is_constant() && rest.is_constant()) {
    return i.fail("{} elements do not divide into rows of {}", total.constant(), rest.constant());
  }
  q = floordiv(total, rest);
  SX_TRY(i.require_equal(total, q * rest, "the number of elements"));
  return q;
}

Result<std::vector<size_t>> normal_axes(std::span<const int64_t> axes, size_t rank) {
  std::vector<size_t> out;
  for (int64_t a : axes) {
    int64_t at = a;
    if (!normal_index(at, int64_t(rank))) {
      return error(Code::invalid_model, "axis {} is out of range for rank {}", a, rank);
    }
    if (std::find(out.begin(), out.end(), size_t(at)) != out.end()) {
      return error(Code::invalid_model, "axis {} is given twice", a);
    }
    out.push_back(size_t(at));
  }
  return out;
}

bool reshape_view(const ViewArgs& args, size_t, ViewMap& map) {
  map.offset = 0;
  map.strides = Dims(args.out_dims.size(), 1);
  const auto nothing = [](const auto& list) { return std::find(list.begin(), list.end(), 0) != list.end(); };
  if (nothing(args.dims) && nothing(args.out_dims)) return true;  // no element lies anywhere
  // Input axes without those of size 1, merged while they lie evenly; then cut into the output's axes.
  size_t from = 0;
  const auto& dims = args.dims;
  int64_t left = 1, step = 0;  // of the current merged input axis, still to be cut
  std::vector<std::pair<int64_t, int64_t>> merged;
  for (; from < dims.size(); ++from) {
    if (dims[from] == 1) continue;
    if (!merged.empty() && merged.back().second == args.strides[from] * dims[from]) {
      merged.back() = {merged.back().first * dims[from], args.strides[from]};
    } else {
      merged.push_back({dims[from], args.strides[from]});
    }
  }
  size_t at = merged.size();
  for (size_t k = args.out_dims.size(); k-- > 0;) {
    const int64_t size = args.out_dims[k];
    if (size == 0) return true;
    if (size == 1) continue;
    if (left == 1) {
      if (at == 0) return false;
      left = merged[--at].first;
      step = merged[at].second;
    }
    if (left % size != 0) return false;
    map.strides[k] = step;
    step *= size;
    left /= size;
  }
  return true;
}

Part part_of(int64_t size, int64_t start, int64_t end, int64_t step) {
  Part p;
  p.step = step;
  const int64_t high = step < 0 ? size - 1 : size;
  auto place = [&](int64_t v, int64_t low) {
    if (v < 0) v = v < -size ? low : v + size;
    return std::min(std::max(v, low), high);
  };
  p.start = place(start, 0);
  const int64_t stop = place(end, step < 0 ? -1 : 0);
  const int64_t span = step > 0 ? stop - p.start : p.start - stop;
  const uint64_t pace = step > 0 ? uint64_t(step) : 0 - uint64_t(step);
  p.length = span > 0 ? int64_t((uint64_t(span) - 1) / pace + 1) : 0;
  if (p.length <= 1) p.step = 1;  // whatever it was, no step is taken
  return p;
}

}  // namespace sx::ops
