// SPDX-License-Identifier: Apache-2.0
#include "base/utf8.h"

#include <doctest/doctest.h>

using namespace sx;
using namespace std::string_view_literals;

TEST_CASE("the edges of each length") {
  struct Edge {
    std::string_view bytes;
    uint32_t code;
  };
  constexpr Edge kEdges[] = {{"\0"sv, 0},
                             {"\x7f"sv, 0x7f},
                             {"\xc2\x80"sv, 0x80},
                             {"\xdf\xbf"sv, 0x7ff},
                             {"\xe0\xa0\x80"sv, 0x800},
                             {"\xed\x9f\xbf"sv, 0xd7ff},
                             {"\xee\x80\x80"sv, 0xe000},
                             {"\xef\xbf\xbf"sv, 0xffff},
                             {"\xf0\x90\x80\x80"sv, 0x10000},
                             {"\xf4\x8f\xbf\xbf"sv, 0x10ffff}};
  for (const Edge& e : kEdges) {
    CAPTURE(e.code);
    const Utf8Char c = first_char(std::string(e.bytes) + "more");
    CHECK(c.code == e.code);
    CHECK(c.bytes == e.bytes.size());
    std::string written;
    append_utf8(written, e.code);
    CHECK(written == e.bytes);
  }
}

TEST_CASE("every code point comes back") {
  for (uint32_t code = 0; code <= 0x10ffff; ++code) {
    std::string bytes;
    append_utf8(bytes, code);
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    const Utf8Char c = first_char(bytes, Surrogates::taken);
    if (c.code != code || c.bytes != bytes.size() || is_utf8(bytes) == surrogate) FAIL("code point ", code);
  }
}

TEST_CASE("what is not well-formed") {
  for (std::string_view bytes :
       {""sv, "\x80"sv, "\xbf"sv, "\xc0\xaf"sv, "\xc1\xbf"sv, "\xc2"sv, "\xc2 "sv, "\xe0\x80\xaf"sv,
        "\xe0\x9f\xbf"sv, "\xe2\x82"sv, "\xed\xa0\x80"sv, "\xed\xbf\xbf"sv, "\xf0\x80\x80\xaf"sv,
        "\xf0\x8f\xbf\xbf"sv, "\xf4\x90\x80\x80"sv, "\xf5\x80\x80\x80"sv, "\xff"sv, "\xf0\x90\x80"sv}) {
    CAPTURE(std::string(bytes));
    CHECK(first_char(bytes).bytes == 0);
    CHECK(is_utf8(bytes) == bytes.empty());
    CHECK(!is_utf8("good" + std::string(bytes) + "\xff"));
  }
}
