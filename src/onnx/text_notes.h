// SPDX-License-Identifier: Apache-2.0
// The comment lines "#@ path = value" of ONNX text: what its syntax cannot say. The printer compares a model
// with what its text means and notes the difference; the parser carries the notes out. Internal to src/onnx.
//   path   fields as in onnx.proto, with an index or a range [from:to] for repeated ones
//   value  a number, bits(hex) of one, a text in quotes with escapes, x"hex bytes", "key": "value",
//   [numbers],
//          {} (a message), absent, here (raw_data: the elements that the text gives), first N (of a list)
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "onnx/model.h"
#include "onnx/text_lexer.h"

namespace sx::onnx {

// `outline` is the text of `model` without the elements of its tensors. Tensors larger than `largest` get no
// note about their elements.
void append_notes(const std::string& outline, const ModelProto& model, uint64_t largest, std::string& to);

// What notes may cost in all grows with the size of the text.
Status apply_notes(const TextLexer& lexer, ModelProto& model, std::vector<std::shared_ptr<const void>>& keep,
                   size_t text_size);

}  // namespace sx::onnx
