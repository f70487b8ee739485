// SPDX-License-Identifier: Apache-2.0
// Where a record says that an output is a view of an input, reading through the view gives the table's
// numbers, whether the input lies row by row or with its axes turned around.
#include <doctest/doctest.h>

#include <filesystem>

#include "base/format.h"
#include "convert/convert.h"
#include "graph/op.h"
#include "ops/engine/codec.h"
#include "ops/engine/move.h"
#include "table.h"

namespace fs = std::filesystem;
using namespace sx;
using testing::TableCase;

namespace {

const Value* value_of(const TableCase& c, const Graph& graph, ValueId v) {
  if (v == kNoValue) return nullptr;
  if (graph.value(v).is_constant()) return &graph.value(v).constant;
  for (const testing::TableValue& in : c.inputs) {
    if (in.name == graph.value(v).name) return &in.value;
  }
  return nullptr;
}

// Reads `t` through the view.
Tensor looked_at(const Tensor& t, const ViewMap& map, const Dims& dims) {
  Tensor out = std::move(Tensor::zeros(t.type(), dims)).value();
  move_strided(t, map.offset, map.strides, out, 0, contiguous_strides(dims), dims);
  return out;
}

struct Looked {
  size_t views = 0, copies = 0;
};

void look(const TableCase& c, bool turned, Looked& count) {
  const auto model = testing::model_of(c);
  REQUIRE(model.ok());
  const auto graph = to_graph(*model);
  if (!graph.ok() || graph->main().nodes.size() != 1) return;
  const Node& node = graph->node(graph->main().nodes.front());
  if (!node.op->view) return;
  const Value* from = value_of(c, *graph, node.inputs[size_t(node.op->view_of)]);
  if (!from || !from->is_tensor()) return;
  Tensor stored = from->tensor;
  Dims strides = contiguous_strides(stored.dims());
  if (turned) {
    std::vector<size_t> order;
    for (size_t k = stored.rank(); k-- > 0;) order.push_back(k);
    stored = std::move(permuted(stored, order)).value();
    const Dims reversed = contiguous_strides(stored.dims());
    for (size_t k = 0; k < strides.size(); ++k) strides[k] = reversed[strides.size() - 1 - k];
  }
  auto ints = [&](size_t input, std::vector<int64_t>& v) {
    const Value* known = input < node.inputs.size() ? value_of(c, *graph, node.inputs[input]) : nullptr;
    if (!known || !dtype_is_integer(known->tensor.type())) return false;
    const Reader<int64_t> reader(known->tensor);
    v.assign(reader.begin(), reader.end());
    return true;
  };
  for (size_t k = 0; k < c.outputs.size(); ++k) {
    const Tensor& expected = c.outputs[k].value.tensor;
    if (!expected.defined()) continue;
    const Dims& dims = expected.dims();
    ViewMap map;
    const ViewArgs args{node.attrs, from->tensor.dims(), strides, dims, ints, node.outputs.size()};
    if (!make_view(*node.op, args, k, map)) {
      ++count.copies;
      CHECK_MESSAGE((turned || c.op == "Slice"), c.file, ":", c.line, ": ", c.title, " is copied");
      continue;
    }
    ++count.views;
    CHECK_MESSAGE(same_bits(looked_at(stored, map, dims), expected), c.file, ":", c.line, ": ", c.title,
                  turned ? ", turned" : "");
  }
}

}  // namespace

TEST_CASE("views show what evaluation makes") {
  Looked plain, turned;
  for (const auto& entry : fs::directory_iterator("tests/ops")) {
    if (entry.path().extension() != ".test") continue;
    const auto table = testing::read_table(entry.path().string());
    REQUIRE(table.ok());
    for (const TableCase& c : *table) {
      if (!c.error.empty()) continue;
      look(c, false, plain);
      look(c, true, turned);
    }
  }
  MESSAGE(plain.views, " views of rows, ", turned.views, " of turned axes; ", turned.copies, " copies");
  CHECK(plain.views > 20);
  CHECK(turned.views > 10);
}
