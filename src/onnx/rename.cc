// SPDX-License-Identifier: Apache-2.0
#include "onnx/rename.h"

#include <algorithm>

#include "base/format.h"
#include "onnx/display.h"
#include "onnx/walk.h"

namespace sx::onnx {
namespace {

class Renamer {
 public:
  Renamer(std::string_view from, std::string_view to) : from_(from), to_(to) {}
  size_t count() const { return count_; }

  void text(Text& t) {
    if (!t.present() || t != from_) return;
    t = to_;
    ++count_;
  }
  void texts(std::vector<Text>& all) {
    for (Text& t : all) text(t);
  }

  // What speaks of the value in one graph and in the inner graphs that see it.
  void value(GraphProto& g) {
    for (ValueInfoProto& v : g.input) text(v.name);
    for (ValueInfoProto& v : g.output) text(v.name);
    for (ValueInfoProto& v : g.value_info) text(v.name);
    for (TensorProto& t : g.initializer) text(t.name);
    for (SparseTensorProto& t : g.sparse_initializer) {
      if (t.values) text(t.values->name);
    }
    for (TensorAnnotation& a : g.quantization_annotation) {
      text(a.tensor_name);
      for (StringStringEntryProto& e : a.quant_parameter_tensor_names) text(e.value);
    }
    for (NodeProto& n : g.node) {
      texts(n.input);
      texts(n.output);
      for (NodeDeviceConfigurationProto& c : n.device_configurations) {
        for (ShardingSpecProto& s : c.sharding_spec) text(s.tensor_name);
      }
      each_body(n, [&](GraphProto& body) {
        if (!defines(body)) value(body);
      });
    }
  }

  bool defines(const GraphProto& g) const { return defines(g, from_); }
  static bool defines(const GraphProto& g, std::string_view name) {
    const auto is = [name](const auto& x) { return x.name == name; };
    return std::any_of(g.input.begin(), g.input.end(), is) ||
           std::any_of(g.initializer.begin(), g.initializer.end(), is) ||
           std::any_of(g.sparse_initializer.begin(), g.sparse_initializer.end(),
                       [name](const SparseTensorProto& s) { return s.values && s.values->name == name; }) ||
           std::any_of(g.node.begin(), g.node.end(), [name](const NodeProto& n) {
             return std::find(n.output.begin(), n.output.end(), name) != n.output.end();
           });
  }

 private:
  std::string_view from_, to_;
  size_t count_ = 0;
};

// The name of a value anywhere in the model, defined or only spoken of.
bool value_exists(const ModelProto& model, std::string_view name) {
  bool found = false;
  each_graph(model, [&](const GraphProto& g, const std::string&) {
    found = found || Renamer::defines(g, name);
    for (const ValueInfoProto& v : g.output) found = found || v.name == name;
    for (const NodeProto& n : g.node) {
      found = found || std::find(n.input.begin(), n.input.end(), name) != n.input.end();
    }
  });
  return found;
}

void rename_value(ModelProto& model, Renamer& renamer) {
  std::vector<GraphProto*> defining;
  each_graph(model, [&](GraphProto& g, const std::string&) {
    if (renamer.defines(g)) defining.push_back(&g);
  });
  for (GraphProto* g : defining) renamer.value(*g);
  // Bindings of training graphs speak of initializers of the main graph.
  for (TrainingInfoProto& t : model.training_info) {
    for (auto* binding : {&t.initialization_binding, &t.update_binding}) {
      for (StringStringEntryProto& e : *binding) {
        renamer.text(e.key);
        renamer.text(e.value);
      }
    }
  }
}

size_t count_nodes(const ModelProto& model, std::string_view name) {
  size_t n = 0;
  each_graph(model, [&](const GraphProto& g, const std::string&) {
    n += size_t(
        std::count_if(g.node.begin(), g.node.end(), [&](const NodeProto& x) { return x.name == name; }));
  });
  return n;
}

size_t count_dimensions(ModelProto& model, std::string_view name) {
  size_t n = 0;
  each_dimension(model, [&](DimensionProto& d) { n += d.dim_param.present() && d.dim_param == name; });
  return n;
}

Status check(ModelProto& model, const Rename& r) {
  if (r.from.empty()) return error(Code::invalid_argument, "an empty name cannot be renamed");
  if (r.to.empty()) return error(Code::invalid_argument, "{} needs a new name", quoted(r.from));
  const auto refuse = [&](const char* what, bool exists, bool taken) -> Status {
    if (!exists) return error(Code::not_found, "the model has no {} {}", what, quoted(r.from));
    if (taken && r.from != r.to) {
      return error(Code::invalid_argument, "the model has a {} {} already", what, quoted(r.to));
    }
    return {};
  };
  switch (r.what) {
    case Rename::What::value: return refuse("value", value_exists(model, r.from), value_exists(model, r.to));
    case Rename::What::node:
      return refuse("node", count_nodes(model, r.from) > 0, count_nodes(model, r.to) > 0);
    case Rename::What::dimension:
      return refuse("dimension", count_dimensions(model, r.from) > 0, count_dimensions(model, r.to) > 0);
  }
  return {};
}

}  // namespace

Result<size_t> rename(ModelProto& model, const std::vector<Rename>& renames) {
  for (const Rename& r : renames) SX_TRY(check(model, r));
  size_t count = 0;
  for (const Rename& r : renames) {
    Renamer renamer(r.from, r.to);
    switch (r.what) {
      case Rename::What::value: rename_value(model, renamer); break;
      case Rename::What::node:
        each_graph(model, [&](GraphProto& g, const std::string&) {
          for (NodeProto& n : g.node) renamer.text(n.name);
        });
        break;
      case Rename::What::dimension:
        each_dimension(model, [&](DimensionProto& d) { renamer.text(d.dim_param); });
        break;
    }
    count += renamer.count();
  }
  return count;
}

}  // namespace sx::onnx
