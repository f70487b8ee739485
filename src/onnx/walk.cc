// SPDX-License-Identifier: Apache-2.0
#include "onnx/walk.h"

#include <type_traits>

#include "base/format.h"
#include "onnx/schema.h"

namespace sx::onnx {
namespace {

// Visits each message of type Target below a message.
template <class Target, class F>
struct Walker {
  F& f;
  std::string& path;

  template <class M>
  void message(M& m) {
    if constexpr (std::is_same_v<std::remove_const_t<M>, Target>) f(m, path);
    Schema<std::remove_const_t<M>>::fields(*this, m);
  }
  template <class C>
  bool operator()(uint32_t, const char* name, Box<C>& b) {
    return box(name, b);
  }
  template <class C>
  bool operator()(uint32_t, const char* name, const Box<C>& b) {
    return box(name, b);
  }
  template <class C>
  bool operator()(uint32_t, const char* name, std::vector<C>& v) {
    return list(name, v);
  }
  template <class C>
  bool operator()(uint32_t, const char* name, const std::vector<C>& v) {
    return list(name, v);
  }
  template <class T, class... Rest>
  bool operator()(uint32_t, const char*, const T&, Rest...) {
    return false;
  }

 private:
  template <class B>
  bool box(const char* name, B& b) {
    if (!b) return false;
    const size_t size = path.size();
    path += path.empty() ? name : format(".{}", name);
    message(*b);
    path.resize(size);
    return false;
  }
  template <class V>
  bool list(const char* name, V& v) {
    if constexpr (std::is_base_of_v<Message, typename V::value_type>) {
      const size_t size = path.size();
      for (size_t i = 0; i < v.size(); ++i) {
        path += path.empty() ? format("{}[{}]", name, i) : format(".{}[{}]", name, i);
        message(v[i]);
        path.resize(size);
      }
    }
    return false;
  }
};

template <class Target, class M, class F>
void walk(M& m, F&& f) {
  std::string path;
  Walker<Target, F>{f, path}.message(m);
}

}  // namespace

void each_tensor(ModelProto& m, FunctionRef<void(TensorProto&, const std::string&)> f) {
  walk<TensorProto>(m, f);
}
void each_tensor(const ModelProto& m, FunctionRef<void(const TensorProto&, const std::string&)> f) {
  walk<TensorProto>(m, f);
}
void each_graph(ModelProto& m, FunctionRef<void(GraphProto&, const std::string&)> f) {
  walk<GraphProto>(m, f);
}
void each_graph(const ModelProto& m, FunctionRef<void(const GraphProto&, const std::string&)> f) {
  walk<GraphProto>(m, f);
}
void each_dimension(ModelProto& m, FunctionRef<void(DimensionProto&)> f) {
  walk<DimensionProto>(m, [&](DimensionProto& d, const std::string&) { f(d); });
}

void each_body(NodeProto& node, FunctionRef<void(GraphProto&)> f) {
  for (AttributeProto& a : node.attribute) {
    if (a.g) f(*a.g);
    for (GraphProto& g : a.graphs) f(g);
  }
}

}  // namespace sx::onnx
