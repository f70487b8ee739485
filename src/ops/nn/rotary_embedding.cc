// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding: pairs of features of each head turned by an angle that depends on the position.
#include "base/task.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/engine/codec.h"

namespace sx::ops::rotary_embedding {

// Both caches hold half as many numbers a position as features are turned.
static Status check_caches(Infer& i, Dim size) {
  const int64_t turned = i.integer("rotary_embedding_dim");
  if (turned < 0) return i.fail("rotary_embedding_dim is {}", turned);
  if (size.is_constant() && turned > size.constant())
    return i.fail("rotary_embedding_dim is {}, a head has {} features", turned, size.constant());
  const Dim half = turned == 0 ? floordiv(size, 2) : Dim(turned / 2);
  for (size_t cache = 1; cache < 3; ++cache) {
    if (!i.rank_known(cache)) continue;
    if (i.rank(cache) != 2 && i.rank(cache) != 3)
      return i.fail("input {} has rank {}, 2 or 3 expected", cache, i.rank(cache));
    SX_TRY(i.require_equal(i.dims(cache).back(), half,
                           format("the last axis of input {} and half of a head", cache)));
  }
  if (i.rank_known(1)) SX_TRY(require_dims(i, 2, i.in(1).shape, "sin_cache"));
  return {};
}

static Status infer(Infer& i) {
  if (i.rank_known(0)) {
    if (i.rank(0) != 3 && i.rank(0) != 4) return i.fail("X has rank {}, 3 or 4 expected", i.rank(0));
    const int64_t heads = i.integer("num_heads");
    if (i.rank(0) == 3 && heads >= 1 && i.dim(0, 2).is_constant() && i.dim(0, 2).constant() % heads != 0) {
      return i.fail("{} features do not divide into {} heads", i.dim(0, 2).constant(), heads);
    }
    if (i.rank(0) == 3 && heads < 1) return i.fail("num_heads must be given for X of rank 3");
    const size_t length = i.rank(0) == 4 ? 2 : 1;
    SX_TRY(require_dims(i, 3, Shape({i.dim(0, 0), i.dim(0, length)}), "position_ids"));
    SX_TRY(check_caches(i, i.rank(0) == 4 ? i.dim(0, 3) : floordiv(i.dim(0, 2), heads)));
  }
  return infer_same(i);
}

// X as [batch, heads, length, size], whether the heads are an axis or lie inside the last one.
struct Sizes {
  int64_t batch, heads, length, size;
  bool inside;
  int64_t at(int64_t b, int64_t h, int64_t s) const {
    return (inside ? (b * length + s) * heads + h : (b * heads + h) * length + s) * size;
  }
};

static Sizes sizes_of(const Dims& d, int64_t heads) {
  if (d.size() == 4) return {d[0], d[1], d[2], d[3], false};
  return {d[0], heads, d[1], d[2] / heads, true};
}

static Status eval(Eval& e) {
  const Sizes x = sizes_of(e.in(0).dims(), e.integer("num_heads"));
  const bool interleaved = e.integer("interleaved") != 0;
  int64_t turned = e.integer("rotary_embedding_dim");
  if (turned == 0) turned = x.size;
  const int64_t half = turned / 2;
  const Reader<int64_t> positions(e.has(3) ? e.in(3) : Tensor());
  const int64_t rows = e.in(1).count() / std::max<int64_t>(half, 1);
  return with_class<kFloatClasses>(e, e.in(0).type(), [&](auto zero) -> Status {
    using T = decltype(zero);
    const Reader<T> from(e.in(0)), cosines(e.in(1)), sines(e.in(2));
    Writer<T> y(e.out(0));
    copy_numbers(from.data(), from.size(), y.data());
    for (int64_t k : turns(x.batch * x.heads * x.length, size_t(half))) {
      const int64_t b = k / (x.heads * x.length), h = k / x.length % x.heads, s = k % x.length;
      const int64_t row = positions.size() == 0 ? b * x.length + s : positions[size_t(b * x.length + s)];
      if (row < 0 || row >= rows) return e.fail("position {} is outside the cache of {}", row, rows);
      const size_t first = size_t(x.at(b, h, s));
      for (int64_t j : turns(half)) {
        const size_t p = first + size_t(interleaved ? 2 * j : j),
                     q = first + size_t(interleaved ? 2 * j + 1 : j + half);
        const T c = cosines[size_t(row * half + j)], n = sines[size_t(row * half + j)];
        y[p] = c * from[p] - n * from[q];
        y[q] = n * from[p] + c * from[q];
      }
    }
    return {};
  });
}

extern const Op op = {
    .name = "RotaryEmbedding",
    .in = {{"X", "T"}, {"cos_cache", "T"}, {"sin_cache", "T"}, {"position_ids", "M", kOptional}},
    .out = {{"Y", "T"}},
    .types = {{"T", DTypeSet::of(DType::f16, DType::bf16, DType::f32)}, {"M", DTypeSet::of(DType::i64)}},
    .attrs = {attr_int("interleaved", 0), optional_attr("num_heads", AttrKind::integer),
              attr_int("rotary_embedding_dim", 0)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 23}},
};

}  // namespace sx::ops::rotary_embedding
