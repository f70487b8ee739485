// SPDX-License-Identifier: Apache-2.0
// What both directions of the plugin door share: handles, views and errors as the C tables know them.
#pragma once
#include <new>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "runtime/provider.h"
#include "sardonyx/plugin.h"

namespace sx::abi {

// What an sx_node points at. Lives as long as the call that it was given in; used by that call's thread
// alone.
struct NodeHandle {
  const Graph* graph = nullptr;
  NodeId node = kNoNode;
  WeightStore* weights = nullptr;                       // while compiling
  mutable std::vector<NodeHandle> members = {};         // of a group, made when asked for
  mutable std::vector<std::vector<int64_t>> dims = {};  // by operand, inputs first, made when asked for

  const sx_node* as_c() const { return reinterpret_cast<const sx_node*>(this); }
  static const NodeHandle& of(const sx_node* node) { return *reinterpret_cast<const NodeHandle*>(node); }
};

// Elements on the stack up to N, on the heap beyond, so that ordinary steps allocate nothing.
template <class T, size_t N>
class SmallArray {
 public:
  explicit SmallArray(size_t count) : count_(count) {
    if (count > N)
      heap_.resize(count);
    else
      for (size_t i = 0; i < count; ++i) new (inline_ + i * sizeof(T)) T();
  }
  ~SmallArray() {
    if (count_ <= N)
      for (size_t i = 0; i < count_; ++i) data()[i].~T();
  }
  SmallArray(const SmallArray&) = delete;
  SmallArray& operator=(const SmallArray&) = delete;
  T* data() { return count_ > N ? heap_.data() : std::launder(reinterpret_cast<T*>(inline_)); }
  T& operator[](size_t i) { return data()[i]; }
  size_t size() const { return count_; }

 private:
  size_t count_;
  alignas(T) unsigned char inline_[N * sizeof(T)];
  std::vector<T> heap_;
};

inline sx_text to_c(std::string_view text) { return {text.data(), text.size()}; }
inline std::string_view from_c(sx_text text) {
  return text.data ? std::string_view(text.data, text.size) : std::string_view();
}

inline sx_layout to_c(const Layout& l) { return {uint32_t(l.kind), l.block}; }
inline Layout from_c(sx_layout l, uint32_t owner) {
  const auto kind = Layout::Kind(l.kind);
  return {kind, uint16_t(kind == Layout::Kind::plain ? 0 : l.block),
          kind == Layout::Kind::provider ? owner : 0};
}

inline sx_view to_c(const View& v) {
  return {sx_dtype(v.type),
          to_c(v.layout),
          v.dims.size(),
          v.dims.data(),
          v.strides.empty() ? nullptr : v.strides.data(),
          v.data};
}
void view_from_c(const sx_view& c, uint32_t owner, View& v);

// The sentence that goes with an error code crosses the door in a place of the thread's own.
void clear_error();
void set_error(const char* text);
sx_code give(const Status& status);  // stores its text
Status take(sx_code code,
            std::string_view what_failed);  // what was stored, or a sentence that says it is missing

const sx_host& host();

}  // namespace sx::abi
