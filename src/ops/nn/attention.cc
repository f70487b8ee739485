// SPDX-License-Identifier: Apache-2.0
// Attention: softmax(softcap(Q Kᵀ scale) + bias) V for each head; query heads share key heads in groups. The
// bias is the mask, the causal frontier, the sliding window and the padding together. Past keys and values
// come before K and V.
#include <cmath>
#include <limits>

#include "base/workspace.h"
#include "graph/infer.h"
#include "graph/lift.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/common/elements.h"
#include "ops/common/spread.h"
#include "ops/engine/contract.h"
#include "ops/engine/reduce.h"

namespace sx::ops::attention {

enum Input : size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kValid };
enum Output : size_t { kY, kPresentKey, kPresentValue, kScores };

// How Q, K or V is seen: [batch, heads, length, size], from four axes or from three with the heads inside the
// last.
struct HeadDims {
  Dim batch, heads, length, size;
};

static Result<HeadDims> heads_of(Infer& i, size_t input, std::string_view attr) {
  const auto& d = i.dims(input);
  if (d.size() == 4) return HeadDims{d[0], d[1], d[2], d[3]};
  if (d.size() != 3) return i.fail("input {} has rank {}, 3 or 4 expected", input, d.size());
  const int64_t heads = i.integer(attr);
  if (heads < 1) return i.fail("{} must be given for inputs of rank 3", attr);
  if (d[2].is_constant() && d[2].constant() % heads != 0) {
    return i.fail("input {}: {} does not divide into {} heads", input, d[2].constant(), heads);
  }
  return HeadDims{d[0], heads, d[1], floordiv(d[2], heads)};
}

// The mask spreads over batch, heads and queries. Its last axis may be shorter than the keys, but not longer.
static Status check_mask(Infer& i, const HeadDims& q, Dim total) {
  if (!i.rank_known(kMask) || i.rank(kMask) == 0) return {};
  Shape mask = i.in(kMask).shape;
  const Dim length = mask.dims.back();
  mask.dims.pop_back();
  SX_TRY(require_spreads(i, mask, Shape({q.batch, q.heads, q.length}), "attn_mask and the queries"));
  if (length.is_constant() && total.is_constant() && length.constant() > total.constant())
    return i.fail("attn_mask speaks of {} keys, there are {}", length.constant(), total.constant());
  return {};
}

static Status infer(Infer& i) {
  const DType elem = i.elem(kQ);
  i.set_unknown_shape(kY, elem);
  i.set_unknown_shape(kPresentKey, i.elem(kK));
  i.set_unknown_shape(kPresentValue, i.elem(kV));
  i.set_unknown_shape(kScores, elem);
  if (i.has(kPastKey) != i.has(kPastValue)) return i.fail("past_key and past_value must be given together");
  if (i.has(kPastKey) && i.has(kValid)) return i.fail("nonpad_kv_seqlen cannot be used with past_key");
  if (!i.rank_known(kQ) || !i.rank_known(kK) || !i.rank_known(kV)) return {};
  if (i.rank(kQ) != i.rank(kK) || i.rank(kQ) != i.rank(kV)) {
    return i.fail("Q, K and V have ranks {}, {} and {}", i.rank(kQ), i.rank(kK), i.rank(kV));
  }
  SX_ASSIGN(const HeadDims q, heads_of(i, kQ, "q_num_heads"));
  SX_ASSIGN(const HeadDims k, heads_of(i, kK, "kv_num_heads"));
  SX_ASSIGN(const HeadDims v, heads_of(i, kV, "kv_num_heads"));
  SX_TRY(i.require_equal(q.batch, k.batch, "the batch of Q and of K"));
  SX_TRY(i.require_equal(k.batch, v.batch, "the batch of K and of V"));
  SX_TRY(i.require_equal(q.size, k.size, "the head size of Q and of K"));
  SX_TRY(i.require_equal(k.heads, v.heads, "the heads of K and of V"));
  SX_TRY(i.require_equal(k.length, v.length, "the length of K and of V"));
  if (q.heads.is_constant() && k.heads.is_constant() &&
      (k.heads.constant() == 0 || q.heads.constant() % k.heads.constant() != 0)) {
    return i.fail("{} query heads do not divide among {} key heads", q.heads.constant(), k.heads.constant());
  }
  for (const size_t p : {kPastKey, kPastValue})
    SX_TRY(require_rank(i, p, 4, p == kPastKey ? "past_key" : "past_value"));
  const Dim past = !i.has(kPastKey) ? Dim(0) : i.rank_known(kPastKey) ? i.dim(kPastKey, 2) : i.fresh("past");
  const Dim total = past + k.length;
  SX_TRY(require_dims(i, kPastKey, Shape({k.batch, k.heads, past, k.size}), "past_key"));
  SX_TRY(require_dims(i, kPastValue, Shape({v.batch, v.heads, past, v.size}), "past_value"));
  SX_TRY(require_dims(i, kValid, Shape({q.batch}), "nonpad_kv_seqlen"));
  SX_TRY(check_mask(i, q, total));
  i.set_tensor(kY, elem,
               i.rank(kQ) == 4 ? Shape({q.batch, q.heads, q.length, v.size})
                               : Shape({q.batch, q.length, q.heads * v.size}));
  i.set_tensor(kPresentKey, i.elem(kK), Shape({k.batch, k.heads, total, k.size}));
  i.set_tensor(kPresentValue, i.elem(kV), Shape({v.batch, v.heads, total, v.size}));
  i.set_tensor(kScores, elem, Shape({q.batch, q.heads, q.length, total}));
  return {};
}

