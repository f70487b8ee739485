// SPDX-License-Identifier: Apache-2.0
// The writer. A message that was read is walked along its original records: a record whose value is still the
// same keeps its bytes, a changed one gets new ones in its place, removed ones go, new fields come after the
// others. Two passes, the first of which counts, so that lengths are known before what they measure.
#include "onnx/write.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <unordered_map>

#include "onnx/known.h"
#include "onnx/schema.h"
#include "onnx/sink.h"
#include "onnx/wire.h"

namespace sx::onnx {
namespace {

class StringSink final : public Sink {
 public:
  explicit StringSink(std::string& to) : to_(to) {}
  void put(const uint8_t* data, size_t size) override {
    to_.append(reinterpret_cast<const char*>(data), size);
  }

 private:
  std::string& to_;
};

// True as long as what is put is what was there.
class CompareSink final : public Sink {
 public:
  explicit CompareSink(std::span<const uint8_t> with) : with_(with) {}
  void put(const uint8_t* data, size_t size) override {
    same_ = same_ && size <= with_.size() && (size == 0 || std::memcmp(data, with_.data(), size) == 0);
    if (same_) with_ = with_.subspan(size);
  }
  bool same() const { return same_ && with_.empty(); }

 private:
  std::span<const uint8_t> with_;
  bool same_ = true;
};

constexpr uint32_t kFields = 32;  // no message of the schema has a field number this large

template <class T>
bool same_scalar(const Record& record, T value) {
  T was;
  if constexpr (std::is_floating_point_v<T>) {
    std::memcpy(&was, record.payload, sizeof was);
  } else {
    was = T(record.value);
  }
  return std::memcmp(&was, &value, sizeof was) == 0;
}

bool same_bytes(std::span<const uint8_t> a, std::span<const uint8_t> b) {
  return a.size() == b.size() &&
         (a.data() == b.data() || a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

// The original bytes of one message, by field number.
struct Origin {
  uint32_t count[kFields] = {};       // records of this field
  const uint8_t* last[kFields] = {};  // the last record of a key (see field_key): the one that counts
};

class Emitter {
 public:
  using Memo = std::unordered_map<const void*, bool>;
  explicit Emitter(const WriteOptions& options, Memo* memo = nullptr)
      : options_(options), memo_(memo ? memo : &own_memo_) {}

  template <class M>
  uint64_t measure(const M& m) {
    sizes_.clear();
    sink_ = nullptr;
    total_ = 0;
    message(m);
    return total_;
  }
  // After measure() of the same message.
  template <class M>
  void write(const M& m, Sink& sink) {
    next_ = 0;
    sink_ = &sink;
    message(m);
  }

 private:
  template <class M>
  friend struct RecordWriter;
  friend struct RestWriter;

  void put(const void* data, size_t size) {
    total_ += size;
    if (sink_ && size > 0) sink_->put(static_cast<const uint8_t*>(data), size);
  }
  void put(std::span<const uint8_t> bytes) { put(bytes.data(), bytes.size()); }
  void put_varint(uint64_t value, int width = 0) {
    uint8_t buffer[10];
    width = std::max(width, varint_size(value));
    write_varint(buffer, value, width);
    put(buffer, size_t(width));
  }
  void put_tag(uint32_t number, WireType type) { put_varint(uint64_t(number) << 3 | uint64_t(type)); }
  template <class T>
  void put_scalar(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      put(&value, sizeof value);
    } else {
      put_varint(uint64_t(value));  // a negative int32 is sign-extended to 64 bits, as the standard says
    }
  }
  // Tag and length of a record that takes the place of `like`, or of a new one if that is null.
  void put_header(uint32_t number, uint64_t length, const Record* like) {
    if (!like) {
      put_tag(number, WireType::length);
      put_varint(length);
      return;
    }
    const uint8_t* p = like->begin;
    uint64_t tag = 0;
    read_varint(p, like->end, tag);
    put(like->begin, size_t(p - like->begin));
    const auto was = uint64_t(like->end - like->payload);
    const int width = int(like->payload - p);
    put_varint(length, length == was || width > varint_size(was) ? width : 0);
  }
  void put_text(uint32_t number, const Bytes& f, const Record* like) {
    if (like && same_bytes(f.bytes(), like->bytes())) return put(like->whole());
    put_header(number, f.size(), like);
    put(f.bytes());
  }
  template <class T>
  void put_numbers(uint32_t number, const Numbers<T>& f, bool packed) {
    // In canonical form no varint is longer than it must be; numbers that are cut off stay as they are.
    const bool as_it_is = std::is_floating_point_v<T> || !options_.canonical || !f.check().ok();
    if (packed && as_it_is && f.run_count() == 1 && f.run(0).form == NumberRuns::Form::packed) {
      put_header(number, f.run(0).bytes.size(), nullptr);
      return put(f.run(0).bytes.bytes());
    }
    const std::vector<T> values = f.values();
    if (packed) {
      uint64_t length = values.size() * sizeof(T);
      if constexpr (!std::is_floating_point_v<T>) {
        length = 0;
        for (T v : values) length += uint64_t(varint_size(uint64_t(v)));
      }
      put_header(number, length, nullptr);
    }
    for (T v : values) {
      if (!packed) put_tag(number, wire_type_of<T>());
      put_scalar(v);
    }
  }
  template <class M>
  void put_message(uint32_t number, const M& m, const Record* like) {
    if (sink_) {
      put_header(number, sizes_[next_++], like);
      return message(m);
    }
    const size_t at = sizes_.size();
    sizes_.push_back(0);
    const uint64_t before = total_;
    message(m);
    sizes_[at] = total_ - before;
    put_header(number, sizes_[at], like);
  }
  template <class M>
  void message(const M& m);
  template <class M>
  Origin scan(const M& m) const;

  // The message would be written with the bytes it was read from. Asked only for messages that were written
  // in parts or replaced by a later one, and remembered, so that nesting costs no more than its depth.
  template <class M>
  bool unchanged(const M& m) const {
    if (auto it = memo_->find(&m); it != memo_->end()) return it->second;
    Emitter other(options_, memo_);
    CompareSink compare(m.origin);
    const bool same_size = other.measure(m) == m.origin.size();
    if (same_size) other.write(m, compare);
    return memo_->emplace(&m, same_size && compare.same()).first->second;
  }

  const WriteOptions& options_;
  Memo own_memo_;
  Memo* memo_;
  Sink* sink_ = nullptr;
  uint64_t total_ = 0;
  std::vector<uint64_t> sizes_;  // of the messages in messages, in the order they are met
  size_t next_ = 0;
};

// The payloads of the records of `number` in `bytes`, joined, are `whole`. Another member of the oneof starts
// anew.
template <class M>
bool parts_are(std::span<const uint8_t> bytes, uint32_t number, std::span<const uint8_t> whole) {
  const uint8_t* p = bytes.data();
  const uint8_t* const end = p + bytes.size();
  size_t done = 0;
  bool same = true;
  Record r;
  while (p < end && !read_record(p, end, r)) {
    if (r.type != WireType::length || field_key<M>(r.number) != field_key<M>(number)) continue;
    const size_t size = r.bytes().size();
    if (r.number != number) {
      done = 0;
      same = true;
    } else if (same && size <= whole.size() - done && same_bytes(r.bytes(), whole.subspan(done, size))) {
      done += size;
    } else {
      same = false;
    }
  }
  return same && done == whole.size();
}

// What becomes of one original record; called for the field that has its number.
template <class M>
struct RecordWriter {
  Emitter& e;
  const M& m;
  const Record& record;
  const Origin& origin;
  uint32_t* used;  // for each field: its records so far
  bool only_ask = false;
  bool kept = false;  // the answer, if only asked: the value is still the one of this record

  template <class T>
  bool operator()(uint32_t n, const char*, const Opt<T>& f) {
    if (n != record.number) return false;
    kept = f.present && same_scalar<T>(record, f.value);
    if (only_ask || !counts() || !f.present) return true;
    if (kept) return keep();
    e.put_tag(n, record.type);
    e.put_scalar(f.value);
    return true;
  }
  bool operator()(uint32_t n, const char*, const Bytes& f) {
    if (n != record.number) return false;
    kept = f.present() && same_bytes(f.bytes(), record.bytes());
    if (!only_ask && counts() && f.present()) e.put_text(n, f, &record);
    return true;
  }
  template <class C>
  bool operator()(uint32_t n, const char*, const Box<C>& f) {
    if (n != record.number) return false;
    const bool whole = f && f->origin.data() == record.payload && f->origin.size() == record.bytes().size();
    const bool in_parts = f && !whole && parts_are<M>(m.origin, n, f->origin) && e.unchanged(*f);
    if (only_ask) {
      kept = in_parts || (whole && e.unchanged(*f));
      return true;
    }
    if (!counts() || !f) return true;
    if (in_parts) return keep();
    e.put_message(n, *f, &record);
    return true;
  }
  bool operator()(uint32_t n, const char*, const std::vector<Bytes>& f) {
    if (n != record.number) return false;
    const size_t slot = used[n]++;
    if (slot < f.size()) e.put_text(n, f[slot], &record);
    if (used[n] == origin.count[n]) {
      for (size_t i = slot + 1; i < f.size(); ++i) e.put_text(n, f[i], nullptr);
    }
    return true;
  }
  template <class C>
  bool operator()(uint32_t n, const char*, const std::vector<C>& f) {
    if (n != record.number) return false;
    const size_t slot = used[n]++;
    if (slot < f.size()) e.put_message(n, f[slot], &record);
    if (used[n] == origin.count[n]) {
      for (size_t i = slot + 1; i < f.size(); ++i) e.put_message(n, f[i], nullptr);
    }
    return true;
  }
  template <class T, class... Rest>
  bool operator()(uint32_t n, const char*, const Numbers<T>& f, Rest...) {
    if (n != record.number) return false;
    const bool first = used[n]++ == 0;
    if (f.empty()) return true;
    if (!f.edited() && from_here(f.run(0).bytes)) return keep();
    if (first) e.put_numbers(n, f, record.type == WireType::length);
    return true;
  }

 private:
  bool keep() {
    e.put(record.whole());
    return true;
  }
  bool from_here(const Bytes& run) const {
    return run.data() >= m.origin.data() && run.data() <= m.origin.data() + m.origin.size();
  }
  // Only the last record of a field or oneof counts. Earlier ones are kept as long as that one is.
  bool counts() {
    const uint8_t* last = origin.last[field_key<M>(record.number)];
    if (last == record.begin) return true;
    const uint8_t* p = last;
    Record final;
    (void)read_record(p, m.origin.data() + m.origin.size(), final);
    RecordWriter ask{e, m, final, origin, used, true};
    Schema<M>::fields(ask, m);
    if (ask.kept) keep();
    return false;
  }
};

// Fields that had no record: new ones. In the order of their numbers.
struct RestWriter {
  Emitter& e;
  const Origin& origin;

  template <class T>
  bool operator()(uint32_t n, const char*, const Opt<T>& f) {
    if (origin.count[n] > 0 || !f.present) return false;
    e.put_tag(n, wire_type_of<T>());
    e.put_scalar(f.value);
    return false;
  }
  bool operator()(uint32_t n, const char*, const Bytes& f) {
    if (origin.count[n] == 0 && f.present()) e.put_text(n, f, nullptr);
    return false;
  }
  template <class C>
  bool operator()(uint32_t n, const char*, const Box<C>& f) {
    if (origin.count[n] == 0 && f) e.put_message(n, *f, nullptr);
    return false;
  }
  bool operator()(uint32_t n, const char*, const std::vector<Bytes>& f) {
    if (origin.count[n] > 0) return false;
    for (const Bytes& b : f) e.put_text(n, b, nullptr);
    return false;
  }
  template <class C>
  bool operator()(uint32_t n, const char*, const std::vector<C>& f) {
    if (origin.count[n] > 0) return false;
    for (const C& c : f) e.put_message(n, c, nullptr);
    return false;
  }
  template <class T>
  bool operator()(uint32_t n, const char*, const Numbers<T>& f) {
    if (origin.count[n] == 0 && f.has_bytes()) e.put_numbers(n, f, false);
    return false;
  }
  template <class T>
  bool operator()(uint32_t n, const char*, const Numbers<T>& f, PackedTag) {
    if (origin.count[n] == 0 && f.has_bytes()) e.put_numbers(n, f, true);
    return false;
  }
};

template <class M>
Origin Emitter::scan(const M& m) const {
  Origin origin;
  const uint8_t* p = m.origin.data();
  const uint8_t* const end = p + m.origin.size();
  Record r;
  while (p < end && !read_record(p, end, r)) {
    if (!is_known(r, m)) continue;
    ++origin.count[r.number];
    origin.last[field_key<M>(r.number)] = r.begin;
  }
  return origin;
}

template <class M>
void Emitter::message(const M& m) {
  if (options_.canonical) {
    Schema<M>::fields(RestWriter{*this, Origin()}, m);
    return;
  }
  const Origin origin = scan(m);
  uint32_t used[kFields] = {};
  const uint8_t* p = m.origin.data();
  const uint8_t* const end = p + m.origin.size();
  Record r;
  while (p < end && !read_record(p, end, r)) {
    if (is_known(r, m)) {
      Schema<M>::fields(RecordWriter<M>{*this, m, r, origin, used}, m);
    } else {
      put(r.whole());
    }
  }
  Schema<M>::fields(RestWriter{*this, origin}, m);
}

}  // namespace

template <class M>
uint64_t message_size(const M& m, const WriteOptions& options) {
  return Emitter(options).measure(m);
}

template <class M>
std::string message_bytes(const M& m, const WriteOptions& options) {
  Emitter emitter(options);
  std::string bytes;
  bytes.reserve(emitter.measure(m));
  StringSink sink(bytes);
  emitter.write(m, sink);
  return bytes;
}

#define SX_WRITE(M)                                                 \
  template uint64_t message_size<M>(const M&, const WriteOptions&); \
  template std::string message_bytes<M>(const M&, const WriteOptions&);
SX_EACH_MESSAGE(SX_WRITE)
#undef SX_WRITE

void emit_model(const ModelProto& model, const WriteOptions& options, Sink& sink) {
  Emitter emitter(options);
  emitter.measure(model);
  emitter.write(model, sink);
}

}  // namespace sx::onnx
