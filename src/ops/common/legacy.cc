// SPDX-License-Identifier: Apache-2.0
#include "ops/common/legacy.h"

#include <cmath>

#include "graph/infer.h"

namespace sx::ops {
namespace {

// The input with ones appended until it is rank - axis long, where the ranks are known only when the model
// runs.
ValueId pad_rank(Lift& l, size_t index, int64_t axis) {
  const ValueId shape_a = l.node("Shape", {l.in(0)}), shape_b = l.node("Shape", {l.in(index)});
  const ValueId from_axis =
      axis < 0 ? l.ints({-axis}) : l.node("Sub", {l.node("Shape", {shape_a}), l.ints({axis})});
  const ValueId missing = l.node("Sub", {from_axis, l.node("Shape", {shape_b})});
  const int64_t one = 1;
  const ValueId ones = l.node("ConstantOfShape", {l.node("Max", {missing, l.ints({0})})},
                              {{"value", Tensor::vector_i64({&one, 1})}});
  const ValueId shape = l.node("Concat", {shape_b, ones}, {{"axis", int64_t(0)}});
  return l.node("Reshape", {l.in(index), shape}, {{"allowzero", int64_t(1)}});
}

}  // namespace

Status lift_consumed_inputs(Lift& l) {
  l.attrs().erase("consumed_inputs");
  return {};
}

Status lift_axis_broadcast(Lift& l) {
  const bool spread = l.attrs().integer("broadcast", 0) != 0 && l.attrs().has("axis");
  const int64_t axis = l.attrs().integer("axis", 0);
  l.attrs().erase("consumed_inputs");
  l.attrs().erase("broadcast");
  l.attrs().erase("axis");
  if (!spread) return {};  // equal shapes, or B matches the end of A: as today
  return align_at_axis(l, 1, axis);
}

Status align_at_axis(Lift& l, size_t index, int64_t axis) {
  const Shape &a = l.type(0).shape, &b = l.type(index).shape;
  const auto most = int64_t(a.known ? a.rank() : Infer::kMostRank);
  if (axis < -most || axis > most) {
    return a.known ? l.fail("axis {} is outside input 0 of rank {}", axis, most)
                   : l.fail("axis {} is outside an input of any rank", axis);
  }
  if (!a.known || !b.known) {
    l.set_input(index, pad_rank(l, index, axis));
    return {};
  }
  const int64_t first = axis < 0 ? axis + int64_t(a.rank()) : axis;
  const int64_t missing = int64_t(a.rank()) - first - int64_t(b.rank());
  std::vector<int64_t> axes;
  for (int64_t k = 0; k < missing; ++k) axes.push_back(int64_t(b.rank()) + k);
  if (!axes.empty()) l.set_input(index, l.node("Unsqueeze", {l.in(index), l.ints(axes)}));
  return {};
}

Status lift_integers_through_double(Lift& l) {
  const DType elem = l.type(0).elem;
  if (!dtype_is_integer(elem)) return {};
  const auto cast = [&](ValueId v, DType to) { return l.node("Cast", {v}, {{"to", int64_t(to)}}); };
  std::vector<ValueId> inputs = {cast(l.in(0), DType::f64)};
  for (size_t k = 1; k < l.inputs(); ++k) inputs.push_back(l.in(k));
  const Node& n = l.graph().node(l.id());
  const std::string type = n.type;
  l.replace({cast(l.node(type, inputs, l.attrs()), elem)});
  return {};
}

Status lift_flattened_axis(Lift& l) {
  const int64_t axis = l.attrs().integer("axis", 1);
  const ValueId x = l.in(0);
  const Shape& shape = l.type(0).shape;
  if (shape.known && (axis < 0 ? axis + int64_t(shape.rank()) : axis) == int64_t(shape.rank()) - 1) {
    l.attrs().set("axis", int64_t(-1));
    return {};
  }
  const std::string type = l.graph().node(l.id()).type;
  const ValueId rows = l.node("Flatten", {x}, {{"axis", axis}});
  const ValueId done = l.node(type, {rows}, {{"axis", int64_t(-1)}});
  l.replace({l.node("Reshape", {done, l.node("Shape", {x})}, {{"allowzero", int64_t(1)}})});
  return {};
}

Status lift_real_p(Lift& l) {
  const float p = l.attrs().floating("p", 2);
  if (p != std::floor(p) || std::fabs(p) >= 0x1p31f)
    return l.fail("p is {}: only whole numbers are known to newer versions", p);
  l.attrs().set("p", int64_t(p));
  return {};
}

Status lift_axes_to_input(Lift& l) {
  l.attr_to_input("axes", 1);
  return {};
}

}  // namespace sx::ops
