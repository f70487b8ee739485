// SPDX-License-Identifier: Apache-2.0
// sardonyx completion: a script that teaches a shell our verbs and options.
#include "command.h"
#include "pages.h"

namespace sx::tools::commands {
namespace {

class Completion final : public Command {
 public:
  Completion() {
    name = "completion";
    summary = "print a completion script for bash, zsh or fish";
    example = "source <(sardonyx completion bash)";
    group = Group::shell;
  }
  void options(Options& o) override {
    o.argument("SHELL", shell_, "whose script").one_of({"bash", "zsh", "fish"});
  }
  Outcome run(const Common&, Terminal& out) override {
    out.print(completion_script(all_commands(), shell_));
    return done();
  }

 private:
  std::string shell_;
};

}  // namespace
std::unique_ptr<Command> completion() { return std::make_unique<Completion>(); }
}  // namespace sx::tools::commands
