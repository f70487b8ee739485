// SPDX-License-Identifier: Apache-2.0
// sardonyx tensors: every stored tensor of a model, checked; one taken out or put in.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/format.h"
#include "command.h"
#include "json.h"
#include "model_file.h"
#include "onnx/npy.h"
#include "onnx/tensor_data.h"
#include "onnx/walk.h"
#include "ops/engine/codec.h"

namespace sx::tools::commands {
namespace {

struct Statistics {
  double least = INFINITY, most = -INFINITY, mean = 0, deviation = 0;
  int64_t zeros = 0, not_finite = 0;
};

std::optional<Statistics> statistics(const Tensor& t) {
  if (t.type() == DType::string || dtype_is_complex(t.type()) || t.count() == 0) return std::nullopt;
  Statistics s;
  double sum = 0, squares = 0, first = 0;
  int64_t finite = 0;
  std::vector<double> block(4096);
  for (int64_t at = 0; at < t.count(); at += int64_t(block.size())) {
    const auto n = size_t(std::min<int64_t>(int64_t(block.size()), t.count() - at));
    decode<double>(t.type(), t.data(), at, 1, n, block.data());
    for (size_t i = 0; i < n; ++i) {
      const double v = block[i];
      s.zeros += v == 0;
      if (!std::isfinite(v)) {
        ++s.not_finite;
        continue;
      }
      if (finite++ == 0) first = v;  // sums of differences keep their digits
      s.least = std::min(s.least, v);
      s.most = std::max(s.most, v);
      sum += v - first;
      squares += (v - first) * (v - first);
    }
  }
  if (finite > 0) {
    const double shift = sum / double(finite);
    s.mean = first + shift;
    s.deviation = std::sqrt(std::max(0.0, squares / double(finite) - shift * shift));
  }
  return s;
}

class Tensors final : public Command {
 public:
  Tensors() {
    name = "tensors";
    group = Group::edit;
    summary = "list, check, take out or replace the tensors of a model";
    example = "sardonyx tensors model.onnx --statistics --sort";
  }
  void options(Options& o) override {
    o.argument("MODEL", model_, "the model to read; - for standard input").is(Takes::model);
    o.flag("--statistics", statistics_, "least, most, mean, deviation, zeros, what is not finite");
    o.flag("--sort", sort_, "the largest first");
    o.value("--extract", "NAME", extract_, "write this tensor as .npy (or .pb) to -o");
    o.value("--replace", "NAME=FILE", replace_,
            "put the elements of this .npy file in; the new model goes to -o")
        .is(Takes::named_file);
    target_.add(o);
  }
  Outcome run(const Common& common, Terminal& out) override {
    const bool change = !extract_.empty() || !replace_.empty();
    if (change) {
      if (Status s = target_.check(); !s.ok()) return {std::move(s), kUsage};
    }
    auto model = open_model(model_);
    if (!model.ok()) return refuse(std::move(model).status());
    if (!extract_.empty()) return extract(**model, common, out);
    if (!replace_.empty()) return replace(**model, common, out);
    return list(**model, common, out);
  }

 private:
  struct Row {
    std::string path, name, type, dims, where, problem;
    uint64_t bytes = 0;
    std::optional<Statistics> numbers;
  };

  Row row_of(const onnx::Model& model, const onnx::TensorProto& t, const std::string& path) const {
    Row row{path, t.name.str()};
    if (const auto info = onnx::tensor_info(t); info.ok()) {
      row.type = dtype_name(info->type);
      row.dims = to_string(info->dims);
      row.bytes = info->raw_bytes;
    }
    row.where = t.is_external() ? "external" : !t.raw_data.empty() ? "raw" : "typed";
    if (!statistics_) {
      row.problem = onnx::check_tensor(t, onnx::data_source(model)).message();
    } else if (const auto tensor = onnx::to_tensor(model, t); tensor.ok()) {
      row.numbers = statistics(*tensor);
    } else {
      row.problem = tensor.status().message();
    }
    return row;
  }

  Outcome list(const onnx::Model& model, const Common& common, Terminal& out) const {
    std::vector<Row> rows;
    std::optional<Busy> busy;
    if (statistics_) busy.emplace(out, "reading the tensors of " + escaped(model_));
    onnx::each_tensor(model, [&](const onnx::TensorProto& t, const std::string& path) {
      rows.push_back(row_of(model, t, path));
    });
    busy.reset();
    if (sort_)
      std::stable_sort(rows.begin(), rows.end(),
                       [](const Row& a, const Row& b) { return a.bytes > b.bytes; });
    const auto broken =
        std::count_if(rows.begin(), rows.end(), [](const Row& r) { return !r.problem.empty(); });
    common.json ? print_json(rows, out) : print_table(rows, out);
    if (broken == 0) return done();
    return refuse(
        error(Code::invalid_model, "{} of {} tensors cannot be right", broken, rows.size()).in(model_));
  }

  void print_json(const std::vector<Row>& rows, Terminal& out) const {
    Json j;
    j.open_object().key("tensors").open_array();
    for (const Row& r : rows) {
      j.open_object().text("path", r.path).text("name", r.name).text("type", r.type).text("dims", r.dims);
      j.integer("bytes", int64_t(r.bytes)).text("stored", r.where).text("problem", r.problem);
      if (r.numbers) {
        j.number("min", r.numbers->least).number("max", r.numbers->most).number("mean", r.numbers->mean);
        j.number("deviation", r.numbers->deviation).integer("zeros", r.numbers->zeros);
        j.integer("not_finite", r.numbers->not_finite);
      }
      j.close_object();
    }
    out.line(j.close_array().close_object().str());
  }

