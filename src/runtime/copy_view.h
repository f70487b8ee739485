// SPDX-License-Identifier: Apache-2.0
// Copies between views of equal dims, whatever their strides; and values from views.
#pragma once
#include "tensor/tensor.h"
#include "tensor/value.h"

namespace sx {

void copy_view(const View& from,
               const View& to);  // plain layouts; types of whole bytes unless both are contiguous
size_t contiguous_bytes(const View& v);
// A tensor over the view's memory where it is contiguous (valid while that memory is), else over a copy.
Result<Tensor> tensor_from_view(const View& v);

}  // namespace sx
