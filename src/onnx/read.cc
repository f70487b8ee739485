// SPDX-License-Identifier: Apache-2.0
// The reader: one pass over the records of each message, guided by Schema<M>.
#include "onnx/read.h"

#include <cstring>
#include <new>

#include "base/format.h"
#include "onnx/external_data.h"
#include "onnx/known.h"
#include "onnx/schema.h"
#include "onnx/sniff.h"
#include "onnx/wire.h"

namespace sx::onnx {
namespace {

struct Step {
  const char* name;
  int64_t index;  // -1: not repeated
};

// What one read shares between its messages.
struct Reading {
  std::span<const uint8_t> file;
  const char* root;
  uint64_t structure_left;
  uint64_t merge_left;
  std::vector<Step> path;
  std::vector<std::shared_ptr<const void>>* keep = nullptr;

  Status fail(const uint8_t* at, const std::string& what) const {
    std::string where = root;
    for (const Step& s : path) {
      where += format(".{}", s.name);
      if (s.index >= 0) where += format("[{}]", s.index);
    }
    const bool inside = at >= file.data() && at <= file.data() + file.size();
    if (inside) return error(Code::invalid_model, "{} at byte {}: {}", where, at - file.data(), what);
    return error(Code::invalid_model, "{} in a message written in parts: {}", where, what);
  }

  Status charge(uint64_t bytes, const uint8_t* at) {
    if (bytes > structure_left) {
      return fail(at, "the file holds more messages for its size than any real model; reading stopped");
    }
    structure_left -= bytes;
    return {};
  }
};

template <class M>
Status read_fields(Reading& reading, std::span<const uint8_t> bytes, M& m, int depth);

// Setting a member of a oneof clears the others.
template <class M>
struct OneofClearer {
  uint32_t number;
  template <class F, class... Rest>
  bool operator()(uint32_t n, const char*, F& field, Rest...) {
    if (n != number && field_key<M>(n) == field_key<M>(number)) {
      if constexpr (requires { field.clear(); }) field.clear();
    }
    return false;
  }
};

// Takes one record into the field that has its number. A wire type that the field cannot have makes the
// record an unknown one, as the standard says: the original bytes keep it.
struct FieldReader {
  Reading& reading;
  const Record& record;
  const uint8_t* end;  // of the message
  int depth;
  Status status;

  bool operator()(uint32_t number, const char*, Opt<int64_t>& f) { return varint(number, f); }
  bool operator()(uint32_t number, const char*, Opt<int32_t>& f) { return varint(number, f); }
  bool operator()(uint32_t number, const char*, Opt<float>& f) {
    if (number != record.number) return false;
    if (record.type == WireType::fixed32) {
      float v = 0;
      std::memcpy(&v, record.payload, sizeof v);
      f = v;
    }
    return true;
  }
  bool operator()(uint32_t number, const char*, Bytes& f) {
    if (number != record.number) return false;
    if (record.type == WireType::length) f = borrowed();
    return true;
  }
  bool operator()(uint32_t number, const char*, std::vector<Bytes>& f) {
    if (number != record.number) return false;
    if (record.type != WireType::length) return true;
    status = reading.charge(2 * sizeof(Bytes), record.begin);  // a vector grows by doubling
    if (f.empty()) f.reserve(1 + equal_tags_behind());
    f.push_back(borrowed());
    return true;
  }
  template <class T>
  bool operator()(uint32_t number, const char* name, Numbers<T>& f) {
    if (number != record.number) return false;
    if (!add(f) || record.type != WireType::length) return true;
    Numbers<T> one;
    one.add_record(record.whole(), record.bytes(), true);
    if (Status s = one.check(); !s.ok())
      status = reading.fail(record.begin, format("{}: {}", name, s.message()));
    return true;
  }
  template <class T>
  bool operator()(uint32_t number, const char*, Numbers<T>& f, PackedTag) {
    if (number != record.number) return false;
    add(f);
    return true;
  }
  template <class M>
  bool operator()(uint32_t number, const char* name, std::vector<M>& f) {
    if (number != record.number) return false;
    if (record.type != WireType::length) return true;
    status = reading.charge(2 * sizeof(M), record.begin);
    if (!status.ok()) return true;
    reading.path.push_back({name, int64_t(f.size())});
    status = read_fields(reading, record.bytes(), f.emplace_back(), depth + 1);
    reading.path.pop_back();
    return true;
  }
  template <class M>
  bool operator()(uint32_t number, const char* name, Box<M>& f) {
    if (number != record.number) return false;
    if (record.type != WireType::length) return true;
    status = reading.charge(sizeof(M), record.begin);
    if (!status.ok()) return true;
    reading.path.push_back({name, -1});
    std::span<const uint8_t> bytes = record.bytes();
    if (f) status = merge(f->origin, bytes);
    f = M();
    if (status.ok()) status = read_fields(reading, bytes, *f, depth + 1);
    reading.path.pop_back();
    return true;
  }

