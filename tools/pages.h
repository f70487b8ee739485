// SPDX-License-Identifier: Apache-2.0
// What the table of verbs and options looks like to people and to shells.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"

namespace sx::tools {

using Commands = std::vector<std::unique_ptr<Command>>;

std::string_view version();
std::string program_help(const Commands& commands, const Terminal& out);
std::string verb_help(Command& command, const Terminal& out);
std::string usage_line(const Command& command, const Options& options);  // "sardonyx info MODEL [options]"
std::string man_page(const Commands& commands);                          // roff
std::string completion_script(const Commands& commands, std::string_view shell);  // bash, zsh or fish

}  // namespace sx::tools
