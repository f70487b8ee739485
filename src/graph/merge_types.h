// SPDX-License-Identifier: Apache-2.0
// Two descriptions of one value become the more exact one; sizes in a type become others.
#pragma once
#include "graph/type.h"

namespace sx {

// False if they contradict each other.
bool merge_type(Type& have, const Type& found);

// True where `have` says something that `given` does not.
bool more_exact(const Type& have, const Type& given);

// Every size, also of what a sequence or an optional holds.
void substitute(Type& type, Substitution& with);

}  // namespace sx
