// SPDX-License-Identifier: Apache-2.0
// An array that is read can be written, and what is written reads as the same.
#include "onnx/npy.h"
#include "fuzzing.h"

using namespace sx;
using namespace sx::onnx;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto tensor = parse_npy(input_file(data + 1, size - 1), DType(data[0] % kDTypeCount));
  if (!tensor.ok()) return 0;
  const auto bytes = npy_bytes(*tensor);
  must(bytes.ok(), "what is read can be written");
  const auto again = parse_npy(MappedFile::from_bytes("again", bytes->data(), bytes->size()), tensor->type());
  must(again.ok() && again->dims() == tensor->dims() && again->type() == tensor->type(), "read again");
  must(*npy_bytes(*again) == *bytes, "the same bytes again");
  return 0;
}
