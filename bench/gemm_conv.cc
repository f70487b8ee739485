// SPDX-License-Identifier: Apache-2.0
// Speed of the matrix product and of convolutions, beside the multiply-add peak measured in the same run. One
// thread is timed by its own processor time, so that other programs disturb it less.
//   bench_gemm_conv [--isa LEVEL] [--threads N] [--seconds S] [--json] [NAME ...]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/thread_pool.h"
#include "kernels/conv.h"
#include "kernels/dispatch.h"
#include "kernels/gemm.h"
#include "kernels/reorder.h"

SX_LEVELS(double burn(size_t rounds, float* sink))

namespace {

using namespace sx;
using namespace sx::kernels;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double work_time(size_t threads) {
  if (threads > 1) return now();
  timespec t = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Floats = std::unique_ptr<float[], Free>;

Floats floats(size_t n) {
  Floats p(static_cast<float*>(std::aligned_alloc(64, (n * 4 + 127) / 64 * 64)));
  uint32_t state = 1;
  for (size_t i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    p[i] = static_cast<float>(state >> 8) / 16777216.0f - 0.5f;
  }
  return p;
}

double peak_once(size_t threads, Parallel& parallel) {
  constexpr size_t kRounds = 1000000;
  auto* burn = SX_PICK(burn);
  std::vector<double> done(threads, 0.0);
  const double start = work_time(threads);
  parallel.run(threads, [&](size_t chunk, size_t) {
    float sink[3] = {0.9999f, 1e-6f, 0};
    done[chunk] = burn(kRounds, sink);
  });
  const double seconds = work_time(threads) - start;
  double operations = 0;
  for (double d : done) operations += d;
  return operations / seconds / 1e9;
}

struct Row {
  std::string name;
  double gflops, low, high, best, peak;
};

class Bench {
 public:
  Bench(size_t threads, double seconds)
      : threads_(threads), pool_(static_cast<unsigned>(threads)), seconds_(seconds) {}

  Parallel& parallel() { return pool_; }
  std::vector<std::string> only;
  bool wanted(const std::string& name) const {
    return only.empty() || std::any_of(only.begin(), only.end(),
                                       [&](const auto& o) { return name.find(o) != std::string::npos; });
  }

  template <class Body>
  void measure(const std::string& name, double operations, Body body) {
    if (!wanted(name)) return;
    double peak = peak_once(threads_, pool_);
    body();
    const double first = now();
    body();
    // Reading the clock costs something too.
    const size_t repeat = static_cast<size_t>(std::clamp(1e-4 / (now() - first), 1.0, 1000.0));
    std::vector<double> times;
    const double begin = now();
    while (now() - begin < seconds_ || times.size() < 5) {
      const double start = work_time(threads_);
      for (size_t i = 0; i < repeat; ++i) body();
      times.push_back((work_time(threads_) - start) / static_cast<double>(repeat));
    }
    peak = std::max(peak, peak_once(threads_, pool_));
    std::sort(times.begin(), times.end());
    const auto rate = [&](size_t at) { return operations / times[at] / 1e9; };
    rows.push_back(
        {name, rate(times.size() / 2), rate(times.size() * 9 / 10), rate(times.size() / 10), rate(0), peak});
  }

  std::vector<Row> rows;

 private:
  size_t threads_;
  ThreadPool pool_;
  double seconds_;
};

void gemm(Bench& bench, size_t m, size_t n, size_t k, BSource source = BSource::packed, size_t batch = 1,
          bool trans_b = false) {
  std::string name = "gemm " + std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k);
  if (batch > 1) name += " batch " + std::to_string(batch);
  if (source == BSource::plain) name += trans_b ? " plain B^T" : " plain B";
  if (!bench.wanted(name)) return;
  GemmShape shape{.m = m, .n = n, .k = k, .trans_b = trans_b, .batch = {1, batch}};
  shape.a_batch[1] = static_cast<ptrdiff_t>(m * k);
  shape.b_batch[1] = static_cast<ptrdiff_t>(n * k);
  shape.c_batch[1] = static_cast<ptrdiff_t>(m * n);
  const GemmPlan plan(shape, source);
  const Floats a = floats(batch * m * k), b = floats(batch * k * n), c = floats(batch * m * n),
               bias = floats(n);
  const Floats packed = floats(plan.packed_b_floats());
  const Floats scratch = floats(plan.scratch_floats(bench.parallel().width()));
  if (source == BSource::packed) pack_b(plan, b.get(), packed.get(), bench.parallel());
  bench.measure(name, 2.0 * static_cast<double>(batch * m * n) * static_cast<double>(k), [&] {
    run_gemm(plan, a.get(), source == BSource::packed ? packed.get() : b.get(), c.get(), {.bias = bias.get()},
             scratch.get(), bench.parallel());
  });
}

void gemms(Bench& bench) {
  gemm(bench, 384, 768, 768);
  gemm(bench, 1024, 1024, 1024);
  gemm(bench, 3136, 64, 576);
  gemm(bench, 128, 3072, 768);
  gemm(bench, 128, 768, 3072);
  gemm(bench, 128, 768, 768);
  gemm(bench, 128, 384, 384);
  gemm(bench, 128, 1536, 384);
  gemm(bench, 128, 384, 1536);
  gemm(bench, 32, 768, 768);
  gemm(bench, 16, 768, 768);
  gemm(bench, 4, 3072, 768);
  gemm(bench, 1, 3072, 768);
  gemm(bench, 1, 768, 768);
  gemm(bench, 1, 512, 128);
  gemm(bench, 196, 1024, 256);
  gemm(bench, 384, 768, 768, BSource::plain);
  gemm(bench, 128, 128, 64, BSource::plain, 12, true);
  gemm(bench, 128, 64, 128, BSource::plain, 12);
  gemm(bench, 1, 128, 64, BSource::plain, 12, true);
}

void conv(Bench& bench, size_t in, size_t out, size_t size, size_t kernel, size_t stride, ConvKind kind,
          size_t groups = 1) {
  ConvShape s;
  s.in_channels = in, s.out_channels = out, s.groups = groups, s.in_h = s.in_w = size;
  s.kernel_h = s.kernel_w = kernel, s.stride_h = s.stride_w = stride;
  s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = kernel / 2;
  std::string name = "conv " + std::to_string(kernel) + "x" + std::to_string(kernel) + " " +
                     std::to_string(in) + "->" + std::to_string(out) + "@" + std::to_string(size);
  if (stride > 1) name += " stride " + std::to_string(stride);
  if (groups > 1) name += " groups " + std::to_string(groups);
  name += " " + std::string(conv_kind_name(kind));
  if (!bench.wanted(name)) return;
  if (!conv_refuses(s, kind).empty()) return;
  const ConvPlan plan(s, kind);
  const size_t block = plan.block(), space = s.out_h() * s.out_w();
  const Floats input = floats(blocked_size(1, in, size * size, block)), bias = floats(out);
  const Floats output = floats(blocked_size(1, out, space, block));
  const Floats weights = floats(out * in / groups * kernel * kernel), packed = floats(plan.packed_floats());
  const Floats scratch = floats(plan.scratch_floats(bench.parallel().width()));
  pack_conv(plan, weights.get(), packed.get(), bench.parallel());
  const double operations =
      2.0 * static_cast<double>(out * in / groups * kernel * kernel) * static_cast<double>(space);
  bench.measure(name, operations, [&] {
    run_conv(plan, input.get(), packed.get(), output.get(),
             {.bias = bias.get(), .activation = Activation::relu}, scratch.get(), bench.parallel());
  });
}

void convs(Bench& bench) {
  conv(bench, 3, 64, 224, 7, 2, ConvKind::from_plain);
  conv(bench, 64, 64, 56, 3, 1, ConvKind::winograd);
  conv(bench, 128, 128, 28, 3, 1, ConvKind::winograd);
  conv(bench, 256, 256, 14, 3, 1, ConvKind::winograd);
  conv(bench, 512, 512, 7, 3, 1, ConvKind::winograd);
  conv(bench, 20, 20, 56, 3, 1, ConvKind::winograd);
  conv(bench, 32, 32, 8, 3, 1, ConvKind::winograd);
  conv(bench, 64, 64, 56, 1, 1, ConvKind::blocked);
  conv(bench, 64, 64, 56, 3, 1, ConvKind::blocked);
  conv(bench, 64, 256, 56, 1, 1, ConvKind::blocked);
  conv(bench, 256, 64, 56, 1, 1, ConvKind::blocked);
  conv(bench, 256, 512, 56, 1, 2, ConvKind::blocked);
  conv(bench, 128, 128, 56, 3, 2, ConvKind::blocked);
  conv(bench, 128, 128, 28, 3, 1, ConvKind::blocked);
  conv(bench, 512, 128, 28, 1, 1, ConvKind::blocked);
  conv(bench, 256, 256, 14, 3, 1, ConvKind::blocked);
  conv(bench, 256, 1024, 14, 1, 1, ConvKind::blocked);
  conv(bench, 1024, 256, 14, 1, 1, ConvKind::blocked);
  conv(bench, 512, 512, 7, 3, 1, ConvKind::blocked);
  conv(bench, 2048, 512, 7, 1, 1, ConvKind::blocked);
  conv(bench, 960, 240, 1, 1, 1, ConvKind::blocked);
  conv(bench, 64, 64, 3, 3, 1, ConvKind::blocked);
  conv(bench, 20, 20, 56, 3, 1, ConvKind::blocked);
  conv(bench, 32, 32, 112, 3, 1, ConvKind::depthwise, 32);
  conv(bench, 144, 144, 56, 3, 2, ConvKind::depthwise, 144);
  conv(bench, 128, 128, 56, 3, 1, ConvKind::plain, 32);
  conv(bench, 64, 64, 56, 3, 1, ConvKind::plain);
}

void print_table(const std::vector<Row>& rows, size_t threads) {
  std::printf("%s, %s, %zu thread%s\n", std::string(cpu_model_name()).c_str(),
              std::string(isa_name(active_isa())).c_str(), threads, threads == 1 ? "" : "s");
  std::printf("%-52s %8s %17s %8s %8s %7s %7s\n", "shape", "GF/s", "10%..90%", "best", "peak", "% peak",
              "best");
  for (const Row& r : rows)
    std::printf("%-52s %8.1f %8.1f %8.1f %8.1f %8.1f %6.1f%% %6.1f%%\n", r.name.c_str(), r.gflops, r.low,
                r.high, r.best, r.peak, 100 * r.gflops / r.peak, 100 * r.best / r.peak);
}

void print_json(const std::vector<Row>& rows, size_t threads) {
  std::printf("{\"isa\":\"%s\",\"threads\":%zu,\"rows\":[", std::string(isa_name(active_isa())).c_str(),
              threads);
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& r = rows[i];
    std::printf(
        "%s\n{\"shape\":\"%s\",\"gflops\":%.2f,\"gflops_p10\":%.2f,\"gflops_p90\":%.2f,\"gflops_best\":%.2f,"
        "\"peak\":%.2f}",
        i ? "," : "", r.name.c_str(), r.gflops, r.low, r.high, r.best, r.peak);
  }
  std::printf("\n]}\n");
}

int usage() {
  std::fprintf(stderr,
               "usage: bench_gemm_conv [--isa baseline|avx2|avx512] [--threads N] [--seconds S] [--json] "
               "[NAME ...]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  size_t threads = 1;
  double seconds = 0.2;
  bool json = false;
  std::vector<std::string> only;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const bool more = i + 1 < argc;
    Isa isa;
    if (arg == "--json") {
      json = true;
    } else if (arg == "--threads" && more) {
      threads = static_cast<size_t>(std::max(1, std::atoi(argv[++i])));
    } else if (arg == "--seconds" && more) {
      seconds = std::atof(argv[++i]);
    } else if (arg == "--isa" && more && parse_isa(argv[i + 1], isa)) {
      set_active_isa(isa);
      ++i;
    } else if (arg[0] == '-') {
      return usage();
    } else {
      only.push_back(arg);
    }
  }
  Bench bench(threads, seconds);
  bench.only = only;
  gemms(bench);
  convs(bench);
  (json ? print_json : print_table)(bench.rows, threads);
}
