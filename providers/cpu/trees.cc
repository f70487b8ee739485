// SPDX-License-Identifier: Apache-2.0
// TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble of ONNX-ML, on float32.
#include <algorithm>

#include "base/format.h"
#include "family.h"
#include "forest.h"
#include "graph/op.h"
#include "scores.h"

namespace sx::cpu::trees {
namespace {

using kernels::TreeAggregate;

constexpr size_t kMostTargets = size_t{1} << 20;  // more are no model

// [rows, cols]; one axis alone is one row, axes after the second are columns too.
struct Columns {
  size_t rows = 1, cols = 1;
};
Columns columns_of(const Dims& d) {
  if (d.size() < 2) return {1, d.empty() ? 1 : size_t(d[0])};
  return {size_t(d[0]), size_t(product({d.begin() + 1, d.size() - 1}))};
}

// The trees, laid out, and how to know of a row which targets it hears of.
struct Ensemble {
  kernels::TreeEnsemble trees;
  size_t targets = 1;             // without those that count
  std::unique_ptr<bool[]> heard;  // by target: by every row, or perhaps
  std::vector<uint32_t> counted;

  static Result<Ensemble> make(Forest forest, bool listen) {
    Ensemble e;
    e.targets = forest.spec.targets;
    e.heard.reset(new bool[e.targets]);
    std::fill_n(e.heard.get(), e.targets, true);
    if (listen) {
      forest.listen();
      std::copy(forest.heard.begin(), forest.heard.end(), e.heard.get());
      e.counted = std::move(forest.counted);
    }
    SX_ASSIGN(e.trees, kernels::TreeEnsemble::build(std::move(forest.spec)));
    return e;
  }
  size_t width() const { return targets + counted.size(); }
  Status check(const Columns& m) const {
    if (trees.features() <= m.cols) return {};
    return error(Code::invalid_argument, "asks for {} features, X has {}", trees.features(), m.cols);
  }
  // Calls row(r, sums, heard) for each row. `sums` of all rows, width() apart, were written by trees_run.
  template <class F>
  void each_row(float* sums, size_t rows, F row) const {
    if (counted.empty()) {
      for (size_t r = 0; r < rows; ++r, sums += targets) row(r, sums, heard.get());
      return;
    }
    std::unique_ptr<bool[]> list(new bool[targets]);
    std::copy_n(heard.get(), targets, list.get());
    for (size_t r = 0; r < rows; ++r, sums += width()) {
      for (size_t c = 0; c < counted.size(); ++c) list[counted[c]] = sums[targets + c] > 0;
      row(r, sums, list.get());
    }
  }
};

std::string trees_refuse(const Site& site) {
  if (std::string why = refuse_unless_f32(site, {0}); !why.empty()) return why;
  return refuse_unless_f32_trees(site.attrs());
}

// ---- TreeEnsembleClassifier

std::string classifier_refuses(const Site& site) {
  if (std::string why = trees_refuse(site); !why.empty()) return why;
  const size_t texts = texts_of(site.attrs(), "classlabels_strings").size();
  const size_t n = texts ? texts : site.attrs().integers("classlabels_int64s").size();
  if (n == 0) return "there are no class labels";
  const size_t base = floats_of(site.attrs(), "base_values").size();
  if (base > (n > 2 ? 0 : 2) && base != n) return format("{} base_values for {} classes", base, n);
  const std::string post = site.attrs().text("post_transform", "NONE");
  return post_named(post) == Post::unknown ? format("post_transform '{}' is unknown", post) : "";
}

class ClassifierKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<ClassifierKernel>();
    const Attrs& attrs = site.attrs();
    kernel->texts_ = texts_of(attrs, "classlabels_strings");
    kernel->ints_ = attrs.integers("classlabels_int64s");
    const bool by_text = !kernel->texts_.empty();
    Decision& d = kernel->decision_;
    d.classes = by_text ? kernel->texts_.size() : kernel->ints_.size();
    d.post = post_named(attrs.text("post_transform", "NONE"));
    const std::span<const float> base = floats_of(attrs, "base_values");
    d.base.assign(base.begin(), base.end());
    SX_ASSIGN(Forest forest, Forest::of_lists(attrs, "class", d.classes));
    const std::vector<kernels::TreeWeight>& weights = forest.spec.weights;
    d.all_positive = std::all_of(weights.begin(), weights.end(), [](const auto& w) { return w.value >= 0; });
    d.one_class_weights = d.classes == 2 && std::all_of(weights.begin(), weights.end(), [&](const auto& w) {
                            return w.target == weights[0].target;
                          });
    // One class is told by 1 and 0, and of two with scores for both, integers are 1 and 0 whatever they are
    // called.
    if (d.classes == 1) {
      kernel->texts_ = {"0", "1"};
      kernel->ints_ = {0, 1};
    } else if (d.classes == 2 && !d.one_class_weights) {
      kernel->ints_ = {0, 1};
    }
    SX_ASSIGN(kernel->ensemble_, Ensemble::make(std::move(forest), d.classes == 2 || d.base.empty()));
    kernel->name_ = format("tree classifier of {} trees", kernel->ensemble_.trees.trees());
    kernel->traits_.values = by_text;
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList out, Needs& needs) override {
    if (!in_place(*out[1])) needs.scratch = columns_of(in[0]->dims).rows * ensemble_.width() * sizeof(float);
    return std::unique_ptr<Prepared>();
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext& context) override {
    float* scores = out[1]->defined() ? out[1]->as_mutable<float>() : nullptr;
    float* sums = in_place(*out[1]) ? scores : static_cast<float*>(context.scratch);
    int64_t* labels = out[0]->defined() ? out[0]->as_mutable<int64_t>() : nullptr;
    return classify(in[0]->as<float>(), columns_of(in[0]->dims), sums, scores, context.parallel,
                    [&](size_t r, size_t outcome) {
                      if (labels) labels[r] = ints_[outcome];
                    });
  }
  // With texts for labels.
  Status run_values(std::span<const Value> in, std::span<Value> out, RunContext& context) override {
    const Tensor& x = in[0].tensor;
    const Columns m = columns_of(x.dims());
    SX_ASSIGN(Tensor labels, Tensor::allocate(DType::string, {int64_t(m.rows)}));
    SX_ASSIGN(Tensor scores, Tensor::allocate(DType::f32, {int64_t(m.rows), int64_t(decision_.classes)}));
    const std::span<std::string> texts = labels.mutable_strings();
    std::vector<float> sums(ensemble_.counted.empty() ? 0 : m.rows * ensemble_.width());
    float* to = scores.mutable_as<float>().data();
    SX_TRY(classify(x.as<float>().data(), m, sums.empty() ? to : sums.data(), to, context.parallel,
                    [&](size_t r, size_t outcome) { texts[r] = texts_[outcome]; }));
    out[0] = Value(std::move(labels));
    out[1] = Value(std::move(scores));
    return {};
  }

