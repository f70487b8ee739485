// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/format.h"
#include "onnx/display.h"

namespace sx::tools {

void Terminal::choose_color(const std::string& when) {
  const char* no_color = std::getenv("NO_COLOR");
  const bool always = when == "always", maybe = when == "auto" && !(no_color && *no_color);
  color_ = always || (maybe && ::isatty(1));
  error_color_ = always || (maybe && ::isatty(2));
}

namespace {
std::string painted(Style style, std::string_view text) {
  const char* code = "";
  switch (style) {
    case Style::bold: code = "1"; break;
    case Style::dim: code = "2"; break;
    case Style::good: code = "32"; break;
    case Style::bad: code = "31"; break;
    case Style::warn: code = "33"; break;
    case Style::accent: code = "36"; break;
    case Style::plain: break;
  }
  return format("\x1b[{}m{}\x1b[0m", code, text);
}
}  // namespace

std::string Terminal::paint(Style style, std::string_view text) const {
  return !color_ || style == Style::plain ? std::string(text) : painted(style, text);
}

std::string Terminal::paint_error(Style style, std::string_view text) const {
  return !error_color_ || style == Style::plain ? std::string(text) : painted(style, text);
}

void Terminal::print(std::string_view text) {
  if (!text.empty()) std::fwrite(text.data(), 1, text.size(), stdout);
}

void Terminal::line(std::string_view text) {
  print(text);
  print("\n");
}

void Terminal::note(std::string_view text) {
  end_progress();
  std::fflush(stdout);
  std::fprintf(stderr, "%.*s\n", int(text.size()), text.data());
}

void Terminal::progress(std::string_view text) {
  if (!shows_progress()) return;
  const std::string cut = shorten(text, width() - 1);
  std::fprintf(stderr, "\r\x1b[K%s", cut.c_str());
  std::fflush(stderr);
  progress_shown_ = true;
}

bool Terminal::shows_progress() const { return !quiet && ::isatty(2); }

void Terminal::end_progress() {
  if (!progress_shown_) return;
  std::fprintf(stderr, "\r\x1b[K");
  std::fflush(stderr);
  progress_shown_ = false;
}

size_t Terminal::limit() const {
  winsize size{};
  if (::ioctl(1, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col;
  const char* columns = std::getenv("COLUMNS");
  const long given = columns ? std::strtol(columns, nullptr, 10) : 0;
  return given > 20 && given < 10000 ? size_t(given) : SIZE_MAX;
}

size_t Terminal::width() const { return std::min<size_t>(limit(), 120); }

void Table::row(std::vector<std::string> cells, Style style) { rows_.push_back({std::move(cells), style}); }

namespace {
// Takes from the widest column, again and again, what is too much for the line.
void fit(std::vector<size_t>& widths, size_t limit) {
  constexpr size_t kLeast = 8;
  size_t total = 2 * (widths.size() - 1);
  for (size_t w : widths) total += w;
  while (total > limit) {
    size_t& widest = *std::max_element(widths.begin(), widths.end());
    if (widest <= kLeast) return;
    --widest;
    --total;
  }
}
}  // namespace

void Table::print(Terminal& out) const {
  std::vector<size_t> widths(header_.size());
  for (size_t c = 0; c < header_.size(); ++c) widths[c] = shown_width(header_[c]);
  for (const Row& r : rows_) {
    for (size_t c = 0; c < r.cells.size() && c < widths.size(); ++c)
      widths[c] = std::max(widths[c], shown_width(r.cells[c]));
  }
  fit(widths, out.limit());
  auto text = [&](const std::vector<std::string>& cells) {
    std::string all;
    for (size_t c = 0; c < widths.size(); ++c) {
      const std::string cell = c < cells.size() ? shorten(cells[c], widths[c]) : "";
      const std::string pad(widths[c] - std::min(widths[c], shown_width(cell)), ' ');
      const bool right = c < right_.size() && right_[c];
      if (c > 0) all += "  ";
      all += right ? pad + cell : cell + pad;
    }
    all.erase(all.find_last_not_of(' ') + 1);
    return all;
  };
  out.line(out.paint(Style::dim, text(header_)));
  for (const Row& r : rows_) out.line(out.paint(r.style, text(r.cells)));
}

std::string escaped(std::string_view text) { return onnx::escaped(text); }

size_t shown_width(std::string_view text) {
  size_t columns = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      while (i < text.size() && text[i] != 'm') ++i;
      continue;
    }
    columns += (uint8_t(text[i]) & 0xc0) != 0x80;
  }
  return columns;
}

std::string shorten(std::string_view text, size_t width) {
  if (shown_width(text) <= width) return std::string(text);
  std::string cut;
  size_t columns = 0;
  bool painted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      painted = true;
      do cut += text[i];
      while (text[i] != 'm' && ++i < text.size());
      continue;
    }
    const bool begins = (uint8_t(text[i]) & 0xc0) != 0x80;
    if (begins && ++columns >= width) break;
    cut += text[i];
  }
  return cut + "…" + (painted ? "\x1b[0m" : "");
}

namespace {
std::string scaled(double value, const char* const* units, double step) {
  int i = 0;
  while (value >= step && units[i + 1]) {
    value /= step;
    ++i;
  }
  if (value >= 100 || i == 0) return format("{:.0f} {}", value, units[i]);
  return value >= 10 ? format("{:.1f} {}", value, units[i]) : format("{:.2f} {}", value, units[i]);
}
}  // namespace

std::string bytes_text(double bytes) {
  static const char* const kUnits[] = {"B", "kB", "MB", "GB", "TB", nullptr};
  return scaled(bytes, kUnits, 1000);
}

std::string count_text(double count) {
  static const char* const kUnits[] = {"", "k", "M", "G", "T", nullptr};
  std::string text = scaled(count, kUnits, 1000);
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string time_text(double seconds) {
  if (seconds < 1e-6) return format("{:.0f} ns", seconds * 1e9);
  if (seconds < 1e-3) return format("{:.1f} µs", seconds * 1e6);
  if (seconds < 1) return format("{:.2f} ms", seconds * 1e3);
  return format("{:.2f} s", seconds);
}

}  // namespace sx::tools
