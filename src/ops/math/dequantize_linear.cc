// SPDX-License-Identifier: Apache-2.0
// DequantizeLinear: (x - zero point) * scale, with one scale, one along an axis, or one a block.
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/quant.h"
#include "ops/engine/codec.h"

namespace sx::ops::dequantize_linear {

static Status infer(Infer& i) {
  DType elem = i.elem(1) == DType::f8e8m0 ? DType::f32 : i.elem(1);
  if (i.integer("output_dtype") != 0) {
    SX_ASSIGN(elem, i.dtype("output_dtype"));
  }
  i.set_tensor(0, elem, i.in(0).shape);
  return {};
}

static Status eval(Eval& e) {
  const Tensor &x = e.in(0), &scale = e.in(1);
  SX_ASSIGN(const ScaleMap map,
            ScaleMap::of(x.dims(), scale.dims(), e.integer("axis"), e.integer("block_size")));
  if (e.has(2) && e.in(2).count() != scale.count()) {
    return e.fail("the zero point has {} elements, the scale {}", e.in(2).count(), scale.count());
  }
  return with_class<kFloatClasses>(e, e.out(0).type(), [&](auto nothing) -> Status {
    using T = decltype(nothing);
    const Reader<double> from(x), zeros(e.has(2) ? e.in(2) : Tensor());
    const Reader<T> scales(scale);
    Writer<T> y(e.out(0));
    for (size_t k : turns(from.size())) {
      const size_t s = size_t(map.at(int64_t(k)));
      y[k] = T(zeros.size() > 0 ? from[k] - zeros[s] : from[k]) * scales[s];
    }
    return {};
  });
}

constexpr DTypeSet kHigh = DTypeSet::of(DType::f32, DType::f16, DType::bf16);
constexpr DTypeSet kOldInts = DTypeSet::of(DType::i8, DType::u8, DType::i32);
constexpr DTypeSet kLow21 = kFloat8 | kOldInts | DTypeSet::of(DType::i16, DType::u16, DType::i4, DType::u4);
constexpr DTypeSet kLow23 = kLow21 | DTypeSet::of(DType::f4e2m1),
                   kLow25 = kLow23 | DTypeSet::of(DType::i2, DType::u2);
constexpr DTypeSet kLow28 = kLow25 | DTypeSet::of(DType::f6e2m3, DType::f6e3m2);
constexpr AttrDef kAxis = attr_int("axis", 1), kBlock = attr_int("block_size", 0),
                  kOut = attr_int("output_dtype", 0);

extern const Op op = {
    .name = "DequantizeLinear",
    .in = {{"x", "T1"}, {"x_scale", "T2"}, {"x_zero_point", "T1", kOptional}},
    .out = {{"y", "T3"}},
    .types = {{"T1", kLow28}, {"T2", kHigh | DTypeSet::of(DType::f8e8m0)}, {"T3", kHigh}},
    .attrs = {kAxis, kBlock, kOut},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28},
                {.since = 25, .types = {{"T1", kLow25}}},
                {.since = 24, .types = {{"T1", kLow23}}},
                {.since = 23, .types = {{"T2", kHigh}}},
                {.since = 21, .types = {{"T1", kLow21}}, .attrs = {{kAxis, kBlock}}, .out = {{{"y", "T2"}}}},
                {.since = 19, .types = {{"T1", kFloat8 | kOldInts}}, .attrs = {{kAxis}}},
                {.since = 13,
                 .types = {{"T", kOldInts}},
                 .in = {{{"x", "T"}, {"x_scale", "tensor(float)"}, {"x_zero_point", "T", kOptional}}},
                 .out = {{{"y", "tensor(float)"}}}},
                {.since = 10, .attrs = std::vector<AttrDef>()}},
};

}  // namespace sx::ops::dequantize_linear