 private:
  template <class T>
  bool varint(uint32_t number, Opt<T>& f) {
    if (number != record.number) return false;
    if (record.type == WireType::varint) f = T(record.value);
    return true;
  }
  // Length-delimited records with the same tag of one byte that follow at once: short ones, and no more than
  // may be read.
  size_t equal_tags_behind() const {
    size_t n = 0, most = size_t(reading.structure_left / (2 * sizeof(Bytes)));
    const uint8_t* p = record.end;
    while (n < most && end - p >= 2 && p[0] == *record.begin && p[0] < 0x80 && p[1] < 0x80 &&
           end - p >= 2 + p[1]) {
      p += 2 + p[1];
      ++n;
    }
    return n;
  }
  Bytes borrowed() const { return Bytes::borrow(record.payload, size_t(record.end - record.payload)); }
  template <class T>
  bool add(Numbers<T>& f) {
    constexpr WireType own = std::is_same_v<T, float>    ? WireType::fixed32
                             : std::is_same_v<T, double> ? WireType::fixed64
                                                         : WireType::varint;
    if (record.type != own && record.type != WireType::length) return false;
    f.add_record(record.whole(), record.bytes(), record.type == WireType::length);
    return true;
  }
  // A message that occurs twice is one message written in two parts: their bytes one after the other mean the
  // same.
  Status merge(std::span<const uint8_t> first, std::span<const uint8_t>& bytes) {
    const uint64_t size = uint64_t(first.size()) + bytes.size();
    if (size > reading.merge_left || !reading.keep) {
      return reading.fail(record.begin, "the message occurs more than once, in too many or too large parts");
    }
    reading.merge_left -= size;
    auto joined = std::make_shared<std::vector<uint8_t>>(first.begin(), first.end());
    joined->insert(joined->end(), bytes.begin(), bytes.end());
    bytes = *joined;
    reading.keep->push_back(std::move(joined));
    return {};
  }
};

// Repeated numbers are mostly written as records of one number each, all with the same tag of one byte: they
// join the first. Of a field that is not repeated the last one counts, which is the one `record` then has.
void take_equal_tags(const uint8_t*& p, const uint8_t* end, Record& record) {
  if (record.payload - record.begin != 1) return;
  const uint8_t tag = *record.begin;
  while (p < end && *p == tag) {
    const uint8_t* next = p + 1;
    if (record.type == WireType::fixed32) {
      if (end - next < 4) return;  // the next read says what is wrong
      next += 4;
    } else if (read_varint(next, end, record.value) != WireProblem::Kind::none) {
      return;
    }
    record.payload = p + 1;
    record.end = p = next;
  }
}

template <class M>
Status read_fields(Reading& reading, std::span<const uint8_t> bytes, M& m, int depth) {
  if (depth > kMaxDepth) {
    return reading.fail(bytes.data(), format("messages are nested deeper than {} levels", kMaxDepth));
  }
  m.origin = bytes;
  const uint8_t* p = bytes.data();
  const uint8_t* const end = p + bytes.size();
  Record record;
  while (p < end) {
    const uint8_t* const begin = p;
    if (WireProblem problem = read_record(p, end, record)) return reading.fail(begin, describe(problem));
    if (record.type == WireType::varint || record.type == WireType::fixed32) take_equal_tags(p, end, record);
    FieldReader reader{reading, record, end, depth, {}};
    Schema<M>::fields(reader, m);
    if (!reader.status.ok()) return std::move(reader.status);
    if constexpr (std::same_as<M, DimensionProto> || std::same_as<M, SimpleShardedDimProto> ||
                  std::same_as<M, TypeProto>) {
      if (is_known(record, m)) Schema<M>::fields(OneofClearer<M>{record.number}, m);
    }
  }
  return {};
}

Reading reading_of(std::span<const uint8_t> bytes, const char* root, uint64_t structure_bytes) {
  return {bytes, root, structure_bytes + 4 * uint64_t(bytes.size()), bytes.size() + (1 << 16), {}, nullptr};
}

Status out_of_memory(std::span<const uint8_t> bytes) {
  return error(Code::out_of_memory, "there is not enough memory for the messages in {} bytes", bytes.size());
}

Status read_root(Reading& reading, std::span<const uint8_t> bytes, ModelProto& m) {
  try {
    return read_fields<ModelProto>(reading, bytes, m, 1);
  } catch (const std::bad_alloc&) {
    return out_of_memory(bytes);
  }
}

}  // namespace

template <class M>
Result<M> read_message(std::span<const uint8_t> bytes) {
  Reading reading = reading_of(bytes, Schema<M>::kName, ReadOptions().structure_bytes);
  try {
    M m;
    SX_TRY(read_fields(reading, bytes, m, 1));
    return m;
  } catch (const std::bad_alloc&) {
    return out_of_memory(bytes);
  }
}
#define SX_READ(M) template Result<M> read_message<M>(std::span<const uint8_t>);
SX_EACH_MESSAGE(SX_READ)
#undef SX_READ

Result<std::shared_ptr<Model>> read_model(std::shared_ptr<const MappedFile> file, const std::string& folder,
                                          const ReadOptions& options) {
  const std::span<const uint8_t> bytes = file->bytes();
  if (Status s = refuse_other_format(bytes); !s.ok()) return std::move(s).in(file->path());
  auto model = std::make_shared<Model>();
  Reading reading = reading_of(bytes, "model", options.structure_bytes);
  reading.keep = &model->keep;
  if (Status s = read_root(reading, bytes, *model); !s.ok()) return std::move(s).in(file->path());
  if (!model->graph && !model->ir_version.present && model->functions.empty()) {
    return error(Code::invalid_model, "this is not an ONNX model: it has neither an ir_version nor a graph")
        .in(file->path());
  }
  model->file = std::move(file);
  if (!folder.empty()) model->external = std::make_shared<ExternalFiles>(folder, options.load);
  return model;
}

Result<std::shared_ptr<Model>> read_model(const std::string& path, const ReadOptions& options) {
  SX_ASSIGN(std::shared_ptr<const MappedFile> file, MappedFile::open(path, options.load));
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  return read_model(std::move(file), folder, options);
}

}  // namespace sx::onnx
