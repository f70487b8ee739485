// SPDX-License-Identifier: Apache-2.0
// Writes .npz: members stored, not compressed, their data aligned so that it can be used from the mapped
// file.
#include <libdeflate.h>

#include <algorithm>

#include "base/format.h"
#include "base/output_file.h"
#include "onnx/display.h"
#include "onnx/npy.h"
#include "onnx/npy_header.h"

namespace sx::onnx {
namespace {

class Record {  // little-endian fields, one after the other
 public:
  Record& u16(uint64_t v) { return put(v, 2); }
  Record& u32(uint64_t v) { return put(v, 4); }
  Record& u64(uint64_t v) { return put(v, 8); }
  Record& text(std::string_view t) {
    bytes_ += t;
    return *this;
  }
  Record& zeros(size_t n) {
    bytes_.append(n, '\0');
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  Record& put(uint64_t v, int n) {
    for (int i = 0; i < n; ++i) bytes_ += char(v >> (8 * i) & 0xff);
    return *this;
  }
  std::string bytes_;
};

uint64_t cap32(uint64_t v) { return std::min<uint64_t>(v, UINT32_MAX); }
uint64_t cap16(uint64_t v) { return std::min<uint64_t>(v, UINT16_MAX); }

struct Member {
  std::string name;
  uint64_t size, at;
  uint32_t crc;
  bool large() const { return size >= UINT32_MAX; }
  bool far() const { return at >= UINT32_MAX; }

  // The part that the local header and the directory have in common.
  void common(Record& r, bool zip64) const {
    constexpr uint32_t kDate = 0x00210000;  // 1 January 1980: the same tensors give the same file
    r.u16(zip64 ? 45 : 20).u16(0x800 /* names are UTF-8 */).u16(0 /* stored */).u32(kDate).u32(crc);
    r.u32(cap32(size)).u32(cap32(size)).u16(name.size());
  }

  std::string local_header() const {
    const uint64_t before = at + 30 + name.size() + (large() ? 20 : 0) + 4;
    const size_t padding = size_t((64 - before % 64) % 64);
    Record r;
    r.u32(0x04034b50);
    common(r, large());
    r.u16((large() ? 20 : 0) + 4 + padding).text(name);
    if (large()) r.u16(1).u16(16).u64(size).u64(size);
    r.u16(0x5853).u16(padding).zeros(padding);  // an extra field without meaning that aligns the data
    return r.bytes();
  }

  void directory_entry(Record& r) const {
    const size_t extra = (large() ? 16 : 0) + (far() ? 8 : 0);
    r.u32(0x02014b50).u16(extra ? 45 : 20);
    common(r, extra > 0);
    r.u16(extra ? extra + 4 : 0).zeros(10).u32(cap32(at)).text(name);
    if (extra) r.u16(1).u16(extra);
    if (large()) r.u64(size).u64(size);
    if (far()) r.u64(at);
  }
};

std::string directory_of(const std::vector<Member>& members, uint64_t at) {
  Record r;
  for (const Member& m : members) m.directory_entry(r);
  const uint64_t size = r.bytes().size(), count = members.size();
  if (at >= UINT32_MAX || size >= UINT32_MAX || count >= UINT16_MAX) {
    r.u32(0x06064b50).u64(44).u16(45).u16(45).u64(0).u64(count).u64(count).u64(size).u64(at);
    r.u32(0x07064b50).u32(0).u64(at + size).u32(1);
  }
  r.u32(0x06054b50).u32(0).u16(cap16(count)).u16(cap16(count)).u32(cap32(size)).u32(cap32(at)).u16(0);
  return r.bytes();
}

}  // namespace

Status write_npz(const std::string& path, const std::vector<NamedTensor>& tensors) {
  SX_ASSIGN(OutputFile file, OutputFile::create(path));
  std::vector<Member> members;
  for (const NamedTensor& t : tensors) {
    Result<NpyParts> parts = npy_parts(t.tensor);
    if (!parts.ok()) return std::move(parts).in(quoted(t.name)).status();
    Member m{t.name + ".npy", parts->header.size() + parts->payload.size(), file.size(), 0};
    if (m.name.size() > UINT16_MAX) {
      return error(Code::invalid_argument, "the name {} is too long for a zip archive", quoted(t.name));
    }
    m.crc = libdeflate_crc32(0, parts->header.data(), parts->header.size());
    if (!parts->payload.empty())
      m.crc = libdeflate_crc32(m.crc, parts->payload.data(), parts->payload.size());
    SX_TRY(file.write(m.local_header()));
    SX_TRY(file.write(parts->header));
    SX_TRY(file.write(parts->payload));
    members.push_back(std::move(m));
  }
  SX_TRY(file.write(directory_of(members, file.size())));
  return file.commit();
}

}  // namespace sx::onnx
