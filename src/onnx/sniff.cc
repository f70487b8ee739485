// SPDX-License-Identifier: Apache-2.0
#include "onnx/sniff.h"

#include <algorithm>
#include <string_view>

#include "base/format.h"

namespace sx::onnx {
namespace {

using namespace std::literals;

struct Magic {
  std::string_view start, what, advice;
};

// None of these can begin a ModelProto: as a tag each has wire type 6 or 7, or a field that no model has.
const Magic kMagic[] = {
    {"\x1f\x8b"sv, "gzip-compressed data", "Decompress it first: gunzip."},
    {"\x28\xb5\x2f\xfd"sv, "zstd-compressed data", "Decompress it first: unzstd."},
    {"\xfd"
     "7zXZ"sv,
     "xz-compressed data", "Decompress it first: unxz."},
    {"BZh"sv, "bzip2-compressed data", "Decompress it first: bunzip2."},
    {"PK\x03\x04"sv, "a zip archive", "Unpack it first; a PyTorch checkpoint must be exported to ONNX."},
    {"\x89HDF\r\n"sv, "an HDF5 file", "Convert the model to ONNX first."},
    {"\x93NUMPY"sv, "a numpy array (.npy)", "Give the model, and this file as an input."},
    {"version https://git-lfs"sv, "a Git LFS pointer", "Fetch the real file: git lfs pull."},
    {"\x7f"
     "ELF"sv,
     "a program or shared library", ""},
};

bool looks_like_text(std::span<const uint8_t> bytes) {
  const auto head = bytes.first(std::min<size_t>(bytes.size(), 512));
  return std::all_of(
             head.begin(), head.end(),
             [](uint8_t c) { return c == '\t' || c == '\n' || c == '\r' || (c >= 32 && c != 127); }) &&
         head[0] < 128;
}

}  // namespace

Status refuse_other_format(std::span<const uint8_t> bytes) {
  if (bytes.empty()) return error(Code::invalid_model, "expected an ONNX model, found an empty file");
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const Magic& m : kMagic) {
    if (!text.starts_with(m.start)) continue;
    Status s = error(Code::invalid_model, "expected an ONNX model, found {}", m.what);
    return m.advice.empty() ? s : Status(std::move(s).advise(std::string(m.advice)));
  }
  if (looks_like_text(bytes)) {
    return error(Code::invalid_model, "expected an ONNX model, found text")
        .advise("ONNX text is turned into a model by: sardonyx parse FILE -o MODEL.onnx");
  }
  return {};
}

}  // namespace sx::onnx