 private:
  bool in_place(const View& scores) const { return scores.defined() && ensemble_.counted.empty(); }

  template <class F>
  Status classify(const float* x, const Columns& m, float* sums, float* scores, Parallel& parallel,
                  F put) const {
    SX_TRY(ensemble_.check(m));
    if (m.rows == 0) return {};
    kernels::trees_run(ensemble_.trees, x, m.rows, m.cols, sums, parallel);
    const size_t n = decision_.classes;
    ensemble_.each_row(sums, m.rows, [&](size_t r, float* row, const bool* heard) {
      put(r, decision_.decide(row, heard));
      if (scores && row != scores + r * n) std::copy_n(row, n, scores + r * n);
    });
    return {};
  }

  Ensemble ensemble_;
  Decision decision_;
  std::vector<std::string> texts_;  // by outcome
  std::vector<int64_t> ints_;
};

// ---- TreeEnsembleRegressor and TreeEnsemble

constexpr std::string_view kAggregates[] = {"AVERAGE", "SUM", "MIN", "MAX"};  // as TreeEnsemble numbers them
constexpr TreeAggregate kAggregateOf[] = {TreeAggregate::average, TreeAggregate::sum, TreeAggregate::min,
                                          TreeAggregate::max};

struct Asked {
  size_t targets = 1, aggregate = 1;
  Post post = Post::none;
};
Asked asked(const Site& site) {
  const Attrs& attrs = site.attrs();
  Asked a;
  a.targets = size_t(std::max<int64_t>(attrs.integer("n_targets", 1), 1));
  if (site.op().op->name == "TreeEnsemble") {
    a.aggregate = size_t(attrs.integer("aggregate_function", 1));
    a.post = Post(attrs.integer("post_transform", 0));
  } else {
    const std::string name = attrs.text("aggregate_function", "SUM");
    a.aggregate = size_t(std::find(std::begin(kAggregates), std::end(kAggregates), name) - kAggregates);
    a.post = post_named(attrs.text("post_transform", "NONE"));
  }
  return a;
}

