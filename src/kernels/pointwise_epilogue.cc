// SPDX-License-Identifier: Apache-2.0
#include "kernels/pointwise_epilogue.h"

namespace sx::kernels {
namespace {

size_t size_of(PwType type) { return type == PwType::boolean ? 1 : type == PwType::i64 ? 8 : 4; }

}  // namespace

void pointwise_post(void* context, float* rows, size_t entry, size_t row0, size_t nrows, size_t col0,
                    size_t ncols, size_t stride) {
  const PointwiseEpilogue& e = *static_cast<const PointwiseEpilogue*>(context);
  const size_t extras = e.program->inputs() - 1;
  const size_t dims[2] = {nrows, ncols};
  ptrdiff_t strides[kPwMaxInputs + 1][2] = {{static_cast<ptrdiff_t>(stride), 1}};
  const void* inputs[kPwMaxInputs] = {rows};
  PwOperand operands[kPwMaxInputs + 1] = {{strides[0]}};
  for (size_t i = 0; i < extras; ++i) {
    const PointwiseEpilogue::Extra& x = e.extras[i];
    const ptrdiff_t at = static_cast<ptrdiff_t>(entry) * x.per_entry +
                         static_cast<ptrdiff_t>(row0) * x.per_row +
                         static_cast<ptrdiff_t>(col0) * x.per_first_column;
    inputs[i + 1] =
        static_cast<const char*>(x.data) + at * static_cast<ptrdiff_t>(size_of(e.program->input_type(i + 1)));
    strides[i + 1][0] = x.per_row;
    strides[i + 1][1] = x.per_column;
    operands[i + 1].strides = strides[i + 1];
  }
  operands[extras + 1].strides = strides[0];
  void* output = rows;
  // Two dimensions always fit a plan.
  const Result<PointwisePlan> plan = PointwisePlan::make(*e.program, dims, {operands, extras + 2});
  if (plan.ok()) pointwise_apply(*e.program, *plan, inputs, &output);
}

}  // namespace sx::kernels
