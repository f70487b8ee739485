// SPDX-License-Identifier: Apache-2.0
// What the rules that recognise normalizations share.
#pragma once
#include <initializer_list>
#include <string_view>

#include "passes/pattern.h"

namespace sx::passes {

// The labelled means must run over the same last axes of "x", keeping them, and the weights fit there.
bool normal_axis(const Match& m, std::initializer_list<std::string_view> means,
                 std::initializer_list<std::string_view> weights, size_t& axis);
Attrs norm_attrs(const Match& m, size_t axis);  // axis, epsilon, stash_type

}  // namespace sx::passes
