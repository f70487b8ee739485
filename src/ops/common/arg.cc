// SPDX-License-Identifier: Apache-2.0
#include "ops/common/arg.h"

namespace sx::ops {

std::vector<AttrDef> arg_attrs() {
  return {attr_int("axis", 0), attr_int("keepdims", 1), attr_int("select_last_index", 0)};
}
std::vector<AttrDef> old_arg_attrs() { return {attr_int("axis", 0), attr_int("keepdims", 1)}; }

Status infer_arg(Infer& i) {
  if (!i.rank_known(0)) {
    i.set_unknown_shape(0, DType::i64);
    return {};
  }
  SX_ASSIGN(const size_t axis, i.axis(i.integer("axis"), i.rank(0)));
  std::vector<Dim> dims = i.dims(0);
  if (dims[axis].is_constant(0))
    return i.fail("axis {} of the data has size 0: nothing to choose from", axis);
  if (i.integer("keepdims") != 0)
    dims[axis] = 1;
  else
    dims.erase(dims.begin() + ptrdiff_t(axis));
  i.set_tensor(0, DType::i64, Shape(std::move(dims)));
  return {};
}

}  // namespace sx::ops
