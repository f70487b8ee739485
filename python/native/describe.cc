// SPDX-License-Identifier: Apache-2.0
// What a session decided, as Python's dicts and lists: the words of `sardonyx explain --json`.
#include "base/cpu.h"
#include "base/format.h"
#include "graph/op.h"
#include "session.h"
#include "strings.h"

namespace nb = nanobind;

namespace sx::python {
namespace {

std::string kernel_name(const Step& s) {
  if (s.kernel) return std::string(s.kernel->name());
  switch (s.kind) {
    case Step::Kind::view: return "view";
    case Step::Kind::transfer: return "transfer";
    case Step::Kind::branch: return "branch";
    case Step::Kind::control: return "loop";
    default: return "copy";
  }
}

void describe_steps(const Session& session, const Program& program, int depth, nb::list& steps) {
  const Graph& graph = session.graph();
  for (const Step& s : program.steps()) {
    nb::dict d;
    d["step"] = str_of(s.label);
    d["kernel"] = str_of(kernel_name(s));
    d["provider"] = s.provider ? str_of(s.provider->name()) : str_of("runtime");
    d["depth"] = depth;
    if (!s.out.empty()) {
      const Slot& slot = program.slots()[s.out[0]];
      d["layout"] = str_of(to_string(slot.layout));
      if (slot.value != kNoValue) d["result"] = str_of(to_string(graph.value(slot.value).type));
    }
    nb::list fused, claims;
    if (s.node != kNoNode) {
      if (const Body* body = group_body(graph, s.node)) {
        for (NodeId m : body->nodes)
          fused.append(str_of(format("{} {}", graph.node(m).op->name, graph.node(m).name)));
      }
      for (const ClaimNote& note : session.placement().notes[s.node]) {
        claims.append(
            str_of(format("{} {}: {}", note.provider, note.yes ? "takes it" : "refuses", note.reason)));
      }
    }
    d["fused"] = fused;
    d["claims"] = claims;
    steps.append(d);
    for (const auto& child : s.children) describe_steps(session, *child, depth + 1, steps);
  }
}

}  // namespace

nb::dict NativeSession::describe() const {
  nb::dict d;
  d["isa"] = str_of(isa_name(active_isa()));
  d["providers"] = providers();
  d["packed_bytes"] = session_->packed_bytes();
  nb::list rewrites, steps;
  for (const std::string& r : session_->rule_log()) rewrites.append(str_of(r));
  describe_steps(*session_, session_->program(), 0, steps);
  d["rewrites"] = rewrites;
  d["steps"] = steps;
  return d;
}

}  // namespace sx::python
