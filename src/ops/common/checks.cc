// SPDX-License-Identifier: Apache-2.0
#include "ops/common/checks.h"

#include "base/format.h"

namespace sx::ops {

Status require_rank(Infer& i, size_t input, size_t rank, std::string_view name) {
  if (!i.rank_known(input) || i.rank(input) == rank) return {};
  return i.fail("{} has rank {}, {} expected", name, i.rank(input), rank);
}

Status require_one(Infer& i, size_t input, std::string_view name) {
  if (!i.rank_known(input)) return {};
  for (Dim d : i.dims(input)) {
    if (d.is_constant() && !d.is_constant(1))
      return i.fail("{} is {}, one element expected", name, to_string(i.in(input).shape));
  }
  return {};
}

std::optional<Dim> one_of(const Infer& i, size_t input) {
  std::vector<int64_t> numbers;
  const std::vector<Dim>* e = i.elements(input);
  if (e && e->size() == 1) return e->front();
  if (!e && i.constant_ints(input, numbers) && numbers.size() == 1) return Dim(numbers[0]);
  return std::nullopt;
}

Status require_dims(Infer& i, size_t input, const Shape& dims, std::string_view name) {
  if (!i.rank_known(input)) return {};
  bool fits = i.rank(input) == dims.rank();
  for (size_t k = 0; fits && k < dims.rank(); ++k) {
    const Dim has = i.dim(input, k);
    fits = has == dims.dims[k] || !has.is_constant() || !dims.dims[k].is_constant();
  }
  if (!fits) {
    return i.fail("{} must be {}, found {}", name, to_string(dims), to_string(i.in(input).shape));
  }
  for (size_t k = 0; k < dims.rank(); ++k)
    SX_TRY(i.require_equal(i.dim(input, k), dims.dims[k], format("axis {} of {}", k, name)));
  return {};
}

Status require_sizes(Infer& i, std::span<const Dim> sizes, std::string_view name) {
  for (Dim d : sizes) {
    if (d.is_constant() && d.constant() < 0) return i.fail("{} has a negative size {}", name, d.constant());
  }
  return {};
}

}  // namespace sx::ops
