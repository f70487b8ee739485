// SPDX-License-Identifier: Apache-2.0
// --help and the man page.
#include "pages.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace sx::tools {
namespace {

constexpr std::pair<Group, const char*> kGroups[] = {
    {Group::look, "Look"}, {Group::edit, "Edit"}, {Group::run, "Run"}, {Group::shell, "Shell"}};

constexpr std::pair<const char*, const char*> kExits[] = {
    {"0", "done"},           {"1", "done, and the answer is no: problems were found, or models differ"},
    {"2", "wrong usage"},    {"3", "the input cannot be read, is refused, or changed while it was read"},
    {"4", "the run failed"}, {"130", "interrupted"}};

constexpr std::pair<const char*, const char*> kEnvironment[] = {
    {"SARDONYX_ISA", "the highest vector level to use: baseline, avx2 or avx512"},
    {"SARDONYX_THREADS", "how many threads to use where --threads does not say"},
    {"SARDONYX_LOG", "what to log on standard error: error, warn (unless said), info or debug"},
    {"NO_COLOR", "set to anything: no colours, as --color never"}};

// "-o, --output FILE"
std::string left_of(const Option& o) {
  if (o.is_argument()) return o.name + (o.is_repeated() ? "..." : "");
  return (o.letter ? format("-{}, ", o.letter) : "") + o.name + (o.is_flag() ? "" : " " + o.value);
}

std::string right_of(const Option& o) {
  std::string text = o.help;
  if (!o.choices.empty()) {
    text += ": ";
    for (const std::string& c : o.choices)
      text += (&c == &o.choices.front() ? "" : &c == &o.choices.back() ? " or " : ", ") + c;
  }
  if (o.is_repeated() && !o.is_argument()) text += "; may be given several times";
  if (!o.standard.empty()) text += format(" (default {})", o.standard);
  if (o.needed && !o.is_argument()) text += " (required)";
  return text;
}

// Text in lines of at most `width` columns; all but the first begin with `indent` spaces.
std::string wrapped(std::string_view text, size_t indent, size_t width) {
  std::string out;
  size_t column = indent;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const size_t columns = shown_width(word);
    if (column > indent && column + 1 + columns > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns;
    at = end + 1;
  }
  return out + "\n";
}

size_t page_width(const Terminal& out) { return std::clamp<size_t>(out.width(), 40, 80); }

using Lines = std::vector<std::pair<std::string, std::string>>;

std::string columns(const Lines& lines, size_t left, const Terminal& out, Style style) {
  std::string text;
  for (const auto& [a, b] : lines) {
    text += "  " + out.paint(style, a);
    const size_t used = 2 + shown_width(a);
    text += used + 2 > left ? "\n" + std::string(left, ' ') : std::string(left - used, ' ');
    text += wrapped(b, left, page_width(out));
  }
  return text;
}

Lines lines_of(const Options& options, bool arguments) {
  Lines lines;
  for (const Option& o : options.all()) {
    if (o.is_argument() == arguments) lines.emplace_back(left_of(o), right_of(o));
  }
  return lines;
}

}  // namespace

std::string_view version() { return SX_VERSION; }

std::string usage_line(const Command& command, const Options& options) {
  std::string line = "sardonyx " + command.name;
  for (const Option& o : options.all()) {
    if (o.is_argument()) line += " " + left_of(o);
  }
  for (const Option& o : options.all()) {
    if (!o.is_argument() && o.needed)
      line += format(" {} {}", o.letter ? format("-{}", o.letter) : o.name, o.value);
  }
  return line + " [options]";
}

std::string program_help(const Commands& commands, const Terminal& out) {
  const auto title = [&](const char* text) { return "\n" + out.paint(Style::bold, text) + "\n"; };
  std::string text = "Sardonyx reads, checks, shows, edits, runs and measures ONNX models.\n";
  text += title("Usage") + "  sardonyx VERB MODEL [options]\n";
  for (const auto& [group, name] : kGroups) {
    Lines lines;
    for (const auto& c : commands) {
      if (c->group == group) lines.emplace_back(c->name, c->summary);
    }
    text += title(name) + columns(lines, 14, out, Style::accent);
  }
  text += title("Start here");
  text += columns({{"sardonyx demo", "read a few handwritten digits"},
                   {"sardonyx info MODEL.onnx", "see what a model is"},
                   {"sardonyx run MODEL.onnx --random", "run it"},
                   {"sardonyx VERB --help", "options and an example"}},
                  36, out, Style::plain);
  return text;
}

