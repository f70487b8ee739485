// SPDX-License-Identifier: Apache-2.0
// sardonyx man: the manual page of all verbs, in roff.
#include "command.h"
#include "pages.h"

namespace sx::tools::commands {
namespace {

class Man final : public Command {
 public:
  Man() {
    name = "man";
    summary = "print the manual page, for man -l - or an installation";
    example = "sardonyx man | man -l -";
    group = Group::shell;
  }
  void options(Options&) override {}
  Outcome run(const Common&, Terminal& out) override {
    out.print(man_page(all_commands()));
    return done();
  }
};

}  // namespace
std::unique_ptr<Command> man() { return std::make_unique<Man>(); }
}  // namespace sx::tools::commands
