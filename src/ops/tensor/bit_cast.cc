// SPDX-License-Identifier: Apache-2.0
// BitCast: the same bits under another type of the same width.
#include "ops/engine/map.h"
#include "ops/engine/move.h"
#include "ops/tensor/shapes.h"

namespace sx::ops::bit_cast {

static Status infer(Infer& i) {
  SX_ASSIGN(const DType to, i.dtype("to"));
  const DType meant = DType(i.integer("to"));
  if (to == DType::undefined || to == DType::string)
    return i.fail("bits cannot be read as {}", dtype_name(to));
  if (!i.widen && i.elem(0) != DType::undefined && dtype_bits(i.elem(0)) != dtype_bits(meant)) {
    return i.fail("{} has {} bits, {} has {}", dtype_name(i.elem(0)), dtype_bits(i.elem(0)),
                  dtype_name(meant), dtype_bits(meant));
  }
  i.set_tensor(0, to, i.in(0).shape);
  return {};
}

// A widened input is narrowed to the float of the right width first: the bits are what is asked for.
static Status eval(Eval& e) {
  const DType to = DType(e.integer("to"));
  Tensor from = e.in(0);
  if (e.widen && dtype_bits(from.type()) != dtype_bits(to)) {
    const DType narrow = from.type() == DType::c128 ? DType::c64
                         : dtype_bits(to) == 32     ? DType::f32
                                                    : DType::f16;
    SX_ASSIGN(Tensor t, Tensor::allocate(narrow, from.dims()));
    SX_TRY(with_class<kAllClasses>(e, from.type(), [&](auto zero) {
      using T = decltype(zero);
      return map1_as<T>(e, from, t, [](T v) { return v; });
    }));
    from = std::move(t);
  }
  SX_TRY(e.allocate(0, to, from.dims()));
  copy_all(from, e.out(0));
  return {};
}

inline constexpr DTypeSet kBits = kAll25 - kString;

extern const Op op = {
    .name = "BitCast",
    .in = {{"input", "T1"}},
    .out = {{"output", "T2"}},
    .types = {{"T1", kBits}, {"T2", kBits}},
    .attrs = {required_attr("to", AttrKind::integer)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 26}},
};

}  // namespace sx::ops::bit_cast