std::string verb_help(Command& command, const Terminal& out) {
  const auto title = [&](const char* text) { return "\n" + out.paint(Style::bold, text) + "\n"; };
  Options options, everywhere;
  Common common;
  command.options(options);
  common.add(everywhere);
  std::string text = wrapped(format("sardonyx {}: {}", command.name, command.summary), 0, page_width(out));
  text += title("Usage") + "  " + usage_line(command, options) + "\n";
  size_t left = 0;
  for (const Options* table : {&options, &everywhere}) {
    for (const Option& o : table->all()) left = std::max(left, shown_width(left_of(o)) + 4);
  }
  left = std::min<size_t>(left, 28);
  if (const Lines lines = lines_of(options, true); !lines.empty())
    text += title("Arguments") + columns(lines, left, out, Style::accent);
  if (const Lines lines = lines_of(options, false); !lines.empty())
    text += title("Options") + columns(lines, left, out, Style::accent);
  text += title("Options of every verb") + columns(lines_of(everywhere, false), left, out, Style::accent);
  return text + title("Example") + "  " + command.example + "\n";
}

namespace {

std::string roff(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == 0 && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\')
      out += "\\e";
    else if (text[i] == '-')
      out += "\\-";
    else if (text[i] == '"')
      out += "\\(dq";
    else
      out += text[i];
  }
  return out;
}

std::string roff_options(const Options& options) {
  std::string text;
  for (const Option& o : options.all()) {
    text += ".TP\n";
    if (o.is_argument()) {
      text += format(".I {}\n", roff(left_of(o)));
    } else {
      text += ".B " + roff((o.letter ? format("-{}, ", o.letter) : "") + o.name) +
              (o.is_flag() ? "" : format(" \\fI{}\\fR", roff(o.value))) + "\n";
    }
    text += roff(right_of(o)) + "\n";
  }
  return text;
}

}  // namespace

std::string man_page(const Commands& commands) {
  std::string text = format(".TH SARDONYX 1 \"\" \"sardonyx {}\" \"User Commands\"\n", version());
  text += ".SH NAME\nsardonyx \\- read, check, show, edit, run and measure ONNX models\n";
  text += ".SH SYNOPSIS\n.B sardonyx\n.I VERB MODEL\n[\\fIoptions\\fR]\n";
  text +=
      ".SH DESCRIPTION\nOne program for ONNX models of any size. Results go to standard output, messages to "
      "standard error. A model given as \\- is read from standard input, a result for \\- goes to standard "
      "output. Output files appear whole or not at all.\n";
  for (const auto& [group, name] : kGroups) {
    text += format(".SH \"VERBS TO {}\"\n", group == Group::look   ? "LOOK AT A MODEL"
                                            : group == Group::edit ? "EDIT A MODEL"
                                            : group == Group::run  ? "RUN A MODEL"
                                                                   : "SET UP A SHELL");
    for (const auto& c : commands) {
      if (c->group != group) continue;
      Options options;
      c->options(options);
      std::string summary = c->summary;
      if (!summary.empty())
        summary[0] = char(summary[0] >= 'a' && summary[0] <= 'z' ? summary[0] - 32 : summary[0]);
      text += format(".SS \"{}\"\n{}.\n", roff(usage_line(*c, options)), roff(summary));
      text += roff_options(options);
      text += format(".PP\nExample:\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n", roff(c->example));
    }
  }
  Options everywhere;
  Common common;
  common.add(everywhere);
  text += ".SH \"OPTIONS OF EVERY VERB\"\n" + roff_options(everywhere);
  text += ".TP\n.B \\-\\-help\nexplain the verb\n.TP\n.B \\-\\-version\nprint the version; without a verb\n";
  text += ".SH \"EXIT STATUS\"\n";
  for (const auto& [code, meaning] : kExits) text += format(".TP\n.B {}\n{}\n", code, roff(meaning));
  text += ".SH ENVIRONMENT\n";
  for (const auto& [variable, meaning] : kEnvironment)
    text += format(".TP\n.B {}\n{}\n", variable, roff(meaning));
  return text;
}

}  // namespace sx::tools
