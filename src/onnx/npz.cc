// SPDX-License-Identifier: Apache-2.0
// .npz: a zip archive of .npy files. Sizes come from the central directory and are checked against the file.
#include <libdeflate.h>

#include <cstring>

#include "base/format.h"
#include "onnx/display.h"
#include "onnx/npy.h"
#include "onnx/npy_header.h"

namespace sx::onnx {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kLocator = 0x07064b50;

template <class T>
T load(std::span<const uint8_t> b, size_t at) {  // callers have checked that it is inside
  T v;
  std::memcpy(&v, b.data() + at, sizeof v);
  return v;
}

struct Directory {
  uint64_t offset = 0, size = 0, count = 0;
};

Result<Directory> find_directory(std::span<const uint8_t> b) {
  constexpr size_t kTail = 22;
  if (b.size() < kTail)
    return error(Code::invalid_argument, "this is not a zip archive: it has {} bytes", b.size());
  const size_t lowest = b.size() - std::min<size_t>(b.size(), kTail + 65535);
  size_t at = b.size() - kTail;
  while (load<uint32_t>(b, at) != kEnd) {
    if (at == lowest)
      return error(Code::invalid_argument, "this is not a zip archive, or its end is cut off");
    --at;
  }
  Directory d{load<uint32_t>(b, at + 16), load<uint32_t>(b, at + 12), load<uint16_t>(b, at + 10)};
  const bool large = d.offset == UINT32_MAX || d.size == UINT32_MAX || d.count == UINT16_MAX;
  if (large && at >= 20 && load<uint32_t>(b, at - 20) == kLocator) {
    const auto end64 = load<uint64_t>(b, at - 20 + 8);
    if (b.size() < 56 || end64 > b.size() - 56 || load<uint32_t>(b, end64) != kEnd64) {
      return error(Code::invalid_argument, "the zip64 directory is damaged");
    }
    d = {load<uint64_t>(b, end64 + 48), load<uint64_t>(b, end64 + 40), load<uint64_t>(b, end64 + 32)};
  }
  if (d.offset > b.size() || d.size > b.size() - d.offset) {
    return error(Code::invalid_argument,
                 "the zip directory says it lies at {} with {} bytes, the file has {}", d.offset, d.size,
                 b.size());
  }
  if (d.count > d.size / 46) {
    return error(Code::invalid_argument, "the zip directory says it has {} members in {} bytes", d.count,
                 d.size);
  }
  return d;
}

// Fields that are all ones in the fixed part follow in the zip64 extra field, in this order.
Status read_zip64(std::span<const uint8_t> extra, uint64_t& size, uint64_t& packed, uint64_t& header) {
  size_t at = 0;
  while (extra.size() - at >= 4) {
    const auto id = load<uint16_t>(extra, at);
    const size_t length = load<uint16_t>(extra, at + 2);
    if (length > extra.size() - at - 4) break;
    if (id == 1) {
      size_t from = at + 4;
      const size_t end = from + length;
      for (uint64_t* field : {&size, &packed, &header}) {
        if (*field != UINT32_MAX) continue;
        if (end - from < 8) return error(Code::invalid_argument, "a zip64 field is cut off");
        *field = load<uint64_t>(extra, from);
        from += 8;
      }
      return {};
    }
    at += 4 + length;
  }
  return {};
}

}  // namespace

Result<NpzFile> NpzFile::parse(std::shared_ptr<const MappedFile> file) {
  const auto read = [&]() -> Result<NpzFile> {
    const std::span<const uint8_t> b = file->bytes();
    SX_ASSIGN(const Directory d, find_directory(b));
    NpzFile npz;
    npz.file_ = file;
    size_t at = d.offset;
    const size_t end = d.offset + d.size;
    for (uint64_t i = 0; i < d.count; ++i) {
      if (end - at < 46 || load<uint32_t>(b, at) != kCentral) {
        return error(Code::invalid_argument, "member {} of the zip directory is damaged", i);
      }
      const size_t name = load<uint16_t>(b, at + 28), extra = load<uint16_t>(b, at + 30),
                   comment = load<uint16_t>(b, at + 32);
      if (name + extra + comment > end - at - 46) {
        return error(Code::invalid_argument, "member {} of the zip directory is cut off", i);
      }
      Member m;
      m.method = load<uint16_t>(b, at + 10);
      m.crc = load<uint32_t>(b, at + 16);
      m.packed = load<uint32_t>(b, at + 20);
      m.size = load<uint32_t>(b, at + 24);
      m.header = load<uint32_t>(b, at + 42);
      m.name.assign(reinterpret_cast<const char*>(b.data() + at + 46), name);
      SX_TRY(read_zip64(b.subspan(at + 46 + name, extra), m.size, m.packed, m.header));
      if (load<uint16_t>(b, at + 8) & 1)
        return error(Code::unsupported, "member {} is encrypted", quoted(m.name));
      at += 46 + name + extra + comment;
      if (m.name.ends_with('/')) continue;
      if (m.name.ends_with(".npy")) m.name.resize(m.name.size() - 4);
      npz.members_.push_back(std::move(m));
    }
    return npz;
  };
  return read().in(file->path());
}

