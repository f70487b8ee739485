// SPDX-License-Identifier: Apache-2.0
#include "onnx/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/format.h"
#include "base/output_file.h"
#include "base/utf8.h"
#include "onnx/bit_packing.h"
#include "onnx/display.h"
#include "onnx/npy_header.h"

namespace sx::onnx {
namespace {

bool one_byte_each(DType t) {
  return t != DType::string && dtype_bits(t) < 8;
}  // in a .npy; packed in a Tensor

size_t stored_size(DType t) { return one_byte_each(t) ? 1 : size_t(dtype_bits(t)) / 8; }

// Copies elements so that the result is in row-major order: the file has the first axis fastest.
void copy_fortran(const uint8_t* from, const Dims& dims, size_t size, uint8_t* to) {
  const size_t rank = dims.size();
  Dims index(rank, 0), strides(rank, 0);
  int64_t stride = 1;
  for (size_t i = 0; i < rank; ++i) {
    strides[i] = stride;
    stride *= dims[i];
  }
  const int64_t count = product(dims);
  int64_t at = 0;
  for (int64_t k = 0; k < count; ++k) {
    std::memcpy(to + size_t(k) * size, from + size_t(at) * size, size);
    for (size_t i = rank; i-- > 0;) {
      at += strides[i];
      if (++index[i] < dims[i]) break;
      at -= strides[i] * dims[i];
      index[i] = 0;
    }
  }
}

void swap_bytes(uint8_t* data, size_t bytes, size_t size) {
  for (size_t i = 0; i + size <= bytes; i += size) std::reverse(data + i, data + i + size);
}

// Code points of UTF-8; a byte that fits nowhere stands for itself.
std::vector<uint32_t> code_points(std::string_view s) {
  std::vector<uint32_t> out;
  while (!s.empty()) {
    const Utf8Char c = first_char(s, Surrogates::taken);
    out.push_back(c.bytes > 0 ? c.code : uint8_t(s[0]));
    s.remove_prefix(std::max<size_t>(c.bytes, 1));
  }
  return out;
}

Result<Tensor> read_strings(const NpyHeader& h, std::span<const uint8_t> data) {
  SX_ASSIGN(Tensor t, Tensor::allocate(DType::string, h.dims));
  const bool unicode = h.kind == 'U';
  std::vector<uint8_t> ordered;
  if (h.fortran && h.dims.size() > 1 && !data.empty()) {
    ordered.resize(data.size());
    copy_fortran(data.data(), h.dims, h.item_bytes, ordered.data());
    data = ordered;
  }
  for (int64_t i = 0; i < t.count(); ++i) {
    const uint8_t* item = data.data() + size_t(i) * h.item_bytes;
    std::string& s = t.mutable_strings()[size_t(i)];
    size_t length = h.item_bytes;
    if (!unicode) {
      while (length > 0 && item[length - 1] == 0) --length;
      s.assign(reinterpret_cast<const char*>(item), length);
      continue;
    }
    std::vector<uint32_t> chars(h.item_bytes / 4);
    if (!chars.empty()) std::memcpy(chars.data(), item, h.item_bytes);
    if (h.swapped) swap_bytes(reinterpret_cast<uint8_t*>(chars.data()), h.item_bytes, 4);
    while (!chars.empty() && chars.back() == 0) chars.pop_back();
    for (uint32_t c : chars) {
      if (c > 0x10ffff)
        return error(Code::invalid_argument, "a string holds the number {}, which is no character", c);
      append_utf8(s, c);
    }
  }
  return t;
}

Result<DType> element_type(const NpyHeader& h, DType expected) {
  if (h.type != DType::undefined) return h.type;
  // Nameless bytes.
  const bool fits = expected != DType::undefined && expected != DType::string &&
                    (expected == DType::bf16 ? h.item_bytes == 2 : stored_size(expected) == h.item_bytes);
  if (fits) return expected;
  if (h.item_bytes == 2 && expected == DType::undefined) return DType::bf16;
  if (expected == DType::undefined) {
    return error(Code::invalid_argument,
                 "elements are {} nameless bytes: numpy does not say which type they are", h.item_bytes)
        .advise("Say the type, or give the tensor as .pb.");
  }
  return error(Code::invalid_argument, "elements are {} nameless bytes, {} takes {}", h.item_bytes,
               dtype_name(expected), stored_size(expected));
}

Result<Tensor> decode(std::span<const uint8_t> bytes, const std::shared_ptr<const void>& owner,
                      DType expected) {
  SX_ASSIGN(const NpyHeader h, parse_npy_header(bytes));
  const std::span<const uint8_t> data = bytes.subspan(h.data_offset);
  int64_t count = 0;
  uint64_t need = 0;
  if (!element_count(h.dims, count) ||
      __builtin_mul_overflow(uint64_t(count), uint64_t(h.item_bytes), &need)) {
    return error(Code::invalid_argument, "the shape {} is negative or too large", to_string(h.dims));
  }
  if (data.size() < need) {
    return error(Code::invalid_argument, "the array {} needs {} bytes, the file has {}", to_string(h.dims),
                 need, data.size());
  }
  // Strings of no characters take no bytes in the file, but they take memory and time.
  if (h.item_bytes == 0 && count > 1 << 16) {
    return error(Code::invalid_argument, "the array {} has {} elements of no bytes", to_string(h.dims),
                 count);
  }
  if (h.kind == 'U' || h.kind == 'S') return read_strings(h, data.first(need));
  SX_ASSIGN(const DType type, element_type(h, expected));
  const bool plain = !h.swapped && !one_byte_each(type) && !(h.fortran && h.dims.size() > 1);
  const size_t align = std::min<size_t>(h.item_bytes, 8);
  if (plain && owner && need > 0 && reinterpret_cast<uintptr_t>(data.data()) % align == 0 && need >= 4096) {
    return Tensor::over(Buffer::wrap(data.data(), need, owner), 0, type, h.dims);
  }
  SX_ASSIGN(Tensor t, Tensor::allocate(type, h.dims));
  if (need == 0) return t;
  std::vector<uint8_t> unpacked;
  const bool small = one_byte_each(type) && dtype_bits(type) != 6;
  if (small) unpacked.resize(need);
  uint8_t* to = small ? unpacked.data() : static_cast<uint8_t*>(t.mutable_data());
  if (h.fortran && h.dims.size() > 1) {
    copy_fortran(data.data(), h.dims, h.item_bytes, to);
  } else {
    std::memcpy(to, data.data(), need);
  }
  if (h.swapped) swap_bytes(to, need, dtype_is_complex(type) ? h.item_bytes / 2 : h.item_bytes);
  if (small) pack_small(to, size_t(count), dtype_bits(type), static_cast<uint8_t*>(t.mutable_data()));
  if (type == DType::boolean) {
    for (size_t i = 0; i < need; ++i) to[i] = to[i] != 0;
  }
  return t;
}

std::vector<uint8_t> string_items(const Tensor& t, size_t& width) {
  std::vector<std::vector<uint32_t>> all;
  width = 1;
  for (const std::string& s : t.strings()) {
    all.push_back(code_points(s));
    width = std::max(width, all.back().size());
  }
  std::vector<uint8_t> out(all.size() * width * 4);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].empty()) std::memcpy(out.data() + i * width * 4, all[i].data(), all[i].size() * 4);
  }
  return out;
}

}  // namespace

