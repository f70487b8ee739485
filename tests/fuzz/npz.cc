// SPDX-License-Identifier: Apache-2.0
// Archives: every member is read or refused.
#include "fuzzing.h"
#include "onnx/npy.h"

using namespace sx;
using namespace sx::onnx;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto archive = NpzFile::parse(input_file(data, size));
  if (!archive.ok()) return 0;
  for (size_t i = 0; i < archive->size() && i < 16; ++i) (void)archive->read(i).ok();
  return 0;
}
