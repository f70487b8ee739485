// SPDX-License-Identifier: Apache-2.0
// BatchNormalization: each channel brought to mean 0 and variance 1 by given statistics, or (training_mode)
// by its own, then scaled and shifted.
#include <cmath>

#include "graph/infer.h"
#include "graph/lift.h"
#include "graph/op.h"
#include "ops/common/legacy.h"
#include "ops/engine/codec.h"

namespace sx::ops::batch_normalization {

static Status infer(Infer& i) {
  SX_TRY(infer_same(i));
  const bool training = i.integer("training_mode") != 0;
  if (!training && (i.wanted(1) || i.wanted(2))) {
    return i.fail("running_mean and running_var exist only with training_mode = 1");
  }
  // A vector is one channel of N samples.
  const Dim channels = !i.rank_known(0) ? i.fresh("c") : i.rank(0) > 1 ? i.dim(0, 1) : Dim(1);
  for (size_t p = 1; p < 5; ++p) {
    if (!i.rank_known(p) || !i.rank_known(0)) continue;
    if (i.rank(p) != 1) return i.fail("input {} has rank {}, 1 expected", p, i.rank(p));
    SX_TRY(i.require_equal(i.dim(p, 0), channels, format("the length of input {} and the channels of X", p)));
  }
  for (size_t o = 1; o < i.outputs(); ++o) i.set_tensor(o, i.elem(o + 2), Shape({channels}));
  return {};
}

// Mean and variance of each channel over samples and planes.
template <class T>
static void statistics(const Reader<T>& x, int64_t channels, int64_t plane, Workspace<double>& mean,
                       Workspace<double>& variance) {
  const int64_t batch = x.size() == 0 ? 0 : int64_t(x.size()) / (channels * plane);
  const double n = double(batch * plane);
  for (int64_t c : turns(channels, size_t(batch * plane))) {
    double sum = 0, squares = 0;
    const auto each = [&](auto f) {
      for (int64_t b : turns(batch, size_t(plane))) {
        for (T v : stoppable(x.part(size_t((b * channels + c) * plane), size_t(plane)))) f(double(v));
      }
    };
    each([&](double v) { sum += v; });
    each([&](double v) { squares += (v - sum / n) * (v - sum / n); });
    mean[size_t(c)] = sum / n;
    variance[size_t(c)] = squares / n;
  }
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const int64_t channels = x.rank() > 1 ? x.dims()[1] : 1;
  const int64_t plane = x.rank() > 1 ? product(std::span(x.dims()).subspan(2)) : 1;
  const double epsilon = e.floating("epsilon"), momentum = e.floating("momentum");
  return with_class<kFloatClasses>(e, x.type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> from(x);
    const Reader<double> scale(e.in(1)), bias(e.in(2)), old_mean(e.in(3)), old_variance(e.in(4));
    Workspace<double> mean(old_mean.size()), variance(old_variance.size());
    copy_numbers(old_mean.data(), mean.size(), mean.data());
    copy_numbers(old_variance.data(), variance.size(), variance.data());
    if (e.integer("training_mode") != 0) {
      statistics(from, channels, plane, mean, variance);
      const auto running = [&](size_t o, const Reader<double>& old, const Workspace<double>& now) {
        if (!e.wanted(o)) return;
        Writer<double> y(e.out(o));
        for (size_t c : turns(now.size())) y[c] = old[c] * momentum + now[c] * (1 - momentum);
      };
      running(1, old_mean, mean);
      running(2, old_variance, variance);
    }
    Writer<T> y(e.out(0));
    for (size_t k : turns(from.size())) {
      const size_t c = k / size_t(plane) % size_t(channels);
      y[k] = T((from[k] - mean[c]) / std::sqrt(variance[c] + epsilon) * scale[c] + bias[c]);
    }
    return {};
  });
}

