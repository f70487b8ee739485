// SPDX-License-Identifier: Apache-2.0
#include "runtime/symbols.h"

namespace sx {

void each_symbol(Dim d, FunctionRef<void(uint32_t)> visit) {
  if (d.is_constant()) return;
  for (const DimAtom* part : d.expr()->parts) {
    if (part->op == DimOp::symbol) visit(part->symbol);
  }
}

bool only_known(Dim d, const std::vector<bool>& known) {
  bool all = true;
  each_symbol(d, [&](uint32_t s) { all = all && s < known.size() && known[s]; });
  return all;
}

bool only_known(std::span<const Dim> dims, const std::vector<bool>& known) {
  for (Dim d : dims) {
    if (!only_known(d, known)) return false;
  }
  return true;
}

int64_t pure_symbol(Dim d) {
  if (d.is_constant() || d.expr()->terms.size() != 1) return -1;
  const DimTerm& term = d.expr()->terms[0];
  const bool pure = term.coefficient == 1 && term.atoms.size() == 1 && term.atoms[0]->op == DimOp::symbol;
  return pure ? int64_t(term.atoms[0]->symbol) : -1;
}

}  // namespace sx
