// SPDX-License-Identifier: Apache-2.0
#include "ops/common/matmul.h"

namespace sx::ops {

Status infer_matmul(Infer& i, size_t a, size_t b, DType elem) {
  if (!i.rank_known(a) || !i.rank_known(b)) {
    i.set_unknown_shape(0, elem);
    return {};
  }
  std::vector<Dim> x = i.dims(a), y = i.dims(b);
  if (x.empty() || y.empty())
    return i.fail("matrix product of ranks {} and {}: a scalar has no rows", x.size(), y.size());
  const bool row = x.size() == 1, column = y.size() == 1;
  if (row) x.insert(x.begin(), 1);
  if (column) y.push_back(1);
  SX_TRY(i.require_equal(x.back(), y[y.size() - 2], "the columns of A and the rows of B"));
  const Shape x_batch(std::vector<Dim>(x.begin(), x.end() - 2)),
      y_batch(std::vector<Dim>(y.begin(), y.end() - 2));
  SX_ASSIGN(Shape out, i.broadcast(x_batch, y_batch, "batch axes"));
  if (!row) out.dims.push_back(x[x.size() - 2]);
  if (!column) out.dims.push_back(y.back());
  i.set_tensor(0, elem, std::move(out));
  return {};
}

}  // namespace sx::ops
