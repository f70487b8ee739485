// SPDX-License-Identifier: Apache-2.0
#include "graph/merge_types.h"

namespace sx {

// The more exact of two descriptions of one size; false if they contradict each other.
static bool merge_dim(Dim& have, Dim found) {
  if (have == found) return true;
  if (have.is_constant() && found.is_constant()) return false;
  if (have.is_constant()) return true;
  if (found.is_constant() || (mentions_fresh(have) && !mentions_fresh(found))) have = found;
  return true;
}

bool merge_type(Type& have, const Type& found) {
  if (!found.known()) return true;
  if (!have.known()) {
    have = found;
    return true;
  }
  if (have.kind != found.kind) return false;
  if (have.elem == DType::undefined) have.elem = found.elem;
  if (have.key == DType::undefined) have.key = found.key;
  if (found.elem != DType::undefined && have.elem != found.elem) return false;
  if (found.key != DType::undefined && have.key != found.key) return false;
  if (found.inner && have.inner) {
    Type inner = *have.inner;
    if (!merge_type(inner, *found.inner)) return false;
    have.inner = std::make_shared<const Type>(std::move(inner));
  } else if (found.inner) {
    have.inner = found.inner;
  }
  if (!found.shape.known) return true;
  if (!have.shape.known) {
    have.shape = found.shape;
    return true;
  }
  if (have.shape.rank() != found.shape.rank()) return false;
  for (size_t i = 0; i < have.shape.rank(); ++i) {
    if (!merge_dim(have.shape.dims[i], found.shape.dims[i])) return false;
  }
  return true;
}

bool more_exact(const Type& have, const Type& given) {
  if (!have.known()) return false;
  Type both = given;
  return !merge_type(both, have) || !(both == given);
}

void substitute(Type& type, Substitution& with) {
  for (Dim& d : type.shape.dims) d = with(d);
  if (!type.inner) return;
  Type inner = *type.inner;
  substitute(inner, with);
  type.inner = std::make_shared<const Type>(std::move(inner));
}

}  // namespace sx