// Extra outputs asked for training, whose saved statistics the newest version does not have.
static Status lift_from_9(Lift& l) {
  const std::vector<ValueId> outputs = l.graph().node(l.id()).outputs;
  for (size_t o = 1; o < outputs.size(); ++o) {
    if (outputs[o] != kNoValue && l.graph().use_count(outputs[o]) > 0) {
      return l.fail("output {} of version {} belongs to training, which version 15 cannot say", o,
                    l.from_version());
    }
  }
  if (outputs.size() > 1) {
    l.replace({l.node("BatchNormalization", {l.in(0), l.in(1), l.in(2), l.in(3), l.in(4)}, l.attrs())});
  }
  return {};
}

// spatial = 0: every place of a sample is a channel of its own.
static Status lift_from_7(Lift& l) {
  const bool spatial = l.attrs().integer("spatial", 1) != 0;
  l.attrs().erase("spatial");
  if (spatial) return {};
  if (l.outputs() > 1) return l.fail("spatial = 0 with outputs of training");
  std::vector<ValueId> inputs = {l.node("Flatten", {l.in(0)}, {{"axis", int64_t(1)}})};
  for (size_t p = 1; p < 5; ++p) inputs.push_back(l.node("Reshape", {l.in(p), l.ints({-1})}));
  const Attrs attrs = {{"epsilon", l.attrs().floating("epsilon", 1e-5f)}};
  const ValueId y = l.node("BatchNormalization", inputs, attrs);
  l.replace({l.node("Reshape", {y, l.node("Shape", {l.in(0)})}, {{"allowzero", int64_t(1)}})});
  return {};
}

static Status lift_from_6(Lift& l) {
  l.attrs().erase("is_test");  // one output: not training
  return lift_consumed_inputs(l);
}

constexpr AttrDef kEpsilon = attr_float("epsilon", 1e-5f), kMomentum = attr_float("momentum", 0.9f),
                  kSpatial = attr_int("spatial", 1), kIsTest = attr_int("is_test", 0);
constexpr AttrDef kConsumed = required_attr("consumed_inputs", AttrKind::integers);

extern const Op op = {
    .name = "BatchNormalization",
    .in = {{"X", "T"}, {"scale", "T1"}, {"B", "T1"}, {"input_mean", "T2"}, {"input_var", "T2"}},
    .out = {{"Y", "T"}, {"running_mean", "T2", kOptional}, {"running_var", "T2", kOptional}},
    .types = {{"T", kFloats}, {"T1", kFloats}, {"T2", kFloats}},
    .attrs = {kEpsilon, kMomentum, attr_int("training_mode", 0)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 15},
                {.since = 14,
                 .types = {{"U", kFloats}},
                 .in = {{{"X", "T"}, {"scale", "T"}, {"B", "T"}, {"input_mean", "U"}, {"input_var", "U"}}},
                 .out = {{{"Y", "T"}, {"running_mean", "U", kOptional}, {"running_var", "U", kOptional}}}},
                {.since = 9,
                 .types = {{"T", kOldFloats}},
                 .attrs = {{kEpsilon, kMomentum}},
                 .in = {{{"X", "T"}, {"scale", "T"}, {"B", "T"}, {"mean", "T"}, {"var", "T"}}},
                 .out = {{{"Y", "T"},
                          {"mean", "T", kOptional},
                          {"var", "T", kOptional},
                          {"saved_mean", "T", kOptional},
                          {"saved_var", "T", kOptional}}},
                 .lift = lift_from_9},
                {.since = 7, .attrs = {{kEpsilon, kMomentum, kSpatial}}, .lift = lift_from_7},
                {.since = 6, .attrs = {{kEpsilon, kIsTest, kMomentum, kSpatial}}, .lift = lift_from_6},
                {.since = 1, .attrs = {{kConsumed, kEpsilon, kIsTest, kMomentum, kSpatial}}}},
};

}  // namespace sx::ops::batch_normalization
