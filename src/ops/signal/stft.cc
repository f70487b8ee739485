// SPDX-License-Identifier: Apache-2.0
// STFT: the Fourier transforms of the frames of a signal, each weighted with a window.
#include "base/workspace.h"
#include "graph/infer.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/engine/codec.h"
#include "ops/signal/fourier.h"

namespace sx::ops::stft {

// The frame length: its own input, or the window's length.
static Status infer(Infer& i) {
  SX_TRY(require_one(i, 1, "frame_step"));
  SX_TRY(require_one(i, 3, "frame_length"));
  SX_TRY(require_rank(i, 2, 1, "window"));
  const std::optional<Dim> step = one_of(i, 1), length = one_of(i, 3);
  Dim batch = i.fresh("batch"), frames = i.fresh("frames"), bins = i.fresh("bins");
  if (i.rank_known(0) && i.rank(0) > 0) batch = i.dim(0, 0);
  const bool from_window = !i.has(3) && i.rank_known(2) && i.rank(2) == 1;
  if (length || from_window) {
    const Dim n = from_window ? i.dim(2, 0) : *length;
    bins = i.integer("onesided") ? floordiv(n, 2) + 1 : n;
    if (step && step->is_constant() && step->constant() > 0 && i.rank_known(0) && i.rank(0) > 1)
      frames = floordiv(i.dim(0, 1) - n, *step) + 1;
  }
  i.set_tensor(0, i.elem(0), Shape({batch, frames, bins, 2}));
  return {};
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  if (x.rank() < 2 || x.rank() > 3)
    return e.fail("signal must be [batch, length] or [batch, length, parts], found rank {}", x.rank());
  const int64_t batch = x.dims()[0], length = x.dims()[1], parts = x.rank() > 2 ? x.dims()[2] : 1;
  const int64_t step = number_at<int64_t>(e.in(1));
  const int64_t n = e.has(3) ? number_at<int64_t>(e.in(3)) : e.has(2) ? e.in(2).count() : length;
  if (step < 1 || n < 1 || n > length || (parts != 1 && parts != 2)) {
    return e.fail("frames of {} every {} do not fit a signal of {} with {} parts", n, step, length, parts);
  }
  const Reader<double> window(e.has(2) ? e.in(2) : Tensor());
  if (e.has(2) && int64_t(window.size()) != n)
    return e.fail("the window has {} elements, frames have {}", window.size(), n);
  const int64_t frames = (length - n) / step + 1, bins = e.integer("onesided") ? n / 2 + 1 : n;
  SX_TRY(e.allocate(0, x.type(), {batch, frames, bins, 2}));
  const Fourier transform(size_t(n), false);
  const Reader<double> in(x);
  Writer<double> y(e.out(0));
  Workspace<std::complex<double>> line(static_cast<size_t>(n));
  StopCheck<65536> stop;
  for (int64_t b = 0; b < batch && !stop(); ++b) {
    for (int64_t f = 0; f < frames && !stop(size_t(n)); ++f) {
      for (int64_t k : turns(n)) {
        const double* p = in.data() + (b * length + f * step + k) * parts;
        line[size_t(k)] =
            std::complex<double>(p[0], parts == 2 ? p[1] : 0) * (e.has(2) ? window[size_t(k)] : 1.0);
      }
      transform(line);
      double* to = y.data() + (b * frames + f) * bins * 2;
      for (int64_t k : turns(bins)) {
        to[2 * k] = line[size_t(k)].real();
        to[2 * k + 1] = line[size_t(k)].imag();
      }
    }
  }
  return {};
}

extern const Op op = {
    .name = "STFT",
    .in = {{"signal", "T1"},
           {"frame_step", "T2"},
           {"window", "T1", kOptional},
           {"frame_length", "T2", kOptional}},
    .out = {{"output", "T1"}},
    .types = {{"T1", kFloats}, {"T2", kIndices}},
    .attrs = {attr_int("onesided", 1)},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 17}},
};

}  // namespace sx::ops::stft
