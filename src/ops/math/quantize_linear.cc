// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear: saturate(round(x / scale) + zero point), with one scale, one along an axis, or one a block.
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/quant.h"
#include "ops/engine/codec.h"

namespace sx::ops::quantize_linear {

static Status infer(Infer& i) {
  const int64_t named = i.integer("output_dtype");
  if (named < 0 || named >= kDTypeCount || (named != 0 && !dtype_is_valid(int(named))))
    return i.fail("output_dtype is {}, which is no element type", named);
  if (named != 0 && i.has(2) && i.in(2).known() && i.elem(2) != DType(named)) {
    return i.fail("output_dtype is {}, the zero point is {}", dtype_name(DType(named)),
                  dtype_name(i.elem(2)));
  }
  i.set_tensor(0, i.has(2) ? i.elem(2) : named != 0 ? DType(named) : DType::u8, i.in(0).shape);
  return {};
}

// The quotient as the type that divides would hold it.
template <class T>
static T rounded(T v, DType precision) {
  if (precision != DType::f16 && precision != DType::bf16) return v;
  uint16_t bits = 0;
  encode(&v, 1, precision, &bits, 0, 1);
  decode(precision, &bits, 0, 1, 1, &v);
  return v;
}

static Status eval(Eval& e) {
  const Tensor &x = e.in(0), &scale = e.in(1);
  SX_ASSIGN(const ScaleMap map,
            ScaleMap::of(x.dims(), scale.dims(), e.integer("axis"), e.integer("block_size")));
  if (e.has(2) && e.in(2).count() != scale.count()) {
    return e.fail("the zero point has {} elements, the scale {}", e.in(2).count(), scale.count());
  }
  const DType type = e.out(0).type();
  const DType precision = e.integer("precision") != 0 ? DType(e.integer("precision")) : scale.type();
  const EncodeOptions options = {.saturate = e.integer("saturate") != 0};
  // Integers divide as real numbers.
  const DType computed = dtype_is_float(x.type()) ? x.type() : DType::f64;
  return with_class<kFloatClasses>(e, computed, [&](auto nothing) -> Status {
    using T = decltype(nothing);
    const Reader<T> from(x), scales(scale), zeros(e.has(2) ? e.in(2) : Tensor());
    Writer<T> y(e.out(0), options);
    for (size_t k : turns(from.size())) {
      const size_t s = size_t(map.at(int64_t(k)));
      const T zero = zeros.size() > 0 ? zeros[s] : T(0), q = rounded(from[k] / scales[s], precision);
      y[k] = dtype_is_integer(type) ? T(quantised(double(q), double(zero), type)) : q + zero;
    }
    return {};
  });
}

constexpr DTypeSet kHigh = DTypeSet::of(DType::f32, DType::f16, DType::bf16, DType::i32);
constexpr DTypeSet kBytes = DTypeSet::of(DType::i8, DType::u8);
constexpr DTypeSet kLow21 = kFloat8 | kBytes | DTypeSet::of(DType::i16, DType::u16, DType::i4, DType::u4);
constexpr DTypeSet kLow23 = kLow21 | DTypeSet::of(DType::f4e2m1),
                   kLow25 = kLow23 | DTypeSet::of(DType::i2, DType::u2);
constexpr DTypeSet kLow28 = kLow25 | DTypeSet::of(DType::f6e2m3, DType::f6e3m2);
constexpr AttrDef kAxis = attr_int("axis", 1), kBlock = attr_int("block_size", 0),
                  kOut = attr_int("output_dtype", 0), kPrecision = attr_int("precision", 0),
                  kSaturate = attr_int("saturate", 1);

extern const Op op = {
    .name = "QuantizeLinear",
    .in = {{"x", "T1"}, {"y_scale", "T2"}, {"y_zero_point", "T3", kOptional}},
    .out = {{"y", "T3"}},
    .types = {{"T1", kHigh}, {"T2", kHigh | DTypeSet::of(DType::f8e8m0)}, {"T3", kLow28}},
    .attrs = {kAxis, kBlock, kOut, kPrecision, kSaturate},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 28},
                {.since = 25, .types = {{"T3", kLow25}}},
                {.since = 24, .types = {{"T3", kLow23}}},
                {.since = 23, .types = {{"T2", kHigh}}},
                {.since = 21,
                 .types = {{"T2", kLow21}},
                 .attrs = {{kAxis, kBlock, kOut, kSaturate}},
                 .in = {{{"x", "T1"}, {"y_scale", "T1"}, {"y_zero_point", "T2", kOptional}}},
                 .out = {{{"y", "T2"}}}},
                {.since = 19, .types = {{"T2", kFloat8 | kBytes}}, .attrs = {{kAxis, kSaturate}}},
                {.since = 13,
                 .types = {{"T1", DTypeSet::of(DType::f32, DType::i32)}, {"T2", kBytes}},
                 .attrs = {{kAxis}},
                 .in = {{{"x", "T1"}, {"y_scale", "tensor(float)"}, {"y_zero_point", "T2", kOptional}}}},
                {.since = 10, .attrs = std::vector<AttrDef>()}},
};

}  // namespace sx::ops::quantize_linear
