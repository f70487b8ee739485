// SPDX-License-Identifier: Apache-2.0
// A text that is parsed can be printed, and what is printed means the same model.
#include "fuzzing.h"
#include "onnx/text.h"

using namespace sx;
using namespace sx::onnx;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto model = parse_text({reinterpret_cast<const char*>(data), size});
  if (!model.ok()) return 0;
  const auto again = parse_text(print_text(**model));
  must(again.ok(), "our text is parsed");
  must(canonical(**again) == canonical(**model), "text means the same model");
  return 0;
}
