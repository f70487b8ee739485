// SPDX-License-Identifier: Apache-2.0
// Dropout: the input itself; in training a random part becomes zero and the rest is scaled up.
#include <random>

#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/common/legacy.h"
#include "ops/engine/codec.h"
#include "ops/engine/move.h"

namespace sx::ops::dropout {

static Status infer(Infer& i) {
  SX_TRY(infer_same(i));
  SX_TRY(require_one(i, 1, "ratio"));
  SX_TRY(require_one(i, 2, "training_mode"));
  i.set_tensor(1, DType::boolean, i.in(0).shape);
  return {};
}

static Status eval(Eval& e) {
  const bool training = e.has(2) && number_at<uint64_t>(e.in(2)) != 0;
  const double ratio = e.has(1) ? number_at<double>(e.in(1)) : 0.5;
  uint8_t* mask = e.wanted(1) ? static_cast<uint8_t*>(e.out(1).mutable_data()) : nullptr;
  if (!training || ratio == 0) {
    copy_all(e.in(0), e.out(0));
    for (int64_t k : turns(mask ? e.in(0).count() : 0)) mask[k] = 1;
    return {};
  }
  if (!(ratio > 0 && ratio < 1)) return e.fail("ratio is {}, expected at least 0 and below 1", ratio);
  // The generator and the way 53 bits are drawn from it are numpy's, whose masks the standard's own cases
  // hold.
  std::mt19937 bits(e.has_attr("seed") ? uint32_t(e.integer("seed")) : std::random_device()());
  const auto draw = [&] {
    const double high = double(bits() >> 5), low = double(bits() >> 6);
    return (high * 67108864.0 + low) / 9007199254740992.0;
  };
  return with_class<kFloatClasses>(e, e.in(0).type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> x(e.in(0));
    Writer<T> y(e.out(0));
    for (size_t k : turns(x.size())) {
      const bool keep = draw() >= ratio;
      y[k] = keep ? T(x[k] / (1 - ratio)) : T(0);
      if (mask) mask[k] = keep;
    }
    return {};
  });
}

// The ratio was an attribute, and it mattered in training alone.
static Status lift_from_10(Lift& l) {
  l.attrs().erase("ratio");
  return {};
}

// The mask had the type of the data.
static Status lift_from_7(Lift& l) {
  if (l.outputs() < 2) return lift_from_10(l);
  const auto made = l.nodes("Dropout", {l.in(0)}, {}, 2);
  l.replace({made[0], l.node("CastLike", {made[1], l.in(0)})});
  return {};
}

// Without is_test it was training.
static Status lift_from_6(Lift& l) {
  const bool training = l.attrs().integer("is_test", 0) == 0;
  const float ratio = l.attrs().floating("ratio", 0.5f);
  l.attrs().erase("is_test");
  l.attrs().erase("consumed_inputs");
  if (!training) return {};
  const uint8_t yes = 1;
  const ValueId on = l.constant(Tensor::of<uint8_t>(DType::boolean, {}, {&yes, 1}));
  const auto made = l.nodes("Dropout", {l.in(0), l.constant(Tensor::scalar_f32(ratio)), on}, {}, 2);
  if (l.outputs() < 2)
    l.replace({made[0]});
  else
    l.replace({made[0], l.node("CastLike", {made[1], l.in(0)})});
  return {};
}

constexpr AttrDef kRatio = attr_float("ratio", 0.5f), kIsTest = attr_int("is_test", 0);

extern const Op op = {
    .name = "Dropout",
    .in = {{"data", "T"}, {"ratio", "T1", kOptional}, {"training_mode", "T2", kOptional}},
    .out = {{"output", "T"}, {"mask", "T2", kOptional}},
    .types = {{"T", kFloats | kFloat8}, {"T1", kFloats | kFloat8}, {"T2", kBool}},
    .attrs = {optional_attr("seed", AttrKind::integer)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 22},
                {.since = 13, .types = {{"T", kFloats}, {"T1", kOldFloats}}},
                {.since = 12, .types = {{"T", kOldFloats}}},
                {.since = 10,
                 .types = {{"T1", kBool}},
                 .attrs = {{kRatio}},
                 .in = {{{"data", "T"}}},
                 .out = {{{"output", "T"}, {"mask", "T1", kOptional}}},
                 .lift = lift_from_10},
                {.since = 7, .out = {{{"output", "T"}, {"mask", "T", kOptional}}}, .lift = lift_from_7},
                {.since = 6, .attrs = {{kIsTest, kRatio}}, .lift = lift_from_6},
                {.since = 1, .attrs = {{kConsumedInputs, kIsTest, kRatio}}, .lift = lift_consumed_inputs}},
    .pure = false,
};

}  // namespace sx::ops::dropout