  void print_table(const std::vector<Row>& rows, Terminal& out) const {
    std::vector<std::string> header = {"tensor", "type", "shape", "bytes", "stored"};
    if (statistics_) header.insert(header.end(), {"min", "max", "mean", "deviation", "zeros", "not finite"});
    Table table(header, {false, false, false, true, false, true, true, true, true, true, true});
    for (const Row& r : rows) {
      std::vector<std::string> cells = {escaped(r.name.empty() ? r.path : r.name), r.type, r.dims,
                                        bytes_text(double(r.bytes)),
                                        r.problem.empty() ? r.where : escaped(r.problem)};
      if (r.numbers) {
        cells.insert(cells.end(), {format("{:.4g}", r.numbers->least), format("{:.4g}", r.numbers->most),
                                   format("{:.4g}", r.numbers->mean), format("{:.4g}", r.numbers->deviation),
                                   format("{}", r.numbers->zeros), format("{}", r.numbers->not_finite)});
      }
      cells.resize(header.size());
      table.row(std::move(cells), r.problem.empty() ? Style::plain : Style::bad);
    }
    if (table.rows() > 0) table.print(out);
  }

  // By the name of a tensor or by its path.
  static Result<onnx::TensorProto*> find(onnx::Model& model, const std::string& wanted) {
    std::vector<onnx::TensorProto*> found;
    onnx::each_tensor(model, [&](onnx::TensorProto& t, const std::string& path) {
      if (t.name == wanted || path == wanted) found.push_back(&t);
    });
    if (found.size() == 1) return found[0];
    if (found.empty()) return error(Code::not_found, "the model has no tensor '{}'", escaped(wanted));
    return error(Code::invalid_argument,
                 "the model has {} tensors '{}'; say which by its path, as --json lists them", found.size(),
                 escaped(wanted));
  }

  Outcome extract(onnx::Model& model, const Common& common, Terminal& out) const {
    auto found = find(model, extract_);
    if (!found.ok()) return refuse(std::move(found).in(model_).status());
    auto tensor = onnx::to_tensor(model, **found);
    if (!tensor.ok()) return refuse(std::move(tensor).in(model_).status());
    Status s;
    std::optional<Busy> busy;
    busy.emplace(out, "writing " + escaped(target_.out), tensor->bytes());
    if (target_.out.ends_with(".pb")) {
      s = save_text(target_.out, onnx::message_bytes(onnx::from_tensor(*tensor, (*found)->name)));
    } else if (target_.out == "-") {
      auto bytes = onnx::npy_bytes(*tensor);
      s = bytes.ok() ? save_text("-", *bytes) : bytes.status();
    } else {
      s = onnx::write_npy(target_.out, *tensor);
    }
    busy.reset();
    if (!s.ok()) return fail(std::move(s));
    if (target_.out != "-" && !common.quiet)
      out.note(format("wrote {} ({}{})", escaped(target_.out), dtype_name(tensor->type()),
                      to_string(tensor->dims())));
    return done();
  }

  Outcome replace(onnx::Model& model, const Common& common, Terminal& out) const {
    auto pair = split_pair(replace_, "NAME=FILE.npy");
    if (!pair.ok()) return {std::move(pair).status(), kUsage};
    auto found = find(model, pair->first);
    if (!found.ok()) return refuse(std::move(found).in(model_).status());
    onnx::TensorProto& t = **found;
    auto tensor = onnx::read_npy(pair->second, DType(t.data_type.value));
    if (!tensor.ok()) return refuse(std::move(tensor).status());
    const auto was = onnx::tensor_info(t);
    if (was.ok() && (was->type != tensor->type() || !(was->dims == tensor->dims()))) {
      return refuse(error(Code::invalid_argument, "tensor '{}' is {}{}, the file has {}{}",
                          escaped(pair->first), dtype_name(was->type), to_string(was->dims),
                          dtype_name(tensor->type()), to_string(tensor->dims())));
    }
    put_elements(t, *tensor);  // lives until the model is written
    auto said = target_.save(model, model_, out);
    if (!said.ok()) return writing_failed(model, std::move(said).status());
    said->tell(common, out);
    return done();
  }

  // Name, documentation and metadata stay; the elements become raw data in the model. They are borrowed where
  // they lie in memory as they do in a file, so that a large array is not copied.
  static void put_elements(onnx::TensorProto& t, const Tensor& tensor) {
    const bool packed = tensor.type() == DType::f6e2m3 || tensor.type() == DType::f6e3m2;
    t.string_data.clear();
    t.raw_data.clear();
    t.dims.assign(tensor.dims());
    t.data_type = int32_t(tensor.type());
    if (tensor.type() == DType::string || packed) {
      onnx::TensorProto fresh = onnx::from_tensor(tensor);
      t.raw_data = std::move(fresh.raw_data);
      t.string_data = std::move(fresh.string_data);
    } else {
      t.raw_data = onnx::Bytes::borrow(tensor.data(), tensor.bytes());
    }
    t.float_data = {};
    t.int32_data = {};
    t.int64_data = {};
    t.double_data = {};
    t.uint64_data = {};
    t.external_data.clear();
    t.data_location.clear();
  }

  std::string model_, extract_, replace_;
  bool statistics_ = false, sort_ = false;
  Target target_;
};

}  // namespace
std::unique_ptr<Command> tensors() { return std::make_unique<Tensors>(); }
}  // namespace sx::tools::commands
