// SPDX-License-Identifier: Apache-2.0
// Completion scripts for bash, zsh and fish, written out of the table of options.
#include <algorithm>

#include "base/format.h"
#include "pages.h"

namespace sx::tools {
namespace {

struct Verb {
  Command* command;
  Options options;
};

// Each verb with its own options and those of every verb.
std::vector<Verb> verbs_of(const Commands& commands, Common& common) {
  std::vector<Verb> verbs;
  for (const auto& c : commands) {
    Verb& v = verbs.emplace_back();
    v.command = c.get();
    c->options(v.options);
    common.add(v.options);
  }
  return verbs;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : " ") + w;
  return text;
}

// In single quotes, as all three shells read them.
std::string quoted(std::string_view text, bool fish = false) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'')
      out += fish ? "\\'" : "'\\''";
    else if (c == '\\' && fish)
      out += "\\\\";
    else
      out += c;
  }
  return out + "'";
}

std::string option_names(const Options& options) {
  std::string text;
  for (const Option& o : options.all()) {
    if (o.is_argument()) continue;
    text += (text.empty() ? "" : " ") + o.name;
    if (o.letter) text += format(" -{}", o.letter);
  }
  return text + " --help";
}

// What to complete for a value: `choices:a b`, `model`, `file`, `folder`, or `none`.
std::string kind_of(const Option& o) {
  if (!o.choices.empty()) return "choices:" + joined(o.choices);
  switch (o.takes) {
    case Takes::model: return "model";
    case Takes::named_file: return "named";
    case Takes::folder: return "folder";
    case Takes::file:
    case Takes::new_file:
    case Takes::path: return "file";
    case Takes::text: return "none";
  }
  return "none";
}

std::string case_lines(const std::vector<Verb>& verbs) {
  std::string text;
  for (const Verb& v : verbs) {
    for (const Option& o : v.options.all()) {
      if (o.is_flag() || o.is_argument()) continue;
      text += format("    {}:{}", v.command->name, o.name);
      if (o.letter) text += format("|{}:-{}", v.command->name, o.letter);
      text += format(") kind={} ;;\n", quoted(kind_of(o)));
    }
  }
  return text;
}

std::string argument_lines(const std::vector<Verb>& verbs) {
  std::string text;
  for (const Verb& v : verbs) {
    for (const Option& o : v.options.all()) {
      if (!o.is_argument()) continue;
      text += format("    {}) kind={} ;;\n", v.command->name, quoted(kind_of(o)));
      break;
    }
  }
  return text;
}

