// SPDX-License-Identifier: Apache-2.0
// Reshape: the same elements under other sizes. A size 0 copies the input's (unless allowzero), one -1 is
// what remains.
#include <algorithm>

#include "graph/lift.h"
#include "ops/common/checks.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::reshape {

static Result<std::vector<Dim>> sizes(Infer& i, const std::vector<Dim>& wanted) {
  const bool copy_zero = i.integer("allowzero") == 0;
  const bool known = i.rank_known(0);
  std::vector<Dim> dims, others;
  size_t free = wanted.size();
  for (size_t k = 0; k < wanted.size(); ++k) {
    Dim d = wanted[k];
    if (d.is_constant(-1)) {
      if (free < wanted.size()) return i.fail("the shape {} has more than one -1", to_string(wanted));
      free = k;
      dims.push_back(1);
      continue;
    }
    if (d.is_constant(0) && copy_zero) {
      if (known && k >= i.rank(0))
        return i.fail("size 0 at axis {} copies no axis of {}", k, to_string(i.dims(0)));
      d = known ? i.dim(0, k) : i.fresh();
    }
    if (d.is_constant() && d.constant() < 0)
      return i.fail("the shape {} has a negative size", to_string(wanted));
    dims.push_back(d);
    others.push_back(d);
  }
  if (free < wanted.size()) {
    if (!copy_zero && std::any_of(others.begin(), others.end(), [](Dim d) { return d.is_constant(0); }))
      return i.fail("the shape {} has a 0 and a -1: with allowzero, any size would do", to_string(wanted));
    if (!known)
      dims[free] = i.fresh();
    else {
      SX_ASSIGN(dims[free], remaining_size(i, i.dims(0), others));
    }
  } else if (known) {
    const Dim have = product_of(i.dims(0)), make = product_of(dims);
    if (have.is_constant() && make.is_constant() && have != make) {
      return i.fail("{} elements of {} cannot take the shape {}", have.constant(), to_string(i.dims(0)),
                    to_string(wanted));
    }
    SX_TRY(i.require_equal(have, make, "the number of elements"));
  }
  return dims;
}

static Status infer(Infer& i) {
  SX_TRY(require_rank(i, 1, 1, "shape"));
  const std::vector<Dim> scalar;
  const bool no_sizes = i.rank_known(1) && i.rank(1) == 1 && i.dim(1, 0).is_constant(0);
  if (const auto* wanted = no_sizes ? &scalar : i.elements(1)) {
    SX_ASSIGN(std::vector<Dim> dims, sizes(i, *wanted));
    const bool stays_small = dims.size() <= 1;
    i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
    if (const auto* e = i.elements(0); e && stays_small) i.set_elements(0, *e);
  } else if (i.rank_known(1) && i.rank(1) == 1 && i.dim(1, 0).is_constant()) {
    i.set_ranked(0, i.elem(0), size_t(i.dim(1, 0).constant()));
  } else {
    i.set_unknown_shape(0, i.elem(0));
  }
  return {};
}

static Status eval(Eval& e) {
  SX_ASSIGN(Tensor t, e.in(0).reshaped(e.out(0).dims()));
  e.set(0, Value(std::move(t)));
  return {};
}

static Status lift_attribute(Lift& l) {
  l.attrs().erase("consumed_inputs");
  if (!l.attrs().has("shape")) return l.fail("Reshape-1 without the attribute 'shape'");
  l.attr_to_input("shape", 1);
  return {};
}

extern const Op op = {
    .name = "Reshape",
    .in = {{"data", "T"}, {"shape", "tensor(int64)"}},
    .out = {{"reshaped", "T"}},
    .types = {{"T", kAll25}},
    .attrs = {attr_int("allowzero", 0)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 25},
                {.since = 24, .types = {{"T", kAll24}}},
                {.since = 23, .types = {{"T", kAll23}}},
                {.since = 21, .types = {{"T", kAll21}}},
                {.since = 19, .types = {{"T", kAll19}}},
                {.since = 14, .types = {{"T", kAll13}}},
                {.since = 13, .attrs = std::vector<AttrDef>()},
                {.since = 5, .types = {{"T", kOldAll}}},
                {.since = 1,
                 .types = {{"T", kOldFloats}},
                 .attrs = {{optional_attr("shape", AttrKind::integers),
                            optional_attr("consumed_inputs", AttrKind::integers)}},
                 .in = {{{"data", "T"}}},
                 .lift = lift_attribute}},
    .view = reshape_view,
    .view_keeps_order = true,
};

}  // namespace sx::ops::reshape
