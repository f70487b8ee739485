// SPDX-License-Identifier: Apache-2.0
#include "base/mapped_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

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

TEST_CASE("where a descriptor stands does not matter; files that cannot be read") {
  const Scratch scratch;  // its descriptor stands behind the four bytes
  const auto whole = MappedFile::from_descriptor(scratch.fd, scratch.path, LoadMode::copy);
  REQUIRE(whole.ok());
  CHECK(std::string((*whole)->bytes().begin(), (*whole)->bytes().end()) == "four");
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

TEST_CASE("bytes are copied out of the file by its path, as long as that leads to the file") {
  Scratch scratch;
  constexpr size_t kBytes = (size_t{3} << 20) + 5;  // in several pieces
  std::vector<uint8_t> there(kBytes), here(kBytes - 7);
  for (size_t i = 0; i < kBytes; ++i) there[i] = uint8_t(i * 37 >> 8 ^ i);
  REQUIRE(::pwrite(scratch.fd, there.data(), kBytes, 0) == ssize_t(kBytes));
  const auto file = MappedFile::open(scratch.path), copy = MappedFile::open(scratch.path, LoadMode::copy);
  REQUIRE((file.ok() && copy.ok()));
  Serial serial;
  const auto same = [&] { return std::equal(here.begin(), here.end(), there.begin() + 3); };
  CHECK(*(*file)->copy_out(3, here, serial));
  CHECK(same());
  CHECK_FALSE(*(*copy)->copy_out(3, here, serial));  // it is in memory already

  const std::string other = scratch.path + ".other";
  REQUIRE(::rename(scratch.path.c_str(), other.c_str()) == 0);
  CHECK_FALSE(*(*file)->copy_out(3, here, serial));  // nothing is there
  const int impostor = ::open(scratch.path.c_str(), O_CREAT | O_WRONLY | O_EXCL, 0600);
  REQUIRE(::write(impostor, "four", 4) == 4);
  CHECK_FALSE(*(*file)->copy_out(3, here, serial));  // another file is there
  ::close(impostor);
  REQUIRE(::rename(other.c_str(), scratch.path.c_str()) == 0);
  CHECK(*(*file)->copy_out(3, here, serial));

  REQUIRE(::ftruncate(scratch.fd, off_t(kBytes / 2)) == 0);
  const auto cut = (*file)->copy_out(3, here, serial);
  REQUIRE_FALSE(cut.ok());
  CHECK(has(cut.status().to_string(),
            "the file shrank while it was read: it ends at byte 1572866, expected 2097155 or more"));
}