constexpr const char* kBashEnd = R"(
  case $kind in
    none) return ;;
    choices:*) COMPREPLY=($(compgen -W "${kind#choices:}" -- "$word")); return ;;
    named) word=${word##*=} ;;
  esac
  # Names of files, one a line: they may have spaces.
  IFS=$'\n'
  compopt -o filenames 2>/dev/null
  case $kind in
    folder) COMPREPLY=($(compgen -d -- "$word")) ;;
    model) COMPREPLY=($(compgen -f -X '!*.onnx' -- "$word") $(compgen -d -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -F _sardonyx sardonyx
)";

std::string bash(const std::vector<Verb>& verbs) {
  std::string names, options;
  for (const Verb& v : verbs) {
    names += (names.empty() ? "" : " ") + v.command->name;
    options += format("      {}) words={} ;;\n", v.command->name, quoted(option_names(v.options)));
  }
  std::string text =
      "# bash completion of sardonyx; made by `sardonyx completion bash`\n_sardonyx() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} words= "
      "kind=\n"
      "  local IFS=$' \\t\\n'\n"
      "  COMPREPLY=()\n"
      "  if ((COMP_CWORD == 1)); then\n";
  text += format("    COMPREPLY=($(compgen -W {} -- \"$word\"))\n    return\n  fi\n",
                 quoted(names + " --help --version"));
  text +=
      "  # bash cuts words at '=': --color=al comes as three, --input x=file as four\n"
      "  local at=COMP_CWORD\n"
      "  if [[ $word == '=' ]]; then word=; elif [[ $last == '=' ]]; then ((--at)); fi\n"
      "  if [[ ${COMP_WORDS[at]} == '=' ]]; then\n"
      "    last=${COMP_WORDS[at-1]}\n"
      "    [[ $last == -* ]] || last=${COMP_WORDS[at-2]}\n"
      "  fi\n"
      "  case $verb:$last in\n" +
      case_lines(verbs) + "  esac\n";
  text += "  if [[ -z $kind && $word == -* ]]; then\n    case $verb in\n" + options +
          "    esac\n    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n    return\n  fi\n";
  text += "  [[ -n $kind ]] || case $verb in\n" + argument_lines(verbs) + "  esac";
  return text + kBashEnd;
}

// In zsh's _arguments a colon or a bracket in a text needs a backslash.
std::string zsh_text(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_action(const Option& o) {
  if (!o.choices.empty()) return "(" + joined(o.choices) + ")";
  switch (o.takes) {
    case Takes::model: return "_files -g \"*.onnx(-.)\"";
    case Takes::folder: return "_files -/";
    case Takes::text: return "";
    default: return "_files";
  }
}

std::string zsh(const std::vector<Verb>& verbs) {
  std::string text =
      "#compdef sardonyx\n# zsh completion of sardonyx; made by `sardonyx completion zsh`\n_sardonyx() {\n"
      "  local -a verbs\n  verbs=(\n";
  for (const Verb& v : verbs)
    text += "    " + quoted(format("{}:{}", v.command->name, zsh_text(v.command->summary))) + "\n";
  text +=
      "  )\n  if ((CURRENT == 2)); then\n    _describe verb verbs\n    return\n  fi\n"
      "  local verb=${words[2]}\n  shift words\n  ((CURRENT--))\n  case $verb in\n";
  for (const Verb& v : verbs) {
    text += format("    {})\n      _arguments \\\n", v.command->name);
    for (const Option& o : v.options.all()) {
      if (o.is_argument()) {
        text += "        " +
                quoted(format("{}:{}:{}", o.is_repeated() ? "*" : "", zsh_text(o.name), zsh_action(o)));
      } else {
        const std::string value = o.is_flag() ? "" : format(":{}:{}", zsh_text(o.value), zsh_action(o));
        const std::string many = o.is_repeated() ? "*" : "";
        if (o.letter)
          text +=
              "        " + quoted(format("{}-{}[{}]{}", many, o.letter, zsh_text(o.help), value)) + " \\\n";
        text += "        " + quoted(format("{}{}[{}]{}", many, o.name, zsh_text(o.help), value));
      }
      text += " \\\n";
    }
    text += "        '--help[explain the verb]' ;;\n";
  }
  return text +
         "  esac\n}\nif [ \"$funcstack[1]\" = _sardonyx ]; then _sardonyx \"$@\"; else compdef _sardonyx "
         "sardonyx; fi\n";
}

std::string fish(const std::vector<Verb>& verbs) {
  std::string text =
      "# fish completion of sardonyx; made by `sardonyx completion fish`\ncomplete -c sardonyx -f\n"
      "complete -c sardonyx -n __fish_use_subcommand -l help -d 'list the verbs'\n"
      "complete -c sardonyx -n __fish_use_subcommand -l version -d 'print the version'\n";
  for (const Verb& v : verbs) {
    text += format("complete -c sardonyx -n __fish_use_subcommand -a {} -d {}\n", v.command->name,
                   quoted(v.command->summary, true));
    const std::string here =
        format("complete -c sardonyx -n '__fish_seen_subcommand_from {}'", v.command->name);
    for (const Option& o : v.options.all()) {
      if (o.is_argument()) {
        if (!o.choices.empty())
          text += here + " -a " + quoted(joined(o.choices), true) + "\n";
        else if (o.takes != Takes::text)
          text += here + " -F\n";
        continue;
      }
      text += here + format(" -l {}", o.name.substr(2));
      if (o.letter) text += format(" -s {}", o.letter);
      if (!o.choices.empty())
        text += " -x -a " + quoted(joined(o.choices), true);
      else if (!o.is_flag())
        text += o.takes == Takes::text ? " -x" : " -r -F";
      text += " -d " + quoted(o.help, true) + "\n";
    }
  }
  return text;
}

}  // namespace

std::string completion_script(const Commands& commands, std::string_view shell) {
  Common common;
  const std::vector<Verb> verbs = verbs_of(commands, common);
  return shell == "zsh" ? zsh(verbs) : shell == "fish" ? fish(verbs) : bash(verbs);
}

}  // namespace sx::tools
