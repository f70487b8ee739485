// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer: counts of known n-grams in each row, perhaps with gaps between their items, weighted.
// N-grams of one item are counted once, since a gap means nothing to them.
#include <algorithm>
#include <unordered_map>

#include "base/workspace.h"
#include "graph/eval.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/engine/codec.h"

namespace sx::ops::tf_idf_vectorizer {

static int64_t output_size(const std::vector<int64_t>& indexes) {
  return indexes.empty() ? 0 : *std::max_element(indexes.begin(), indexes.end()) + 1;
}

static Status infer(Infer& i) {
  const bool texts = i.attrs().has("pool_strings"), ints = i.attrs().has("pool_int64s");
  if (texts == ints) return i.fail("needs pool_strings or pool_int64s, has {}", texts ? "both" : "none");
  if (!i.rank_known(0)) {
    i.set_unknown_shape(0, DType::f32);
    return {};
  }
  if (i.rank(0) > 2) return i.fail("X must be [C] or [N, C], found rank {}", i.rank(0));
  for (int64_t k : i.integers("ngram_indexes")) {
    if (k < 0 || k > INT32_MAX) return i.fail("ngram_indexes has {}, at least 0 expected", k);
  }
  std::vector<Dim> dims;
  if (i.rank(0) == 2) dims.push_back(i.dim(0, 0));
  dims.push_back(output_size(i.integers("ngram_indexes")));
  i.set_tensor(0, DType::f32, Shape(std::move(dims)));
  return {};
}

// An n-gram as one string: its items with their lengths in front.
static void append_item(std::string& gram, std::string_view item) {
  const uint32_t n = uint32_t(item.size());
  gram.append(reinterpret_cast<const char*>(&n), sizeof n);
  gram += item;
}

struct Pool {
  std::unordered_map<std::string, size_t> grams;  // to its place among all n-grams
  size_t count = 0;
};

static Result<Pool> read_pool(const Eval& e, size_t least, size_t most) {
  std::vector<std::string> items = e.texts("pool_strings");
  for (int64_t v : e.integers("pool_int64s")) items.push_back(std::to_string(v));
  const std::vector<int64_t> starts = e.integers("ngram_counts");
  Pool pool;
  for (size_t n = 1; n <= starts.size(); ++n) {
    const size_t first = size_t(starts[n - 1]), end = n < starts.size() ? size_t(starts[n]) : items.size();
    if (first > end || end > items.size() || (end - first) % n != 0) {
      return e.fail("ngram_counts does not cut the pool of {} items into {}-grams", items.size(), n);
    }
    for (size_t at = first; at < end; at += n, ++pool.count) {
      if (n < least || n > most) continue;
      std::string gram;
      for (size_t k = 0; k < n; ++k) append_item(gram, items[at + k]);
      pool.grams.emplace(std::move(gram), pool.count);
    }
  }
  return pool;
}

static Status eval(Eval& e) {
  const size_t least = size_t(e.integer("min_gram_length")), most = size_t(e.integer("max_gram_length"));
  const std::vector<int64_t> indexes = e.integers("ngram_indexes");
  const std::vector<float> weights = e.floatings("weights");
  const std::string mode = e.text("mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return e.fail("mode '{}' is not TF, IDF or TFIDF", mode);
  if (least < 1 || most < least) return e.fail("gram lengths {} to {} cannot be", least, most);
  SX_ASSIGN(const Pool pool, read_pool(e, least, most));
  if (pool.count > indexes.size() || (!weights.empty() && weights.size() < pool.count)) {
    return e.fail("{} ngram_indexes and {} weights for {} n-grams", indexes.size(), weights.size(),
                  pool.count);
  }
  if (e.out(0).count() == 0) return {};
  const Tensor& x = e.in(0);
  const bool by_text = x.type() == DType::string;
  const std::span<const std::string> texts = by_text ? x.strings() : std::span<const std::string>();
  const Reader<int64_t> ints(by_text ? Tensor() : x);
  const size_t cols = x.rank() ? size_t(x.dims().back()) : 1, width = size_t(output_size(indexes));
  const size_t rows = x.rank() == 2 ? size_t(x.dims()[0]) : 1;
  const size_t most_step = std::min(size_t(std::max<int64_t>(e.integer("max_skip_count"), 0)) + 1, cols);
  Workspace<int64_t> counts(rows * width);
  for (int64_t& count : stoppable(counts)) count = 0;
  std::vector<float> weight_of(width, 1);
  for (size_t k = 0; k < weights.size() && k < indexes.size(); ++k)
    weight_of[size_t(indexes[k])] = weights[k];
  StopCheck<> stop;
  for (size_t r = 0; r < rows && !stop(); ++r) {
    for (size_t step = 1; step <= most_step && !stop(); ++step) {
      for (size_t start = 0; start < cols && !stop(most); ++start) {
        std::string gram;
        for (size_t n = 1, at = start; n <= most && at < cols && !stop(); ++n, at += step) {
          const size_t item = r * cols + at;
          if (by_text)
            append_item(gram, texts[item]);
          else
            append_item(gram, std::to_string(ints[item]));
          if (n < least || (n == 1 && step > 1)) continue;
          const auto it = pool.grams.find(gram);
          if (it != pool.grams.end()) ++counts[r * width + size_t(indexes[it->second])];
        }
      }
    }
  }
  Writer<double> y(e.out(0));
  for (size_t k : turns(counts.size())) {
    const double count = mode == "IDF" ? double(counts[k] > 0) : double(counts[k]);
    y[k] = mode == "TF" ? count : count * weight_of[k % width];
  }
  return {};
}

extern const Op op = {
    .name = "TfIdfVectorizer",
    .in = {{"X", "T"}},
    .out = {{"Y", "T1"}},
    .types = {{"T", kIndices | kString}, {"T1", kF32}},
    .attrs = {required_attr("max_gram_length", AttrKind::integer),
              required_attr("max_skip_count", AttrKind::integer),
              required_attr("min_gram_length", AttrKind::integer), required_attr("mode", AttrKind::text),
              required_attr("ngram_counts", AttrKind::integers),
              required_attr("ngram_indexes", AttrKind::integers),
              optional_attr("pool_int64s", AttrKind::integers),
              optional_attr("pool_strings", AttrKind::texts), optional_attr("weights", AttrKind::floatings)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 9}},
};

}  // namespace sx::ops::tf_idf_vectorizer
