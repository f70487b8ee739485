// SPDX-License-Identifier: Apache-2.0
// sardonyx info: what a model is, from its file alone: nothing is run, no payload is read.
#include <algorithm>
#include <map>

#include "base/format.h"
#include "command.h"
#include "inputs.h"
#include "json.h"
#include "model_file.h"
#include "onnx/tensor_data.h"
#include "onnx/text.h"
#include "onnx/walk.h"
#include "work.h"

namespace sx::tools::commands {
namespace {

constexpr size_t kQuickNodes = 20000;

struct Parameter {
  std::string name, type, dims;
  uint64_t bytes;
};

struct Facts {
  size_t nodes = 0;
  std::map<std::string, size_t> operators;
  uint64_t parameters = 0, parameter_bytes = 0, external_bytes = 0;
  std::map<std::string, uint64_t> types;  // bytes by element type
  std::vector<Parameter> tensors;
};

std::string operator_name(const onnx::NodeProto& n) {
  const std::string_view domain = onnx::canonical_domain(n.domain);
  return domain.empty() ? n.op_type.str() : format("{}.{}", domain, n.op_type.view());
}

Facts gather(const onnx::Model& model) {
  Facts facts;
  const auto count = [&](const std::vector<onnx::NodeProto>& nodes) {
    facts.nodes += nodes.size();
    for (const onnx::NodeProto& n : nodes) ++facts.operators[operator_name(n)];
  };
  onnx::each_graph(model, [&](const onnx::GraphProto& g, const std::string&) { count(g.node); });
  for (const onnx::FunctionProto& f : model.functions) count(f.node);
  // Initializers and constants are parameters; a tensor that cannot be right counts for nothing here.
  onnx::each_tensor(model, [&](const onnx::TensorProto& t, const std::string& path) {
    const auto info = onnx::tensor_info(t);
    if (!info.ok()) return;
    facts.parameters += uint64_t(info->count);
    facts.parameter_bytes += info->raw_bytes;
    facts.external_bytes += t.is_external() ? info->raw_bytes : 0;
    facts.types[std::string(dtype_name(info->type))] += info->raw_bytes;
    facts.tensors.push_back({t.name.empty() ? path : t.name.str(), std::string(dtype_name(info->type)),
                             to_string(info->dims), info->raw_bytes});
  });
  std::stable_sort(facts.tensors.begin(), facts.tensors.end(),
                   [](const Parameter& a, const Parameter& b) { return a.bytes > b.bytes; });
  return facts;
}

std::string plural(size_t count, const char* thing) {
  return format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

const onnx::TensorShapeProto* shape_of(const onnx::ValueInfoProto& v) {
  return v.type && v.type->tensor_type && v.type->tensor_type->shape ? v.type->tensor_type->shape.get()
                                                                     : nullptr;
}

std::string type_of(const onnx::ValueInfoProto& v) {
  if (!v.type) return "unknown";
  if (v.type->tensor_type) {
    const int type = v.type->tensor_type->elem_type;
    return std::string(dtype_is_valid(type) ? dtype_name(DType(type)) : "unknown");
  }
  return onnx::print_text(*v.type);
}

std::string shape_text(const onnx::ValueInfoProto& v) {
  const auto* shape = shape_of(v);
  if (!shape) return "";
  std::string text = "[";
  for (const onnx::DimensionProto& d : shape->dim) {
    if (text.size() > 1) text += ", ";
    text += d.dim_value.present   ? format("{}", d.dim_value.value)
            : d.dim_param.empty() ? "?"
                                  : escaped(d.dim_param);
  }
  return text + "]";
}

class Info final : public Command {
 public:
  Info() {
    name = "info";
    summary = "what a model is: inputs, outputs, operators, parameters";
    example = "sardonyx info model.onnx";
  }
  void options(Options& o) override {
    o.argument("MODEL", model_, "the model to read; - for standard input").is(Takes::model);
    o.value("--dim", "NAME=N", dims_, "count the work at this size of a named dimension");
    o.flag("--work", work_, "count the work of a model of more than 20000 nodes too");
    o.value("--top", "N", top_, "how many operators and tensors to list");
  }
  Outcome run(const Common& common, Terminal& out) override {
    auto model = open_model(model_);
    if (!model.ok()) return refuse(std::move(model).status());
    const Facts facts = gather(**model);
    auto dims = parse_dims(dims_);
    if (!dims.ok()) return {std::move(dims).status(), kUsage};
    // Sizes come from inference, which walks the whole graph: a second or so for a hundred thousand nodes.
    const bool quick = facts.nodes <= kQuickNodes || work_ || !dims_.empty();
    const Result<Work> work =
        quick ? count_work(**model, *dims) : error(Code::unsupported, "not counted; --work does it");
    common.json ? print_json(**model, facts, work, out) : print_page(**model, facts, work, out);
    return done();
  }

 private:
  // Inputs that have an initializer are not asked for: models before IR 4 listed them all.
  static std::vector<const onnx::ValueInfoProto*> inputs(const onnx::Model& model) {
    std::vector<const onnx::ValueInfoProto*> list;
    if (!model.graph) return list;
    std::vector<std::string_view> given;
    for (const onnx::TensorProto& t : model.graph->initializer) given.push_back(t.name);
    std::sort(given.begin(), given.end());
    for (const onnx::ValueInfoProto& v : model.graph->input) {
      if (!std::binary_search(given.begin(), given.end(), v.name.view())) list.push_back(&v);
    }
    return list;
  }
  static std::vector<const onnx::ValueInfoProto*> outputs(const onnx::Model& model) {
    std::vector<const onnx::ValueInfoProto*> list;
    if (model.graph) {
      for (const onnx::ValueInfoProto& v : model.graph->output) list.push_back(&v);
    }
    return list;
  }

  static void print_values(Json& j, const char* key, const std::vector<const onnx::ValueInfoProto*>& values) {
    j.key(key).open_array();
    for (const onnx::ValueInfoProto* v : values) {
      j.open_object().text("name", v->name).text("type", type_of(*v)).key("shape");
      if (const auto* shape = shape_of(*v)) {
        j.open_array();
        for (const onnx::DimensionProto& d : shape->dim) {
          d.dim_value.present ? j.integer(d.dim_value)
                              : j.text(d.dim_param.empty() ? "?" : d.dim_param.view());
        }
        j.close_array();
      } else {
        j.null();
      }
      j.close_object();
    }
    j.close_array();
  }

  static void print_json(const onnx::Model& model, const Facts& facts, const Result<Work>& work,
                         Terminal& out) {
    Json j;
    j.open_object().integer("ir_version", model.ir_version).text("producer", producer(model));
    j.key("opsets").open_object();
    for (const auto& o : model.opset_import) j.integer(o.domain, o.version);
    j.close_object();
    print_values(j, "inputs", inputs(model));
    print_values(j, "outputs", outputs(model));
    j.integer("nodes", int64_t(facts.nodes)).key("operators").open_object();
    for (const auto& [op, count] : facts.operators) j.integer(op, int64_t(count));
    j.close_object().integer("functions", int64_t(model.functions.size()));
    j.integer("parameters", int64_t(facts.parameters))
        .integer("parameter_bytes", int64_t(facts.parameter_bytes));
    j.key("metadata").open_object();
    for (const auto& e : model.metadata_props) j.text(e.key, e.value);
    j.close_object().key("flops");
    if (!work.ok()) {
      j.null();
    } else if (work->flops.is_constant()) {
      j.integer(work->flops.constant());
    } else {
      j.text(to_string(work->flops));
    }
    j.key("largest").open_array();
    for (size_t i = 0; i < std::min<size_t>(10, facts.tensors.size()); ++i) {
      const Parameter& p = facts.tensors[i];
      j.open_object().text("name", p.name).text("type", p.type).text("dims", p.dims);
      j.integer("bytes", int64_t(p.bytes)).close_object();
    }
    j.close_array().close_object();
    out.line(j.str());
  }

  static std::string producer(const onnx::Model& model) {
    std::string text = model.producer_name.str();
    if (!model.producer_version.empty()) text += (text.empty() ? "" : " ") + model.producer_version.str();
    return text;
  }

  void print_page(const onnx::Model& model, const Facts& facts, const Result<Work>& work,
                  Terminal& out) const {
    const auto line = [&](const char* key, const std::string& text) {
      if (!text.empty()) out.line(out.paint(Style::dim, format("{:<12}", key)) + text);
    };
    std::string opsets;
    for (const auto& o : model.opset_import) {
      opsets += format("{}{} {}", opsets.empty() ? "" : ", ",
                       o.domain.empty() ? "ai.onnx" : escaped(o.domain), o.version.value);
    }
    line("model",
         escaped(model_) + (model.file ? "  " + bytes_text(double(model.file->bytes().size())) : ""));
    line("producer", escaped(producer(model)));
    line("format", format("IR {}, operators {}", model.ir_version.value, opsets));
    line("graph", plural(facts.nodes, "node") + ", " + plural(facts.operators.size(), "kind") +
                      " of operators" +
                      (model.functions.empty() ? "" : ", " + plural(model.functions.size(), "function")));
    if (facts.parameters > 0) line("parameters", parameters_text(facts));
    line("work", work.ok() ? work->text() : "not known: " + escaped(first_line(work.status())));
    out.line();
    Table values({"", "name", "type", "shape"});
    for (const auto* v : inputs(model))
      values.row({"input", escaped(v->name), escaped(type_of(*v)), shape_text(*v)});
    for (const auto* v : outputs(model))
      values.row({"output", escaped(v->name), escaped(type_of(*v)), shape_text(*v)});
    if (values.rows() > 0) values.print(out);
    out.line();
    print_operators(facts, work, out);
    out.line();
    Table tensors({"largest tensors", "type", "shape", "bytes", "share"}, {false, false, false, true, true});
    for (size_t i = 0; i < std::min(top_, facts.tensors.size()); ++i) {
      const Parameter& p = facts.tensors[i];
      const double share = double(p.bytes) / double(std::max<uint64_t>(1, facts.parameter_bytes));
      tensors.row(
          {escaped(p.name), p.type, p.dims, bytes_text(double(p.bytes)), format("{:.1f}%", share * 100)});
    }
    if (tensors.rows() > 0) tensors.print(out);
    for (const auto& e : model.metadata_props) line(escaped(e.key).c_str(), shorten(escaped(e.value), 100));
  }

  // "109 M in 438 MB: float32 438 MB, int64 4.1 kB; 430 MB of it beside the model"
  static std::string parameters_text(const Facts& facts) {
    std::vector<std::pair<std::string, uint64_t>> types(facts.types.begin(), facts.types.end());
    std::stable_sort(types.begin(), types.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text =
        format("{} in {}", count_text(double(facts.parameters)), bytes_text(double(facts.parameter_bytes)));
    if (types.size() == 1) text += ", all " + types[0].first;
    for (size_t i = 0; types.size() > 1 && i < std::min<size_t>(3, types.size()); ++i)
      text += format("{}{} {}", i ? ", " : ": ", types[i].first, bytes_text(double(types[i].second)));
    if (facts.external_bytes > 0)
      text += format("; {} of it beside the model", bytes_text(double(facts.external_bytes)));
    return text;
  }

  // A list of problems is for `sardonyx run`; here the first will do.
  static std::string first_line(const Status& status) {
    const std::string text = status.to_string();
    return text.substr(0, text.find('\n'));
  }

  void print_operators(const Facts& facts, const Result<Work>& work, Terminal& out) const {
    std::vector<std::pair<std::string, size_t>> sorted(facts.operators.begin(), facts.operators.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    const bool shares = work.ok() && std::any_of(sorted.begin(), sorted.end(), [&](const auto& s) {
                          return !work->share(s.first).empty();
                        });
    Table table({"operator", "count", shares ? "work" : "", ""}, {false, true, true, false});
    for (size_t i = 0; i < std::min(top_, sorted.size()); ++i) {
      std::string bar;
      for (size_t k = 0; k < std::max<size_t>(1, sorted[i].second * 30 / sorted[0].second); ++k) bar += "▇";
      table.row({escaped(sorted[i].first), format("{}", sorted[i].second),
                 shares ? work->share(sorted[i].first) : "", out.paint(Style::accent, bar)});
    }
    if (table.rows() > 0) table.print(out);
    if (sorted.size() > top_)
      out.line(out.paint(Style::dim, format("and {} more kinds", sorted.size() - top_)));
  }

  std::string model_;
  size_t top_ = 10;
  std::vector<std::string> dims_;
  bool work_ = false;
};

}  // namespace
std::unique_ptr<Command> info() { return std::make_unique<Info>(); }
}  // namespace sx::tools::commands
