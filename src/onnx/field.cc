// SPDX-License-Identifier: Apache-2.0
#include "onnx/field.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/format.h"
#include "onnx/wire.h"

namespace sx::onnx {

// Bytes

namespace {
const uint8_t kNothing = 0;  // what present but empty bytes point to
}

Bytes Bytes::borrow(const void* data, size_t size) {
  Bytes b;
  b.data_ = size == 0 && !data ? &kNothing : static_cast<const uint8_t*>(data);
  b.size_ = size & (UINT64_MAX >> 1);
  return b;
}

Bytes Bytes::copy_of(std::span<const uint8_t> bytes) {
  Bytes b;
  b.own(bytes.data(), bytes.size());
  return b;
}

void Bytes::own(const void* data, size_t size) {
  if (size == 0) {
    data_ = &kNothing;
    return;
  }
  auto* copy = static_cast<uint8_t*>(::operator new(size));
  std::memcpy(copy, data, size);
  data_ = copy;
  size_ = size & (UINT64_MAX >> 1);
  owned_ = 1;
}

void Bytes::assign(const Bytes& o) {
  if (o.owned_) {
    own(o.data_, o.size_);
  } else {
    data_ = o.data_;
    size_ = o.size_;
  }
}

void Bytes::release() { ::operator delete(const_cast<uint8_t*>(data_)); }

// Numbers

void NumberRuns::add_record(std::span<const uint8_t> whole, std::span<const uint8_t> payload, bool packed) {
  const Form form = packed ? Form::packed : Form::records;
  const std::span<const uint8_t> bytes = packed ? payload : whole;
  if (empty()) {
    first_ = {Bytes::borrow(bytes.data(), bytes.size()), form};
    return;
  }
  Run& last = more_ && !more_->empty() ? more_->back() : first_;
  if (!packed && last.form == Form::records && last.bytes.data() + last.bytes.size() == bytes.data()) {
    last.bytes = Bytes::borrow(last.bytes.data(), last.bytes.size() + bytes.size());
    return;
  }
  more_.make().push_back({Bytes::borrow(bytes.data(), bytes.size()), form});
}

void NumberRuns::set_native(const void* data, size_t bytes) {
  more_.clear();
  first_ = {Bytes::copy_of({static_cast<const uint8_t*>(data), bytes}),
            bytes == 0 ? Form::none : Form::native};
}

namespace {

// Calls f(value) for each number of a run; false at the first malformed byte.
template <class T, class F>
bool each_number(const NumberRuns::Run& run, F&& f) {
  using Form = NumberRuns::Form;
  const uint8_t* p = run.bytes.data();
  const uint8_t* const end = p + run.bytes.size();
  while (p < end) {
    if (run.form == Form::records) {
      uint64_t tag = 0;
      if (read_varint(p, end, tag) != WireProblem::Kind::none) return false;
    }
    if (std::is_floating_point_v<T> || run.form == Form::native) {
      if (size_t(end - p) < sizeof(T)) return false;
      T value;
      std::memcpy(&value, p, sizeof(T));
      p += sizeof(T);
      f(value);
    } else {
      uint64_t value = 0;
      if (read_varint(p, end, value) != WireProblem::Kind::none) return false;
      f(T(value));
    }
  }
  return true;
}

// Bytes below 128: where varints end.
size_t count_ends(std::span<const uint8_t> bytes) {
  size_t n = 0, i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, bytes.data() + i, 8);
    n += ((~eight >> 7 & 0x0101010101010101ull) * 0x0101010101010101ull) >> 56;
  }
  for (; i < bytes.size(); ++i) n += bytes[i] < 0x80;
  return n;
}

template <class T>
bool fixed_array(const NumberRuns::Run& run) {
  return run.form == NumberRuns::Form::native ||
         (run.form == NumberRuns::Form::packed && std::is_floating_point_v<T>);
}

}  // namespace

template <class T>
Status Numbers<T>::check() const {
  for (size_t i = 0; i < run_count(); ++i) {
    if (fixed_array<T>(run(i))) {
      if (run(i).bytes.size() % sizeof(T) == 0) continue;
      return error(Code::invalid_model, "{} packed bytes are not a whole number of {}-byte values",
                   run(i).bytes.size(), sizeof(T));
    }
    if (!each_number<T>(run(i), [](T) {})) {
      return error(Code::invalid_model,
                   "packed numbers end inside a number or have one of more than 64 bits");
    }
  }
  return {};
}

template <class T>
size_t Numbers<T>::size() const {
  size_t n = 0;
  for (size_t i = 0; i < run_count(); ++i) {
    if (fixed_array<T>(run(i))) {
      n += run(i).bytes.size() / sizeof(T);
    } else if (std::is_floating_point_v<T>) {
      each_number<T>(run(i), [&n](T) { ++n; });
    } else {
      n += count_ends(run(i).bytes.bytes()) / (run(i).form == Form::records ? 2 : 1);
    }
  }
  return n;
}

template <class T>
size_t Numbers<T>::decode(std::span<T> to) const {
  size_t n = 0;
  for (size_t i = 0; i < run_count(); ++i) {
    if (fixed_array<T>(run(i))) {
      const size_t count = run(i).bytes.size() / sizeof(T);
      if (n < to.size() && count > 0) {
        std::memcpy(to.data() + n, run(i).bytes.data(), std::min(count, to.size() - n) * sizeof(T));
      }
      n += count;
    } else if (!each_number<T>(run(i), [&](T v) {
                 if (n < to.size()) to[n] = v;
                 ++n;
               })) {
      break;
    }
  }
  return n;
}

template <class T>
std::vector<T> Numbers<T>::values() const {
  std::vector<T> v(size());
  v.resize(std::min(v.size(), decode(v)));
  return v;
}

template class Numbers<int64_t>;
template class Numbers<int32_t>;
template class Numbers<uint64_t>;
template class Numbers<float>;
template class Numbers<double>;

}  // namespace sx::onnx