// The same with numbers, and where an element stands in memory.
struct Heads {
  int64_t batch, heads, length, size;
  bool inside;  // three axes: the heads lie inside the rows
  int64_t row() const { return inside ? heads * size : size; }
  int64_t at(int64_t b, int64_t h) const {
    return inside ? b * length * row() + h * size : (b * heads + h) * length * size;
  }
};

static Heads heads_of(const Tensor& t, int64_t heads) {
  const Dims& d = t.dims();
  if (d.size() == 4) return {d[0], d[1], d[2], d[3], false};
  return {d[0], heads, d[1], d[2] / heads, true};
}

// Past and present joined as [batch, heads, past + length, size].
template <class T>
static Workspace<T> joined(const Eval& e, size_t past, size_t now, const Heads& h, int64_t before) {
  const Reader<T> old(e.has(past) ? e.in(past) : Tensor()), fresh(e.in(now));
  const int64_t total = before + h.length;
  Workspace<T> all(size_t(h.batch * h.heads * total * h.size));
  for (int64_t g : turns(h.batch * h.heads, size_t(total * h.size))) {
    T* to = all.data() + g * total * h.size;
    copy_numbers(old.data() + g * before * h.size, size_t(before * h.size), to);
    const T* from = fresh.data() + h.at(g / h.heads, g % h.heads);
    for (int64_t r : turns(h.length, size_t(h.size)))
      copy_numbers(from + r * h.row(), size_t(h.size), to + (before + r) * h.size);
  }
  return all;
}

// What is added to a score before softmax: minus infinity where a key may not be seen.
template <class T>
class Bias {
 public:
  static constexpr T kHidden = -std::numeric_limits<T>::infinity();

  Bias(const Eval& e, const Heads& q, int64_t past, int64_t total)
      : mask_(e.has(kMask) ? e.in(kMask) : Tensor()),
        masked_(e.has(kMask)),
        spread_(Dims(), Dims()),
        valid_(e.has(kValid) ? e.in(kValid) : Tensor()),
        queries_(q.length),
        causal_(e.integer("is_causal") != 0),
        left_(e.integer("left_window_size")),
        right_(e.integer("right_window_size")),
        past_(past) {
    if (e.has(kMask)) {
      const Tensor& m = e.in(kMask);
      boolean_ = m.type() == DType::boolean;
      mask_length_ = m.rank() > 0 ? m.dims().back() : total;
      // The last axis may be shorter than the keys: the keys behind it are hidden.
      full_ = Dims{q.batch, q.heads, q.length, mask_length_};
      spread_ = Spread(m.dims(), full_);
    }
  }

