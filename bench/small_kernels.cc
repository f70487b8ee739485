// SPDX-License-Identifier: Apache-2.0
// Time of every kernel that is not a product or a convolution, on one thread: best and median of many runs.
//   bench_small_kernels [--isa LEVEL] [NAME ...]      names select by their beginning
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "kernels/attention.h"
#include "kernels/lstm.h"
#include "kernels/norm.h"
#include "kernels/pointwise.h"
#include "kernels/pool.h"
#include "kernels/reduce.h"
#include "kernels/reorder.h"
#include "kernels/softmax.h"
#include "kernels/strided_copy.h"
#include "kernels/trees.h"

namespace {

using namespace sx;
using namespace sx::kernels;

constexpr size_t kMillion = size_t{1} << 20;
std::vector<std::string> g_wanted;
Serial g_serial;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Floats = std::unique_ptr<float[], Free>;

uint32_t next_random() {
  static uint32_t state = 1;
  return state = state * 1664525u + 1013904223u;
}

Floats floats(size_t n) {
  Floats p(static_cast<float*>(std::aligned_alloc(64, (n * 4 + 127) / 64 * 64)));
  for (size_t i = 0; i < n; ++i) p[i] = static_cast<float>(next_random() >> 8) / 8388608.0f - 1.0f;
  return p;
}

bool wanted(const std::string& name) {
  if (g_wanted.empty()) return true;
  return std::any_of(g_wanted.begin(), g_wanted.end(),
                     [&](const std::string& w) { return name.rfind(w, 0) == 0; });
}

template <class Body>
void measure(const std::string& name, Body body) {
  if (!wanted(name)) return;
  std::vector<double> times;
  for (const double begin = now(); now() - begin < 0.1 || times.size() < 7;) {
    const double start = now();
    body();
    times.push_back(now() - start);
  }
  std::sort(times.begin(), times.end());
  std::printf("%-48s %12.2f %12.2f\n", name.c_str(), times[0] * 1e6, times[times.size() / 2] * 1e6);
}

std::vector<ptrdiff_t> dense(const std::vector<size_t>& dims) {
  std::vector<ptrdiff_t> strides(dims.size());
  ptrdiff_t step = 1;
  for (size_t d = dims.size(); d-- > 0; step *= static_cast<ptrdiff_t>(dims[d])) strides[d] = step;
  return strides;
}

template <class Build>
void pointwise(const std::string& name, size_t n, size_t inputs, Build build) {
  PointwiseBuilder b;
  build(b);
  const auto program = b.build();
  const ptrdiff_t unit = 1;
  const std::vector<PwOperand> operands(inputs + 1, PwOperand{{&unit, 1}});
  const auto plan = PointwisePlan::make(*program, {&n, 1}, operands);
  const Floats x = floats(n), z = floats(n), y = floats(n);
  const void* in[] = {x.get(), z.get()};
  void* out[] = {y.get()};
  measure("pointwise " + name + " " + std::to_string(n),
          [&] { pointwise_run(*program, *plan, in, out, g_serial); });
}

void pointwises() {
  const std::pair<const char*, PwOp> ops[] = {
      {"relu", PwOp::relu},         {"exp", PwOp::exp},   {"log", PwOp::log},   {"tanh", PwOp::tanh},
      {"sigmoid", PwOp::sigmoid},   {"erf", PwOp::erf},   {"gelu", PwOp::gelu}, {"silu", PwOp::silu},
      {"softplus", PwOp::softplus}, {"mish", PwOp::mish}, {"sin", PwOp::sin}};
  const auto unary = [](PwOp op) {
    return [op](PointwiseBuilder& b) { b.output(b.op(op, b.input(PwType::f32)), PwType::f32); };
  };
  for (size_t n : {size_t{16}, kMillion})
    for (const auto& [name, op] : ops) pointwise(name, n, 1, unary(op));
  pointwise("pow", kMillion, 2, [](PointwiseBuilder& b) {
    const auto x = b.input(PwType::f32), y = b.input(PwType::f32);
    b.output(b.op(PwOp::pow, x, y), PwType::f32);
  });
  pointwise("chain of 8", kMillion, 1, [](PointwiseBuilder& b) {
    const auto x = b.input(PwType::f32);
    const auto t =
        b.op(PwOp::sigmoid, b.op(PwOp::add, b.op(PwOp::mul, x, b.constant(0.05f)), b.constant(0.02f)));
    const auto u = b.op(PwOp::add, b.op(PwOp::mul, t, b.op(PwOp::tanh, x)), x);
    b.output(b.op(PwOp::sub, b.op(PwOp::mul, u, u), x), PwType::f32);
  });
}

void rows() {
  const Floats x = floats(kMillion), y = floats(kMillion), scale = floats(768);
  Softmax s;
  s.outer = kMillion / 384, s.n = 384, s.x_stride = s.y_stride = 384;
  measure("softmax 2730x384", [&] { softmax_run(s, x.get(), nullptr, y.get(), g_serial); });
  s.outer = 1, s.n = 64, s.inner = kMillion / 64;
  measure("softmax 64x16384 axis 0", [&] { softmax_run(s, x.get(), nullptr, y.get(), g_serial); });
  LayerNorm norm;
  norm.rows = kMillion / 768, norm.n = 768, norm.x_stride = norm.y_stride = 768;
  LayerNormData d;
  d.x = x.get(), d.y = y.get(), d.scale = d.bias = scale.get();
  measure("layer_norm 1365x768", [&] { layer_norm_run(norm, d, g_serial); });
}

void reduce(const std::string& name, const std::vector<size_t>& dims, const std::vector<bool>& axes,
            ReduceOp op) {
  bool flags[8] = {};
  std::copy(axes.begin(), axes.end(), flags);
  const auto plan = ReducePlan::make(op, dims, dense(dims), {flags, dims.size()});
  const Floats x = floats(kMillion), y = floats(plan->results());
  measure("reduce " + name, [&] { reduce_run(*plan, x.get(), y.get(), g_serial); });
}

void reduces() {
  reduce("sum 1048576", {kMillion}, {true}, ReduceOp::sum);
  reduce("sum 1024x1024 axis 0", {1024, 1024}, {true, false}, ReduceOp::sum);
  reduce("sum 131072x8 axis 0", {131072, 8}, {true, false}, ReduceOp::sum);
  reduce("sum 262144x4 axis 1", {262144, 4}, {false, true}, ReduceOp::sum);
  reduce("max 1024x1024 axis 1", {1024, 1024}, {false, true}, ReduceOp::max);
  reduce("mean 4x64x64x64 axes 0 2 3", {4, 64, 64, 64}, {true, false, true, true}, ReduceOp::mean);
}

void pools() {
  const Floats x = floats(kMillion), y = floats(kMillion);
  PoolShape s;
  s.channels = 64, s.block = channel_block();
  for (int d : {1, 2})
    s.in[d] = 112, s.out[d] = 56, s.kernel[d] = 3, s.stride[d] = 2, s.pad_begin[d] = s.pad_end[d] = 1;
  measure("pool max 3x3 stride 2 64@112 blocked", [&] { pool_run(s, x.get(), y.get(), g_serial); });
  s.block = 1;
  measure("pool max 3x3 stride 2 64@112 plain", [&] { pool_run(s, x.get(), y.get(), g_serial); });
}

void copy(const std::string& name, const std::vector<size_t>& dims, const std::vector<ptrdiff_t>& from) {
  const auto plan = CopyPlan::make(4, dims, from, dense(dims));
  const Floats x = floats(kMillion), y = floats(kMillion);
  measure("copy " + name, [&] { copy_run(*plan, x.get(), y.get(), g_serial); });
}

void copies() {
  copy("1048576", {kMillion}, {1});
  copy("transpose 1024x1024", {1024, 1024}, {1, 1024});
  copy("1280x12x64 to 12x1280x64", {12, 1280, 64}, {64, 768, 1});
  copy("64x128x128 to channels last", {16384, 64}, {1, 16384});
}

void attention(size_t heads, size_t queries, size_t keys) {
  AttentionShape s;
  s.heads = s.kv_heads = heads, s.queries = queries, s.keys = keys, s.head_size = s.value_size = 64,
  s.scale = 0.125f;
  s.q = s.k = s.v = s.out = {0, 64, static_cast<ptrdiff_t>(heads * 64)};
  const AttentionPlan plan(s);
  const Floats q = floats(heads * queries * 64), k = floats(heads * keys * 64), v = floats(heads * keys * 64);
  const Floats out = floats(heads * queries * 64), scratch = floats(plan.scratch_floats(1));
  measure(
      "attention " + std::to_string(heads) + "x" + std::to_string(queries) + "x" + std::to_string(keys),
      [&] { attention_run(plan, q.get(), k.get(), v.get(), nullptr, out.get(), scratch.get(), g_serial); });
}

void lstm(size_t hidden, size_t steps) {
  LstmShape s;
  s.steps = steps, s.input = s.hidden = hidden;
  const LstmPlan plan(s);
  const Floats packed = floats(plan.packed_floats()), scratch = floats(plan.scratch_floats());
  const Floats x = floats(steps * hidden), y = floats(steps * hidden), h = floats(hidden), c = floats(hidden);
  LstmData d;
  d.x = x.get(), d.x_time = static_cast<ptrdiff_t>(hidden);
  d.y = y.get(), d.y_time = static_cast<ptrdiff_t>(hidden);
  d.h_last = h.get(), d.c_last = c.get();
  measure("lstm " + std::to_string(hidden) + " steps " + std::to_string(steps),
          [&] { lstm_run(plan, packed.get(), d, scratch.get(), g_serial); });
}

int32_t subtree(TreeSpec& spec, int depth) {
  if (depth == 0) {
    spec.leaves.push_back({static_cast<uint32_t>(spec.weights.size()), 1});
    spec.weights.push_back({0, static_cast<float>(next_random() >> 8) / 16777216.0f});
    return ~static_cast<int32_t>(spec.leaves.size() - 1);
  }
  TreeNode node;
  node.feature = (next_random() >> 8) % static_cast<uint32_t>(spec.features);
  node.threshold = static_cast<float>(next_random() >> 8) / 8388608.0f - 1.0f;
  const size_t self = spec.nodes.size();
  spec.nodes.push_back(node);
  const int32_t yes = subtree(spec, depth - 1), no = subtree(spec, depth - 1);
  spec.nodes[self].if_true = yes;
  spec.nodes[self].if_false = no;
  return static_cast<int32_t>(self);
}

void trees(size_t count, int depth, size_t features) {
  TreeSpec spec;
  spec.features = features;
  for (size_t t = 0; t < count; ++t) spec.roots.push_back(subtree(spec, depth));
  const auto ensemble = TreeEnsemble::build(spec);
  constexpr size_t kSets = 8;  // inputs rotate, or the branch predictor would learn them
  for (size_t n : {size_t{1}, size_t{1000}}) {
    const Floats x = floats(kSets * n * features), y = floats(n);
    size_t set = 0;
    measure(
        "trees " + std::to_string(count) + " depth " + std::to_string(depth) + " rows " + std::to_string(n),
        [&] {
          trees_run(*ensemble, x.get() + set++ % kSets * n * features, n, features, y.get(), g_serial);
        });
  }
}

}  // namespace

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    Isa isa;
    if (std::strcmp(argv[i], "--isa") == 0 && i + 1 < argc && parse_isa(argv[i + 1], isa)) {
      set_active_isa(isa);
      ++i;
    } else {
      g_wanted.push_back(argv[i]);
    }
  }
  std::printf("%s, %s, one thread\n%-48s %12s %12s\n", std::string(cpu_model_name()).c_str(),
              std::string(isa_name(active_isa())).c_str(), "kernel", "best us", "median us");
  pointwises();
  rows();
  reduces();
  pools();
  copies();
  for (size_t n : {1, 128, 384}) attention(12, n, n == 1 ? 512 : n);
  for (size_t hidden : {64, 128}) lstm(hidden, 1), lstm(hidden, 20);
  trees(200, 6, 30);
  trees(500, 8, 50);
  return 0;
}