Result<NpzFile> NpzFile::open(const std::string& path, LoadMode mode) {
  SX_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path, mode));
  return parse(std::move(file));
}

Result<Tensor> NpzFile::read(size_t i, DType expected) const {
  const Member& m = members_[i];
  const std::span<const uint8_t> b = file_->bytes();
  const auto inside = [&]() -> Result<Tensor> {
    if (m.header > b.size() || b.size() - m.header < 30 || load<uint32_t>(b, m.header) != kLocal) {
      return error(Code::invalid_argument, "the zip directory points to byte {}, where no member starts",
                   m.header);
    }
    const uint64_t data = m.header + 30 + load<uint16_t>(b, m.header + 26) + load<uint16_t>(b, m.header + 28);
    if (data > b.size() || m.packed > b.size() - data) {
      return error(Code::invalid_argument, "the member needs {} bytes at {}, the file has {}", m.packed, data,
                   b.size());
    }
    const std::span<const uint8_t> packed = b.subspan(data, m.packed);
    const auto check = [&](std::span<const uint8_t> bytes) -> Status {
      const uint32_t crc = libdeflate_crc32(0, bytes.data(), bytes.size());
      if (crc == m.crc) return {};
      return error(Code::invalid_argument, "checksum {:08x}, expected {:08x}: the member is damaged", crc,
                   m.crc);
    };
    if (m.method == 0) {
      if (m.size != m.packed)
        return error(Code::invalid_argument, "a stored member has two sizes: {} and {}", m.packed, m.size);
      SX_TRY(check(packed));
      return parse_npy_bytes(packed, file_, expected);
    }
    if (m.method != 8)
      return error(Code::unsupported, "compression method {}, expected stored or deflate", m.method);
    // Deflate cannot do better than this; a larger claim is a bomb or damage.
    if (m.size / 1032 > m.packed + 1) {
      return error(Code::invalid_argument, "{} bytes cannot unpack to {}", m.packed, m.size);
    }
    SX_ASSIGN(std::shared_ptr<Buffer> buffer, Buffer::allocate(m.size));
    libdeflate_decompressor* inflater = libdeflate_alloc_decompressor();
    if (!inflater) return error(Code::out_of_memory, "cannot allocate a decompressor");
    size_t got = 0;
    const auto result = libdeflate_deflate_decompress(inflater, packed.data(), packed.size(),
                                                      buffer->mutable_data(), m.size, &got);
    libdeflate_free_decompressor(inflater);
    if (result != LIBDEFLATE_SUCCESS || got != m.size) {
      return error(Code::invalid_argument, "the compressed data is damaged: {} of {} bytes", got, m.size);
    }
    const std::span<const uint8_t> bytes(static_cast<const uint8_t*>(buffer->data()), m.size);
    SX_TRY(check(bytes));
    return parse_npy_bytes(bytes, buffer, expected);
  };
  return inside().in(format("member {}", quoted(m.name))).in(file_->path());
}

Result<std::vector<NamedTensor>> read_npz(const std::string& path) {
  SX_ASSIGN(const NpzFile npz, NpzFile::open(path));
  std::vector<NamedTensor> tensors;
  for (size_t i = 0; i < npz.size(); ++i) {
    SX_ASSIGN(Tensor t, npz.read(i));
    tensors.push_back({npz.name(i), std::move(t)});
  }
  return tensors;
}

}  // namespace sx::onnx
