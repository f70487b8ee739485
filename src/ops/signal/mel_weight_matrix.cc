// SPDX-License-Identifier: Apache-2.0
// MelWeightMatrix: triangles over the bins of a spectrum, one for each band of the mel scale.
#include <algorithm>
#include <cmath>

#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/engine/codec.h"

namespace sx::ops::mel_weight_matrix {

static Status infer(Infer& i) {
  constexpr std::string_view kNames[] = {"num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz",
                                         "upper_edge_hertz"};
  for (size_t k = 0; k < 5; ++k) SX_TRY(require_one(i, k, kNames[k]));
  SX_ASSIGN(const DType type, i.dtype("output_datatype", DType::f32));
  const std::optional<Dim> bands = one_of(i, 0), length = one_of(i, 1);
  i.set_tensor(
      0, type,
      Shape({length ? floordiv(*length, 2) + 1 : i.fresh("bins"), bands ? *bands : i.fresh("bands")}));
  return {};
}

static double to_mel(double hertz) { return 2595 * std::log10(1 + hertz / 700); }
static double to_hertz(double mel) { return 700 * (std::pow(10, mel / 2595) - 1); }

static Status eval(Eval& e) {
  const int64_t bands = number_at<int64_t>(e.in(0)), length = number_at<int64_t>(e.in(1));
  const int64_t rate = number_at<int64_t>(e.in(2)), bins = length / 2 + 1;
  const double low = to_mel(number_at<double>(e.in(3))), high = to_mel(number_at<double>(e.in(4)));
  if (bands < 1 || length < 1 || rate < 1)
    return e.fail("{} bands of {} at {} Hz cannot be", bands, length, rate);
  const double step = (high - low) / double(bands + 2);
  Workspace<int64_t> edges(size_t(bands + 2));
  for (size_t k : turns(edges.size())) {
    const double at = std::floor(double(length + 1) * to_hertz(double(k) * step + low) / double(rate));
    if (!(at >= 0 && at < 1e9)) return e.fail("the edges do not lie in the spectrum");
    edges[k] = int64_t(at);
  }
  SX_TRY(check_stop());
  Writer<double> y(e.out(0));
  y.fill(0);
  auto put = [&](int64_t bin, int64_t band, double v) {
    if (bin < bins) y[size_t(bin * bands + band)] = v;
  };
  StopCheck<> stop;
  for (int64_t b = 0; b < bands && !stop(); ++b) {
    const int64_t from = edges[size_t(b)], top = edges[size_t(b) + 1], to = edges[size_t(b) + 2];
    if (from == top) put(top, b, 1);
    for (int64_t k = from; k <= top && from != top && k < bins && !stop(); ++k)
      put(k, b, double(k - from) / double(top - from));
    for (int64_t k = top; k < std::min(to, bins) && !stop(); ++k)
      put(k, b, double(to - k) / double(to - top));
  }
  return {};
}

extern const Op op = {
    .name = "MelWeightMatrix",
    .in = {{"num_mel_bins", "T1"},
           {"dft_length", "T1"},
           {"sample_rate", "T1"},
           {"lower_edge_hertz", "T2"},
           {"upper_edge_hertz", "T2"}},
    .out = {{"output", "T3"}},
    .types = {{"T1", kIndices}, {"T2", kFloats}, {"T3", kNumbers}},
    .attrs = {attr_int("output_datatype", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 17}},
};

}  // namespace sx::ops::mel_weight_matrix