  T at(int64_t b, int64_t h, int64_t i, int64_t j) const {
    const int64_t position = i + (valid_.size() == 0 ? past_ : valid_[size_t(b)] - queries_);
    if (causal_ && j > position) return kHidden;
    if (left_ >= 0 && position - j > left_) return kHidden;
    if (right_ >= 0 && j - position > right_) return kHidden;
    if (valid_.size() > 0 && j >= valid_[size_t(b)]) return kHidden;
    if (!masked_) return 0;
    if (j >= mask_length_) return kHidden;
    const T m = mask_[size_t(spread_.at(((b * full_[1] + h) * full_[2] + i) * full_[3] + j))];
    return !boolean_ ? m : m != 0 ? T(0) : kHidden;
  }

 private:
  Reader<T> mask_;
  bool masked_;
  Spread spread_;
  Dims full_;
  Reader<int64_t> valid_;
  int64_t queries_, mask_length_ = 0;
  bool causal_, boolean_ = false;
  int64_t left_, right_, past_;
};

// Scores of one query row become probabilities; a row that sees no key becomes zeros.
template <class T>
static void to_probabilities(std::span<T> row, bool hidden) {
  const T top = max_of(row);
  if (hidden || top == Bias<T>::kHidden) {
    for (T& s : stoppable(row)) s = 0;
    return;
  }
  for (T& s : stoppable(row)) s = std::exp(s - top);
  const T sum = sum_of(row);
  for (T& s : stoppable(row)) s /= sum;
}

// Softcap, bias and softmax of one head's scores; `debug` gets what qk_matmul_output_mode asks for.
template <class T>
static void finish_scores(const Eval& e, const Bias<T>& bias, int64_t b, int64_t h, int64_t total,
                          Workspace<T>& scores, T* debug) {
  const int64_t mode = e.integer("qk_matmul_output_mode");
  const T cap = T(e.floating("softcap"));
  const auto show = [&](int64_t when) {
    if (debug && mode == when) copy_numbers(scores.data(), scores.size(), debug);
  };
  show(0);
  if (cap != 0) {
    StopCheck<> capping;
    for (size_t k = 0; k < scores.size() && !capping(); ++k) scores[k] = cap * std::tanh(scores[k] / cap);
  }
  show(1);
  std::vector<bool> hidden(scores.size() / size_t(std::max<int64_t>(total, 1)), true);
  StopCheck<> stop;
  for (size_t k = 0; k < scores.size() && !stop(); ++k) {
    const T add = bias.at(b, h, int64_t(k) / total, int64_t(k) % total);
    hidden[k / size_t(total)] = hidden[k / size_t(total)] && add == Bias<T>::kHidden;
    scores[k] += add;
  }
  show(2);
  for (size_t r = 0; r < hidden.size() && !stop(size_t(total)); ++r) {
    to_probabilities(std::span(scores).subspan(r * size_t(total), size_t(total)), hidden[r]);
  }
  show(3);
}

static Status check_lengths(const Eval& e, int64_t keys) {
  if (!e.has(kValid)) return {};
  const Reader<int64_t> lengths(e.in(kValid));
  for (size_t b : turns(lengths.size())) {
    if (lengths[b] < 0 || lengths[b] > keys)
      return e.fail("nonpad_kv_seqlen of batch {} is {}, expected 0 to {}", b, lengths[b], keys);
  }
  return {};
}

