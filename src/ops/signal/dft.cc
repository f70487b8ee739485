// SPDX-License-Identifier: Apache-2.0
// DFT: the discrete Fourier transform along one axis. The last axis holds the real and, if there are two, the
// imaginary part. One-sided forward keeps the first half of the spectrum; one-sided inverse makes real
// numbers of such a half.
#include <algorithm>

#include "base/workspace.h"
#include "graph/infer.h"
#include "graph/lift.h"
#include "graph/op.h"
#include "ops/common/checks.h"
#include "ops/engine/codec.h"
#include "ops/signal/fourier.h"

namespace sx::ops::dft {

static Status infer(Infer& i) {
  SX_TRY(require_one(i, 1, "dft_length"));
  SX_TRY(require_one(i, 2, "axis"));
  std::vector<int64_t> axis = {-2};
  if (!i.rank_known(0) || (i.has(2) && !i.constant_ints(2, axis))) {
    i.set_unknown_shape(0, i.elem(0));
    return {};
  }
  SX_ASSIGN(const size_t at, i.axis(axis.empty() ? -2 : axis[0], i.rank(0)));
  if (at + 1 >= i.rank(0))
    return i.fail("axis {} is the last one, which holds the parts of complex numbers", at);
  const bool onesided = i.integer("onesided") != 0, inverse = i.integer("inverse") != 0;
  std::vector<Dim> dims = i.dims(0);
  const std::optional<Dim> length = one_of(i, 1);
  Dim n = onesided && inverse ? (dims[at] - 1) * 2 : dims[at];
  if (i.has(1)) n = length ? *length : i.fresh("spectrum");
  dims[at] = onesided && !inverse ? floordiv(n, 2) + 1 : n;
  dims.back() = onesided && inverse ? 1 : 2;
  i.set_tensor(0, i.elem(0), Shape(std::move(dims)));
  return {};
}

// One side of a spectrum is all there is to know only where the signal is real.
static bool parts_fit(int64_t parts, bool onesided, bool inverse) {
  return (parts == 1 || parts == 2) && (!onesided || parts == (inverse ? 2 : 1));
}

struct Line {
  int64_t have = 0, n = 0, out = 0;  // elements in the input, of the transform, in the output
  int64_t parts = 1, out_parts = 2;
  bool mirrored = false;  // the input is half of a spectrum that mirrors itself
};

// The line of x that begins at element `first`, its elements `stride` complex numbers apart.
static void read_line(const Line& l, std::span<const double> x, int64_t first, int64_t stride,
                      Workspace<std::complex<double>>& line) {
  const int64_t given = std::min(l.have, l.n), half = l.n / 2 + 1;
  for (int64_t k : turns(given)) {
    const double* p = &x[size_t(first + k * stride * l.parts)];
    line[size_t(k)] = {p[0], l.parts == 2 ? p[1] : 0};
  }
  for (int64_t k : turns(l.n - given)) line[size_t(given + k)] = 0;
  if (!l.mirrored) return;
  for (int64_t k : turns(l.n - half)) line[size_t(half + k)] = std::conj(line[size_t(l.n - half - k)]);
}

static Status eval(Eval& e) {
  const Tensor& x = e.in(0);
  const bool onesided = e.integer("onesided") != 0, inverse = e.integer("inverse") != 0;
  SX_ASSIGN(const size_t axis, e.axis(e.has(2) ? number_at<int64_t>(e.in(2)) : -2, x.rank()));
  if (axis + 1 >= x.rank())
    return e.fail("axis {} is the last one, which holds the parts of complex numbers", axis);
  Line l;
  l.have = x.dims()[axis];
  l.parts = x.dims().back();
  l.mirrored = onesided && inverse;
  l.n = e.has(1) ? number_at<int64_t>(e.in(1)) : l.mirrored ? 2 * (l.have - 1) : l.have;
  l.out = onesided && !inverse ? l.n / 2 + 1 : l.n;
  l.out_parts = l.mirrored ? 1 : 2;
  if (!parts_fit(l.parts, onesided, inverse))
    return e.fail("the last axis must have {} parts, found {}", onesided ? inverse ? "2" : "1" : "1 or 2",
                  l.parts);
  if (l.n < 1 || l.n > (int64_t(1) << 28)) return e.fail("a transform of length {} cannot be", l.n);
  Dims dims = x.dims();
  dims[axis] = l.out;
  dims.back() = l.out_parts;
  SX_TRY(e.allocate(0, x.type(), dims));
  const int64_t outer = product(std::span(dims.begin(), axis));
  const int64_t inner = product(std::span(dims.begin() + axis + 1, dims.size() - axis - 2));
  const Fourier transform(size_t(l.n), inverse);
  const Reader<double> in(x);
  Writer<double> y(e.out(0));
  Workspace<std::complex<double>> line(static_cast<size_t>(l.n));
  StopCheck<65536> stop;
  for (int64_t o = 0; o < outer && !stop(); ++o) {
    for (int64_t k = 0; k < inner && !stop(size_t(l.n)); ++k) {
      read_line(l, in, (o * l.have * inner + k) * l.parts, inner, line);
      transform(line);
      for (int64_t f : turns(l.out)) {
        double* to = y.data() + ((o * l.out + f) * inner + k) * l.out_parts;
        to[0] = line[size_t(f)].real();
        if (l.out_parts == 2) to[1] = line[size_t(f)].imag();
      }
    }
  }
  return {};
}

// Opset 17 had the axis as an attribute, 1 by default.
static Status lift_17(Lift& l) {
  l.set_input(2, l.constant(Tensor::scalar_i64(l.attrs().integer("axis", 1))));
  l.attrs().erase("axis");
  return {};
}

static const AttrDef kInverse = attr_int("inverse", 0), kOnesided = attr_int("onesided", 0);

extern const Op op = {
    .name = "DFT",
    .in = {{"input", "T1"}, {"dft_length", "T2", kOptional}, {"axis", "tensor(int64)", kOptional}},
    .out = {{"output", "T1"}},
    .types = {{"T1", kFloats}, {"T2", kIndices}},
    .attrs = {kInverse, kOnesided},
    .infer = infer,
    .eval = eval,
    .history = {{.since = 20},
                {.since = 17,
                 .attrs = {{attr_int("axis", 1), kInverse, kOnesided}},
                 .in = {{{"input", "T1"}, {"dft_length", "T2", kOptional}}},
                 .lift = lift_17}},
};

}  // namespace sx::ops::dft
