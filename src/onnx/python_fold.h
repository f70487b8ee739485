// SPDX-License-Identifier: Apache-2.0
// Repeated Python statements, folded into loops. Running the loops does what running the statements one after
// the other does, exactly. Internal to src/onnx.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sx::onnx {

// Around the literals of a statement that may differ between the iterations of a loop. A literal is a text in
// double quotes, a whole number, or any other expression without side effects.
inline constexpr char kHoleBegin = '\x01';
inline constexpr char kHoleEnd = '\x02';
std::string hole(std::string_view literal);
std::string without_holes(std::string_view statement);

// Lines of Python, without holes and not indented; `statements` are one line each.
std::vector<std::string> fold_statements(const std::vector<std::string>& statements);

}  // namespace sx::onnx
