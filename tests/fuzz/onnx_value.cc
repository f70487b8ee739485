// SPDX-License-Identifier: Apache-2.0
// Values in .pb files: the first byte chooses the kind. What is read can be written and read again.
#include "fuzzing.h"
#include "onnx/value_pb.h"

using namespace sx;
using namespace sx::onnx;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto kind = Value::Kind(1 + data[0] % 5);
  const auto value = parse_value_pb(input_file(data + 1, size - 1), kind);
  if (!value.ok()) return 0;
  const auto bytes = value_to_pb(value->value, value->name);
  if (!bytes.ok()) return 0;  // an optional of no kind
  must(parse_value_pb(MappedFile::from_bytes("again", bytes->data(), bytes->size()), kind).ok(),
       "read again");
  return 0;
}
