// SPDX-License-Identifier: Apache-2.0
// Session: a model made ready to run. Runs may come from several threads at once.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "runtime/options.h"
#include "runtime/program.h"

namespace sx {

struct ValueDesc {
  std::string name;
  Type type;
};

struct NamedValue {
  std::string name;
  Value value;
};

class Session {
 public:
  static Result<std::unique_ptr<Session>> load(const std::string& path, SessionOptions options = {});
  static Result<std::unique_ptr<Session>> from_bytes(const void* data, size_t size,
                                                     SessionOptions options = {});
  static Result<std::unique_ptr<Session>> from_graph(Graph graph, SessionOptions options = {});
  ~Session();

  const std::vector<ValueDesc>& inputs() const;
  const std::vector<ValueDesc>& outputs() const;  // taps come after the model's own
  std::vector<std::string> providers() const;     // in use, best first
  Result<size_t> input_index(
      std::string_view name) const;  // an unknown name is answered with those that there are
  Result<size_t> output_index(std::string_view name) const;
  const SessionOptions& options() const;

  // By name: missing, unknown and wrongly typed inputs are named with what was expected. An empty list of
  // outputs means all of them.
  Result<std::vector<Value>> run(std::span<const NamedValue> inputs,
                                 std::span<const std::string> outputs = {}, const RunOptions& run = {});
  // By position. An output that already is a tensor of the right type and dims in writable memory is written
  // there; a warm run with all outputs given allocates nothing.
  Status run(std::span<const Value> inputs, std::span<Value> outputs, const RunOptions& run = {});

  // What was decided: the graph after rules and fusion, the steps, who refused what.
  const Graph& graph() const;
  const Placement& placement() const;
  const Program& program() const;
  const std::vector<std::string>& rule_log() const;
  // Plans for these inputs without running them, so that explain can tell addresses.
  Result<std::shared_ptr<const struct Plan>> plan(std::span<const Value> inputs);
  size_t packed_bytes() const;
  size_t arena_bytes() const;  // of all runs at once, as held now
  void clear_profile();

 private:
  struct State;
  static Result<std::unique_ptr<Session>> make(Graph graph, SessionOptions options);
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sx