std::string regressor_refuses(const Site& site) {
  if (std::string why = trees_refuse(site); !why.empty()) return why;
  const Asked a = asked(site);
  if (a.aggregate >= std::size(kAggregates)) return "aggregate_function is unknown";
  if (a.post == Post::unknown) return "post_transform is unknown";
  if (a.targets > kMostTargets) return format("there are {} targets", a.targets);
  // Where the least or greatest is taken, the kernel's NaN means that nobody spoke.
  for (const char* name : {"target_weights", "leaf_weights"}) {
    const Tensor* t = site.attrs().get<Tensor>(name);
    const std::span<const float> weights = t ? t->as<float>() : floats_of(site.attrs(), name);
    if (a.aggregate > 1 && std::any_of(weights.begin(), weights.end(), [](float w) { return w != w; }))
      return format("{} has a NaN", name);
  }
  const size_t base = floats_of(site.attrs(), "base_values").size();
  return base != 0 && base != a.targets ? format("{} base_values for {} targets", base, a.targets) : "";
}

class RegressorKernel final : public NamedKernel {
 public:
  static Result<std::unique_ptr<Kernel>> make(CompileContext& context) {
    const Site site(context.graph, context.node);
    auto kernel = std::make_unique<RegressorKernel>();
    const Asked a = asked(site);
    const bool lists = site.op().op->name == "TreeEnsembleRegressor";
    SX_ASSIGN(Forest forest, lists ? Forest::of_lists(site.attrs(), "target", a.targets)
                                   : Forest::of_tensors(site.attrs(), a.targets));
    forest.spec.aggregate = kAggregateOf[a.aggregate];
    const std::span<const float> given = floats_of(site.attrs(), "base_values");
    const std::vector<float> base(given.begin(), given.end());
    // A target that no leaf spoke of stays 0, without its base value.
    const bool listen = !base.empty() && a.targets > 1;
    if (!listen)
      forest.spec.base = base;
    else
      kernel->base_ = base;
    SX_ASSIGN(kernel->ensemble_, Ensemble::make(std::move(forest), listen));
    kernel->post_ = a.post;
    kernel->name_ = format("tree regressor of {} trees", kernel->ensemble_.trees.trees());
    return std::unique_ptr<Kernel>(std::move(kernel));
  }
  Result<std::unique_ptr<Prepared>> prepare(ViewList in, ViewList, Needs& needs) override {
    if (!ensemble_.counted.empty())
      needs.scratch = columns_of(in[0]->dims).rows * ensemble_.width() * sizeof(float);
    return std::unique_ptr<Prepared>();
  }
  Status run(const Prepared*, ViewList in, ViewList out, RunContext& context) override {
    const Columns m = columns_of(in[0]->dims);
    SX_TRY(ensemble_.check(m));
    if (m.rows == 0) return {};
    const size_t n = ensemble_.targets;
    float* y = out[0]->as_mutable<float>();
    float* sums = ensemble_.counted.empty() ? y : static_cast<float*>(context.scratch);
    kernels::trees_run(ensemble_.trees, in[0]->as<float>(), m.rows, m.cols, sums, context.parallel);
    if (base_.empty() && post_ == Post::none) return {};
    ensemble_.each_row(sums, m.rows, [&](size_t r, float* row, const bool* heard) {
      for (size_t t = 0; t < base_.size(); ++t) {
        if (heard[t]) row[t] += base_[t];
      }
      transform(post_, {row, n});
      if (row != y + r * n) std::copy_n(row, n, y + r * n);
    });
    return {};
  }

 private:
  Ensemble ensemble_;
  std::vector<float> base_;  // where it depends on who is heard of
  Post post_ = Post::none;
};

const Implementation kClassifier[] = {{"trees", classifier_refuses, ClassifierKernel::make}};
const Implementation kRegressor[] = {{"trees", regressor_refuses, RegressorKernel::make}};
const Family kFamilies[] = {{"TreeEnsembleClassifier", "ai.onnx.ml", kClassifier},
                            {"TreeEnsembleRegressor", "ai.onnx.ml", kRegressor},
                            {"TreeEnsemble", "ai.onnx.ml", kRegressor}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

}  // namespace sx::cpu::trees
