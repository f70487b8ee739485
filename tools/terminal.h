// SPDX-License-Identifier: Apache-2.0
// Terminal: tables, colours and progress for people; nothing but plain text in a pipe.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sx::tools {

enum class Style : uint8_t { plain, bold, dim, good, bad, warn, accent };

class Terminal {
 public:
  Terminal() = default;
  void choose_color(const std::string& when);  // auto, always, never
  std::string paint(Style style, std::string_view text) const;
  std::string paint_error(Style style, std::string_view text) const;  // for standard error
  void print(std::string_view text);                                  // standard output, as it is
  void line(std::string_view text = {});
  void note(std::string_view text);      // standard error
  void progress(std::string_view text);  // one line on a terminal, rewritten; nothing in a pipe
  void end_progress();
  bool shows_progress() const;
  size_t width() const;  // for pages of text
  size_t limit() const;  // lines of a table may be this wide: as the terminal, or as they like in a pipe
  bool quiet = false;

 private:
  bool color_ = false, error_color_ = false, progress_shown_ = false;
};

class Table {
 public:
  explicit Table(std::vector<std::string> header, std::vector<bool> right = {})
      : header_(std::move(header)), right_(std::move(right)) {}
  void row(std::vector<std::string> cells, Style style = Style::plain);
  void print(Terminal& out) const;
  size_t rows() const { return rows_.size(); }

 private:
  struct Row {
    std::vector<std::string> cells;
    Style style;
  };
  std::vector<std::string> header_;
  std::vector<bool> right_;
  std::vector<Row> rows_;
};

std::string escaped(std::string_view text);  // control characters made visible
size_t shown_width(std::string_view text);   // columns that UTF-8 text takes, escape codes not counted
std::string shorten(std::string_view text, size_t width);
std::string bytes_text(double bytes);   // "97.8 MB"
std::string count_text(double count);   // "25.6 M"
std::string time_text(double seconds);  // "3.42 ms"

}  // namespace sx::tools
