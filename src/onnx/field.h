// SPDX-License-Identifier: Apache-2.0
// The kinds of fields that a message of the format has, as plain values: Text and Bytes borrow from the file
// or own what was assigned, Opt remembers whether it was written, Box holds a message in a message, Numbers
// keeps repeated numbers as they lie in the file until somebody asks for them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sx::onnx {

// Bytes in somebody else's memory (a mapped file that the Model keeps alive), or owned ones. 16 bytes in
// size; copying owned bytes copies them. An absent field differs from an empty one.
class Bytes {
 public:
  Bytes() = default;
  Bytes(std::string_view text) { own(text.data(), text.size()); }
  Bytes(const std::string& text) { own(text.data(), text.size()); }
  Bytes(const char* text) : Bytes(std::string_view(text)) {}
  static Bytes borrow(const void* data, size_t size);
  static Bytes copy_of(std::span<const uint8_t> bytes);
  Bytes(const Bytes& o) { assign(o); }
  Bytes(Bytes&& o) noexcept : data_(std::exchange(o.data_, nullptr)), size_(o.size_), owned_(o.owned_) {
    o.size_ = 0;
    o.owned_ = 0;
  }
  Bytes& operator=(const Bytes& o) {
    if (this != &o) Bytes(o).swap(*this);
    return *this;
  }
  Bytes& operator=(Bytes&& o) noexcept {
    Bytes(std::move(o)).swap(*this);
    return *this;
  }
  ~Bytes() {
    if (owned_) release();
  }

  bool present() const { return data_ != nullptr; }
  bool empty() const { return size_ == 0; }
  bool owned() const { return owned_; }
  size_t size() const { return size_; }
  const uint8_t* data() const { return data_; }
  std::span<const uint8_t> bytes() const { return {data_, size_}; }
  std::string_view view() const { return {reinterpret_cast<const char*>(data_), size_}; }
  std::string str() const { return std::string(view()); }
  operator std::string_view() const { return view(); }
  void clear() { *this = Bytes(); }  // absent

  friend bool operator==(const Bytes& a, std::string_view b) { return a.view() == b; }
  friend bool operator==(const Bytes& a, const std::string& b) { return a.view() == b; }
  friend bool operator==(const Bytes& a, const char* b) { return a.view() == b; }
  friend bool operator==(const Bytes& a, const Bytes& b) { return a.view() == b.view(); }

 private:
  void own(const void* data, size_t size);
  void assign(const Bytes& o);
  void release();
  void swap(Bytes& o) noexcept {
    std::swap(data_, o.data_);
    const uint64_t size = size_, owned = owned_;
    size_ = o.size_;
    owned_ = o.owned_;
    o.size_ = size & (UINT64_MAX >> 1);
    o.owned_ = owned & 1;
  }
  const uint8_t* data_ = nullptr;
  uint64_t size_ : 63 = 0;
  uint64_t owned_ : 1 = 0;
};
using Text = Bytes;

// A number that may be absent; reads as zero then.
template <class T>
struct Opt {
  T value{};
  bool present = false;
  Opt() = default;
  Opt(T v) : value(v), present(true) {}
  operator T() const { return value; }
  void clear() { *this = Opt(); }
};

// A message that may be absent. Copies deeply.
template <class M>
class Box {
 public:
  Box() = default;
  Box(M value) : held_(std::make_unique<M>(std::move(value))) {}
  Box(const Box& o) : held_(o.held_ ? std::make_unique<M>(*o.held_) : nullptr) {}
  Box(Box&&) noexcept = default;
  Box& operator=(const Box& o) {
    if (this != &o) *this = Box(o);
    return *this;
  }
  Box& operator=(Box&&) noexcept = default;
  ~Box() = default;

  bool present() const { return held_ != nullptr; }
  explicit operator bool() const { return present(); }
  M& operator*() { return *held_; }
  const M& operator*() const { return *held_; }
  M* operator->() { return held_.get(); }
  const M* operator->() const { return held_.get(); }
  const M* get() const { return held_.get(); }
  M* get() { return held_.get(); }
  M& make() {  // the message, created empty if it was absent
    if (!held_) held_ = std::make_unique<M>();
    return *held_;
  }
  void clear() { held_.reset(); }

 private:
  std::unique_ptr<M> held_;
};

// Repeated numbers. The reader leaves them where they are, as runs of records; assigning makes them owned.
class NumberRuns {
 public:
  enum class Form : uint8_t {
    none,
    packed,   // the payload of one length-delimited record
    records,  // adjacent records of one number each, their tags included
    native,   // owned, an array of the C++ type
  };
  struct Run {
    Bytes bytes;
    Form form = Form::none;
  };

  bool empty() const { return first_.form == Form::none; }
  bool has_bytes() const {  // a packed record may hold no number
    for (size_t i = 0; i < run_count(); ++i)
      if (!run(i).bytes.empty()) return true;
    return false;
  }
  bool edited() const { return first_.form == Form::native; }
  size_t run_count() const { return first_.form == Form::none ? 0 : 1 + (more_ ? more_->size() : 0); }
  const Run& run(size_t i) const { return i == 0 ? first_ : (*more_)[i - 1]; }
  // For the reader: one more record; `whole` includes the tag, `payload` is the number or the packed numbers.
  void add_record(std::span<const uint8_t> whole, std::span<const uint8_t> payload, bool packed);

 protected:
  void set_native(const void* data, size_t bytes);

 private:
  Run first_;
  Box<std::vector<Run>> more_;
};

template <class T>  // int64_t, int32_t, uint64_t (varints), float, double (fixed width)
class Numbers : public NumberRuns {
 public:
  Numbers() = default;
  Numbers(std::span<const T> values) { assign(values); }
  Numbers(std::initializer_list<T> values) { assign({values.begin(), values.size()}); }
  Numbers(const std::vector<T>& values) { assign(values); }
  void assign(std::span<const T> values) { set_native(values.data(), values.size() * sizeof(T)); }

  Status check() const;           // every run is well formed; nothing else here fails
  size_t size() const;            // counts; linear in the bytes for varints
  std::vector<T> values() const;  // up to the first malformed byte
  // Decodes into `to` and returns how many numbers there are in all, which may be more than fitted.
  size_t decode(std::span<T> to) const;
};

extern template class Numbers<int64_t>;
extern template class Numbers<int32_t>;
extern template class Numbers<uint64_t>;
extern template class Numbers<float>;
extern template class Numbers<double>;

// What every message has: the bytes it was read from, without its own tag and length. They guide the writer
// (field order, packed or not, unknown fields); a message without them is written in the order of its field
// numbers.
struct Message {
  std::span<const uint8_t> origin;
};

}  // namespace sx::onnx
