// SPDX-License-Identifier: Apache-2.0
// Slice: a part of each named axis, from start to before end by steps, as numpy's x[start:end:step].
#include <algorithm>
#include <limits>
#include <optional>

#include "graph/lift.h"
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::slice {

constexpr int64_t kFar = std::numeric_limits<int32_t>::max();

// A bound counted from the front, clamped to [low, high]; false if its sign is not known.
static bool place(Dim bound, Dim size, Dim low, Dim high, Dim& at) {
  if (bound.is_constant() && bound.constant() >= kFar) {  // how models write "the end"
    at = high;
  } else if (bound.is_constant() && bound.constant() < 0) {
    at = bound.constant() <= -kFar ? low : size + bound;
  } else if (always_at_least(bound, 0)) {
    at = bound;
  } else {
    return false;
  }
  if (!(at == high)) at = min(max(at, low), high);
  return true;
}

static Dim length_of(Infer& i, Dim size, Dim start, Dim end, int64_t step) {
  if (size.is_constant() && start.is_constant() && end.is_constant()) {
    return part_of(size.constant(), start.constant(), end.constant(), step).length;
  }
  // The size of a tensor is never negative, even where its formula could be.
  const bool whole =
      step == 1 && start.is_constant(0) && (end == size || (end.is_constant() && end.constant() >= kFar));
  if (whole) return size;
  Dim from, to;
  const Dim low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
  if (!place(start, size, 0, high, from) || !place(end, size, low, high, to)) return i.fresh();
  const Dim length = step > 0 ? ceildiv(to - from, step) : ceildiv(from - to, Dim(-1) * step);
  return max(length, 0);
}

// Starts, ends and steps of the axes they apply to. Returns false where axes or steps are not known yet.
static Result<bool> read(Infer& i, std::vector<size_t>& axes, std::vector<int64_t>& steps, size_t count) {
  std::vector<int64_t> named, given;
  if (i.has(3)) {
    if (!i.constant_ints(3, named)) return false;
  } else {
    for (size_t k = 0; k < count; ++k) named.push_back(int64_t(k));
  }
  if (i.has(4) && !i.constant_ints(4, given)) return false;
  if (!i.has(4)) given.assign(count, 1);
  if (named.size() != count || given.size() != count) {
    return i.fail("there are {} starts, but {} axes and {} steps", count, named.size(), given.size());
  }
  for (int64_t& s : given) {
    if (s == 0) return i.fail("a step is 0");
    s = std::clamp(s, -INT64_MAX, INT64_MAX);  // so that it has an opposite
  }
  SX_ASSIGN(axes, normal_axes(named, i.rank(0)));
  steps = given;
  return true;
}

// How many axes are sliced, as far as one of the lists tells it.
static std::optional<size_t> slices(const Infer& i) {
  for (size_t k = 1; k < 5; ++k) {
    if (const auto* e = i.elements(k)) return e->size();
    if (i.rank_known(k) && i.rank(k) == 1 && i.dim(k, 0).is_constant()) return size_t(i.dim(k, 0).constant());
  }
  return {};
}

static void slice_elements(Infer& i, Dim start, Dim end, int64_t step) {
  const auto* e = i.elements(0);
  if (!e || i.rank(0) != 1 || !start.is_constant() || !end.is_constant()) return;
  const Part p = part_of(int64_t(e->size()), start.constant(), end.constant(), step);
  std::vector<Dim> out;
  for (int64_t k = 0; k < p.length; ++k) out.push_back((*e)[size_t(p.start + k * p.step)]);
  i.set_elements(0, std::move(out));
}

static Status infer(Infer& i) {
  if (!i.rank_known(0)) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  std::vector<Dim> dims = i.dims(0);
  const auto *starts = i.elements(1), *ends = i.elements(2);
  std::vector<size_t> axes;
  std::vector<int64_t> steps;
  const std::optional<size_t> given = slices(i);
  if (!given) {
    i.set_ranked(0, i.elem(0), dims.size());
    return {};
  }
  const size_t count = *given;
  if (starts && ends && starts->size() != ends->size()) {
    return i.fail("there are {} starts and {} ends", starts->size(), ends->size());
  }
  if (count > dims.size()) return i.fail("{} axes are sliced, the input has rank {}", count, dims.size());
  SX_ASSIGN(const bool known, read(i, axes, steps, count));
  if (!known) {
    i.set_ranked(0, i.elem(0), dims.size());
    return {};
  }
  for (size_t k = 0; k < axes.size(); ++k) {
    Dim& d = dims[axes[k]];
    d = starts && ends ? length_of(i, d, (*starts)[k], (*ends)[k], steps[k]) : i.fresh();
  }
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  if (starts && ends && axes.size() == 1) slice_elements(i, (*starts)[0], (*ends)[0], steps[0]);
  return {};
}

// The parts of all axes from the contents of the inputs; false where they are not known or do not fit.
template <class Ints>
static bool parts(std::span<const int64_t> dims, Ints&& ints, std::vector<Part>& out) {
  std::vector<int64_t> starts, ends, axes, steps;
  if (!ints(1, starts) || !ints(2, ends)) return false;
  if (!ints(3, axes)) {
    for (size_t k = 0; k < starts.size(); ++k) axes.push_back(int64_t(k));
  }
  if (!ints(4, steps)) steps.assign(starts.size(), 1);
  for (int64_t d : dims) out.push_back({0, d, 1});
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    return false;
  for (size_t k = 0; k < starts.size(); ++k) {
    int64_t axis = axes[k];
    if (!normal_index(axis, int64_t(dims.size())) || steps[k] == 0) return false;
    out[size_t(axis)] = part_of(dims[size_t(axis)], starts[k], ends[k], steps[k]);
  }
  return true;
}

static Status eval(Eval& e) {
  auto ints = [&](size_t k, std::vector<int64_t>& v) {
    if (!e.has(k)) return false;
    auto read = e.ints_of(k);
    if (read.ok()) v = *read;
    return read.ok();
  };
  const Tensor& x = e.in(0);
  std::vector<Part> part;
  if (!parts(x.dims(), ints, part))
    return e.fail("starts, ends, axes and steps do not fit {}", to_string(x.dims()));
  Dims dims, steps;
  const Dims strides = contiguous_strides(x.dims());
  int64_t first = 0;
  for (size_t k = 0; k < part.size(); ++k) {
    dims.push_back(part[k].length);
    steps.push_back(strides[k] * part[k].step);
    first += strides[k] * part[k].start;
  }
  SX_TRY(e.allocate(0, x.type(), dims));
  move_strided(x, first, steps, e.out(0), 0, contiguous_strides(dims), dims);
  return {};
}

static bool view(const ViewArgs& args, size_t, ViewMap& map) {
  std::vector<Part> part;
  if (!parts(args.dims, args.ints, part)) return false;
  // Optional inputs whose contents are not known look like absent ones: the shape tells them apart.
  map.offset = 0;
  for (size_t k = 0; k < part.size(); ++k) {
    if (part[k].length != args.out_dims[k]) return false;
    map.strides.push_back(args.strides[k] * part[k].step);
    map.offset += part[k].length > 0 ? args.strides[k] * part[k].start : 0;
  }
  return true;
}

static Status lift_attributes(Lift& l) {
  l.attr_to_input("starts", 1);
  l.attr_to_input("ends", 2);
  l.attr_to_input("axes", 3);
  return {};
}

extern const Op op = {
    .name = "Slice",
    .in = {{"data", "T"},
           {"starts", "Tind"},
           {"ends", "Tind"},
           {"axes", "Tind", kOptional},
           {"steps", "Tind", kOptional}},
    .out = {{"output", "T"}},
    .types = {{"T", kAll13}, {"Tind", kIndices}},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 13},
                {.since = 11, .types = {{"T", kOldAll}}},
                {.since = 10},
                {.since = 1,
                 .attrs = {{required_attr("starts", AttrKind::integers),
                            required_attr("ends", AttrKind::integers),
                            optional_attr("axes", AttrKind::integers)}},
                 .in = {{{"data", "T"}}},
                 .lift = lift_attributes}},
    .view = view,
};

}  // namespace sx::ops::slice