static Status eval(Eval& e) {
  const Heads q = heads_of(e.in(kQ), e.integer("q_num_heads")),
              k = heads_of(e.in(kK), e.integer("kv_num_heads")),
              v = heads_of(e.in(kV), e.integer("kv_num_heads"));
  const int64_t past = e.has(kPastKey) ? e.in(kPastKey).dims()[2] : 0, total = past + k.length;
  SX_TRY(check_lengths(e, total));
  const double scale = e.has_attr("scale") ? double(e.floating("scale")) : 1 / std::sqrt(double(q.size));
  return with_class<kFloatClasses>(e, e.in(kQ).type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> query(e.in(kQ));
    const Workspace<T> keys = joined<T>(e, kPastKey, kK, k, past),
                       values = joined<T>(e, kPastValue, kV, v, past);
    const Bias<T> bias(e, q, past, total);
    Writer<T> y(e.out(kY));
    const Heads out{q.batch, q.heads, q.length, v.size, q.inside};
    Workspace<T> scores(size_t(q.length * total)),
        debug(e.wanted(kScores) ? size_t(q.batch * q.heads) * scores.size() : 0);
    for (T& s : stoppable(debug)) s = 0;
    for (int64_t g = 0; g < q.batch * q.heads && !stop_requested(); ++g) {
      const int64_t b = g / q.heads, h = g % q.heads, shared = b * k.heads + h / (q.heads / k.heads);
      contract(Product<T>{.m = q.length,
                          .n = total,
                          .k = q.size,
                          .a = query.data() + q.at(b, h),
                          .a_row = q.row(),
                          .a_col = 1,
                          .b = keys.data() + shared * total * k.size,
                          .b_row = 1,
                          .b_col = k.size,
                          .c = scores.data(),
                          .c_row = total,
                          .c_col = 1});
      StopCheck<> stop;
      for (size_t s = 0; s < scores.size() && !stop(); ++s) scores[s] = T(scores[s] * scale);
      finish_scores(e, bias, b, h, total, scores,
                    debug.empty() ? nullptr : debug.data() + size_t(g) * scores.size());
      contract(Product<T>{.m = q.length,
                          .n = v.size,
                          .k = total,
                          .a = scores.data(),
                          .a_row = total,
                          .a_col = 1,
                          .b = values.data() + shared * total * v.size,
                          .b_row = v.size,
                          .b_col = 1,
                          .c = y.data() + out.at(b, h),
                          .c_row = out.row(),
                          .c_col = 1});
    }
    const auto put = [&](size_t o, const Workspace<T>& numbers) {
      if (e.wanted(o)) encode(numbers.data(), numbers.size(), e.out(o).type(), e.out(o).mutable_data(), 0, 1);
    };
    put(kPresentKey, keys);
    put(kPresentValue, values);
    put(kScores, debug);
    return {};
  });
}

static std::vector<AttrDef> attributes(bool windows) {
  std::vector<AttrDef> list = {attr_int("is_causal", 0), optional_attr("kv_num_heads", AttrKind::integer)};
  if (windows) list.push_back(attr_int("left_window_size", -1));
  list.push_back(optional_attr("q_num_heads", AttrKind::integer));
  list.push_back(attr_int("qk_matmul_output_mode", 0));
  if (windows) list.push_back(attr_int("right_window_size", -1));
  list.push_back(optional_attr("scale", AttrKind::floating));
  list.push_back(attr_float("softcap", 0));
  list.push_back(optional_attr("softmax_precision", AttrKind::integer));
  return list;
}

static std::vector<Param> parameters(bool valid) {
  std::vector<Param> list = {{"Q", "T1"},
                             {"K", "T1"},
                             {"V", "T2"},
                             {"attn_mask", "U", kOptional},
                             {"past_key", "T1", kOptional},
                             {"past_value", "T2", kOptional}};
  if (valid) list.push_back({"nonpad_kv_seqlen", "tensor(int64)", kOptional});
  return list;
}

// Version 23 spread a mask over the keys; in 24 its last axis is as long as it is, and what lies behind it is
// hidden. Where it is not known to be as long as the keys it is spread before.
static Status lift_from_23(Lift& l) {
  if (!l.has(kMask)) return {};
  const Shape &mask = l.type(kMask).shape, &k = l.type(kK).shape;
  const bool long_enough = mask.known && k.known && mask.rank() > 0 && k.rank() > 2 && !l.has(kPastKey) &&
                           mask.dims.back() == k.dims[k.rank() - 2];
  if (long_enough) return {};
  const auto length_of = [&](size_t input, int64_t axis) {
    return l.node("Shape", {l.in(input)}, {{"end", axis + 1}, {"start", axis}});
  };
  ValueId total = length_of(kK, -2);
  if (l.has(kPastKey)) total = l.node("Add", {total, length_of(kPastKey, 2)});
  l.set_input(kMask, l.node("Expand", {l.in(kMask), total}));
  return {};
}

extern const Op op = {
    .name = "Attention",
    .in = parameters(true),
    .out = {{"Y", "T1"},
            {"present_key", "T1", kOptional},
            {"present_value", "T2", kOptional},
            {"qk_matmul_output", "T1", kOptional}},
    .types = {{"T1", kFloats}, {"T2", kFloats}, {"U", kNumbers | kBool}},
    .attrs = attributes(true),
    .infer = infer,
    .eval = eval,
    .history = {{.since = 25},
                {.since = 24, .attrs = attributes(false)},
                {.since = 23, .in = parameters(false), .lift = lift_from_23}},
};

}  // namespace sx::ops::attention
