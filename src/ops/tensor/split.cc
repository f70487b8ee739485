// SPDX-License-Identifier: Apache-2.0
// Split: cuts a tensor along one axis into parts of given sizes, or into equal ones.
#include "graph/lift.h"
#include "ops/common/checks.h"
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::split {

// A split into more parts than inference follows is still known where it is constant.
static bool known_sizes(const Infer& i, std::vector<Dim>& sizes) {
  std::vector<int64_t> constant;
  if (const auto* e = i.elements(1))
    sizes = *e;
  else if (i.constant_ints(1, constant))
    sizes.assign(constant.begin(), constant.end());
  else
    return false;
  return true;
}

static Result<std::vector<Dim>> sizes(Infer& i, Dim total) {
  const size_t parts = i.outputs();
  std::vector<Dim> out;
  if (i.has(1)) {
    SX_TRY(require_dims(i, 1, Shape({int64_t(parts)}), "split"));
    if (known_sizes(i, out)) {
      SX_TRY(require_sizes(i, out, "split"));
      Dim sum = 0;
      for (Dim d : out) sum = sum + d;
      SX_TRY(i.require_equal(total, sum, "the sum of split"));
      return out;
    }
    for (size_t k = 0; k < parts; ++k) out.push_back(i.fresh());
    return out;
  }
  const int64_t n = i.has_attr("num_outputs") ? i.integer("num_outputs") : int64_t(parts);
  if (n != int64_t(parts)) return i.fail("num_outputs is {}, the node has {} outputs", n, parts);
  // Equal parts but for the last ones, which take what is left.
  const Dim chunk = ceildiv(total, n);
  for (size_t k = 0; k < parts; ++k) out.push_back(min(chunk, max(total - chunk * int64_t(k), 0)));
  return out;
}

static Status infer(Infer& i) {
  if (!i.rank_known(0)) {
    for (size_t k = 0; k < i.outputs(); ++k) i.set_unknown_shape(k, i.elem(0));
    return {};
  }
  SX_ASSIGN(const size_t axis, i.axis(i.integer("axis"), i.rank(0)));
  SX_ASSIGN(const std::vector<Dim> size, sizes(i, i.dim(0, axis)));
  const auto* e = i.elements(0);
  size_t at = 0;
  for (size_t k = 0; k < size.size(); ++k) {
    std::vector<Dim> dims = i.dims(0);
    dims[axis] = size[k];
    i.set_tensor(k, i.elem(0), Shape(std::move(dims)));
    if (!e || !size[k].is_constant() || at + size_t(size[k].constant()) > e->size()) {
      e = nullptr;
      continue;
    }
    const auto from = e->begin() + int64_t(at);
    i.set_elements(k, std::vector<Dim>(from, from + size[k].constant()));
    at += size_t(size[k].constant());
  }
  return {};
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  SX_ASSIGN(const size_t axis, e.axis(e.integer("axis"), x.rank()));
  const std::span<const int64_t> dims = x.dims();
  const int64_t outer = product(dims.first(axis)), inner = product(dims.subspan(axis + 1));
  std::vector<int64_t> given;
  if (e.has(1)) {
    SX_ASSIGN(given, e.ints_of(1));
  }
  const int64_t chunk = e.outputs() ? (dims[axis] + int64_t(e.outputs()) - 1) / int64_t(e.outputs()) : 0;
  int64_t at = 0;
  for (size_t k = 0; k < e.outputs(); ++k) {
    const int64_t size = e.has(1) ? given[k] : std::min(chunk, dims[axis] - at);
    if (e.wanted(k)) {
      for (int64_t o : turns(outer, size_t(size * inner))) {
        move_run(x, (o * dims[axis] + at) * inner, e.out(k), o * size * inner, size * inner);
      }
    }
    at += size;
  }
  return {};
}

static bool view(const ViewArgs& args, size_t output, ViewMap& map) {
  int64_t axis = args.attrs.integer("axis", 0);
  if (!normal_index(axis, int64_t(args.dims.size()))) return false;
  std::vector<int64_t> given;
  int64_t at = 0;
  if (args.ints(1, given)) {
    if (output >= given.size()) return false;
    for (size_t k = 0; k < output; ++k) at += given[k];
  } else {
    const int64_t n = args.attrs.integer("num_outputs", int64_t(args.outputs));
    if (n < 1) return false;
    at = (args.dims[size_t(axis)] + n - 1) / n * int64_t(output);
  }
  map.offset = at * args.strides[size_t(axis)];
  map.strides = Dims(args.strides);
  return true;
}

static Status lift_equal_parts(Lift& l) {
  if (!l.has(1)) l.attrs().set("num_outputs", int64_t(l.outputs()));
  return {};
}

static Status lift_attribute(Lift& l) {
  l.attr_to_input("split", 1);
  return {};
}

// The sizes could be an input of the data's own type.
static Status lift_first(Lift& l) {
  if (!l.has(1)) return {};
  const Tensor* t = l.constant(1);
  if (!t) return l.fail("Split-1 with sizes that are not constant");
  const Reader<int64_t> sizes(*t);
  l.attrs().set("split", std::vector<int64_t>(sizes.begin(), sizes.end()));
  l.graph().set_inputs(l.id(), {l.in(0)});
  return {};
}

extern const Op op = {
    .name = "Split",
    .in = {{"input", "T"}, {"split", "tensor(int64)", kOptional}},
    .out = {{"outputs", "T", kVariadic}},
    .types = {{"T", kAll13}},
    .attrs = {attr_int("axis", 0), optional_attr("num_outputs", AttrKind::integer)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 18},
                {.since = 13, .attrs = {{attr_int("axis", 0)}}, .lift = lift_equal_parts},
                {.since = 11,
                 .types = {{"T", kOldAll}},
                 .attrs = {{attr_int("axis", 0), optional_attr("split", AttrKind::integers)}},
                 .in = {{{"input", "T"}}},
                 .lift = lift_attribute},
                {.since = 2},
                {.since = 1,
                 .types = {{"T", kOldFloats}},
                 .attrs = {{optional_attr("axis", AttrKind::integer),
                            optional_attr("split", AttrKind::integers)}},
                 .in = {{{"input", "T"}, {"split", "T", kOptional}}},
                 .out = {{{"outputs...", "T", kVariadic}}},
                 .lift = lift_first}},
    .view = view,
};

}  // namespace sx::ops::split