Result<Tensor> parse_npy(std::shared_ptr<const MappedFile> file, DType expected) {
  return decode(file->bytes(), file, expected).in(file->path());
}

Result<Tensor> parse_npy_bytes(std::span<const uint8_t> bytes, const std::shared_ptr<const void>& owner,
                               DType expected) {
  return decode(bytes, owner, expected);
}

Result<Tensor> read_npy(const std::string& path, DType expected) {
  SX_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  return parse_npy(std::move(file), expected);
}

Result<NpyParts> npy_parts(const Tensor& t) {
  if (!t.defined()) return error(Code::invalid_argument, "there is no tensor to write");
  NpyParts e;
  size_t width = 0;
  if (t.type() == DType::string) {
    e.made = string_items(t, width);
  } else if (one_byte_each(t.type()) && dtype_bits(t.type()) != 6) {
    e.made.resize(size_t(t.count()));
    unpack_small(static_cast<const uint8_t*>(t.data()), size_t(t.count()), dtype_bits(t.type()), false,
                 e.made.data());
  } else {
    e.payload = {static_cast<const uint8_t*>(t.data()), t.bytes()};
  }
  if (e.payload.empty()) e.payload = e.made;
  e.header = npy_header(t.type(), t.dims(), width);
  return e;
}

Result<std::string> npy_bytes(const Tensor& tensor) {
  SX_ASSIGN(NpyParts e, npy_parts(tensor));
  e.header.append(reinterpret_cast<const char*>(e.payload.data()), e.payload.size());
  return std::move(e.header);
}

Status write_npy(const std::string& path, const Tensor& tensor) {
  SX_ASSIGN(const NpyParts e, npy_parts(tensor));
  SX_ASSIGN(OutputFile file, OutputFile::create(path));
  SX_TRY(file.write(e.header));
  SX_TRY(file.write(e.payload));
  return file.commit();
}

}  // namespace sx::onnx
