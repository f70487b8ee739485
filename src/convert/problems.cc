// SPDX-License-Identifier: Apache-2.0
#include "convert/problems.h"

#include "base/format.h"

namespace sx::convert {

namespace {
constexpr size_t kNodesNamed = 5;  // on a line about an unknown operator
}

void Problems::add(Code code, std::string where, std::string message) {
  ++total_;
  if (!full()) list_.push_back({code, std::move(where), std::move(message)});
}

void Problems::add(const Status& status) {
  std::string where;
  for (auto it = status.context().rbegin(); it != status.context().rend(); ++it) {
    where += (where.empty() ? "" : ": ") + *it;
  }
  const std::string advice = status.advice().empty() ? "" : "; " + status.advice();
  add(status.code(), std::move(where), status.message() + advice);
}

void Problems::unknown_operator(std::string_view op, std::string node) {
  ++unknown_nodes_;
  const auto [it, fresh] = unknown_at_.try_emplace(std::string(op), unknown_.size());
  if (fresh) unknown_.push_back({std::string(op), {}, 0});
  Unknown& u = unknown_[it->second];
  ++u.count;
  if (u.nodes.size() < kNodesNamed) u.nodes.push_back(std::move(node));
}

std::vector<Problem> Problems::list() const {
  std::vector<Problem> all;
  for (const Unknown& u : unknown_) {
    std::string nodes;
    for (const std::string& n : u.nodes) nodes += (nodes.empty() ? "" : ", ") + n;
    if (u.count > u.nodes.size()) nodes += format(" and {} more", u.count - u.nodes.size());
    all.push_back({Code::unsupported, "",
                   format("operator {} is not known here; {} node{} use{} it: {}", u.op, u.count,
                          u.count == 1 ? "" : "s", u.count == 1 ? "s" : "", nodes)});
  }
  all.insert(all.end(), list_.begin(), list_.end());
  return all;
}

Status Problems::status() const {
  const std::vector<Problem> all = list();
  if (all.empty()) return {};
  auto line = [](const Problem& p) { return p.where.empty() ? p.message : p.where + ": " + p.message; };
  const size_t lines = total_ + unknown_.size();
  if (lines == 1) {
    Status one(all[0].code, all[0].message);
    return all[0].where.empty() ? one : std::move(one).in(all[0].where);
  }
  std::string text = format("{} problems", lines);
  Code code = Code::unsupported;
  for (const Problem& p : all) {
    text += "\n  " + line(p);
    if (p.code != Code::unsupported) code = p.code;
  }
  if (lines > all.size()) text += format("\n  and {} more", lines - all.size());
  return Status(code, std::move(text));
}

}  // namespace sx::convert
