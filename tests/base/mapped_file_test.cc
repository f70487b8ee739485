// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

using namespace sx;

namespace {

// A file of four bytes that is gone with the object.
struct Scratch {
  std::string path = std::filesystem::temp_directory_path() / "mapped_file_test_XXXXXX";
  int fd = ::mkstemp(path.data());
  Scratch() { REQUIRE(::write(fd, "four", 4) == 4); }
  ~Scratch() {
    ::close(fd);
    ::unlink(path.c_str());
  }
  std::string refused(int descriptor, LoadMode mode) const {
    const auto file = MappedFile::from_descriptor(descriptor, path, mode);
    REQUIRE(!file.ok());
    return file.status().to_string();
  }
};

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a file is mapped or copied") {
  const Scratch scratch;
  for (LoadMode mode : {LoadMode::map, LoadMode::copy}) {
    const auto file = MappedFile::open(scratch.path, mode);
    REQUIRE(file.ok());
    REQUIRE((*file)->bytes().size() == 4);
    CHECK((*file)->bytes()[3] == 'r');
  }
  // A copy stays what it was when the file does not.
  const auto file = MappedFile::open(scratch.path, LoadMode::copy);
  REQUIRE(file.ok());
  REQUIRE(::ftruncate(scratch.fd, 0) == 0);
  CHECK((*file)->bytes()[3] == 'r');
}

TEST_CASE("a copy that ends too early, and files that cannot be read") {
  const Scratch scratch;  // its descriptor stands behind the four bytes
  CHECK(has(scratch.refused(scratch.fd, LoadMode::copy), "the file shrank while it was read: 0 of 4 bytes"));
  const int blind = ::open(scratch.path.c_str(), O_WRONLY);
  CHECK(has(scratch.refused(blind, LoadMode::copy), "cannot read"));
  CHECK(has(scratch.refused(blind, LoadMode::map), "cannot map 4 bytes"));
  ::close(blind);
  CHECK(has(scratch.refused(-1, LoadMode::map), "cannot stat"));
}

TEST_CASE("a name with a NUL byte is not cut at it") {
  const Scratch scratch;
  const auto file = MappedFile::open(scratch.path + '\0' + "more");
  REQUIRE(!file.ok());
  CHECK(has(file.status().to_string(), "NUL"));
}
