// SPDX-License-Identifier: MIT
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace weft::tests {

/// A temporary directory, which is removed with its files.
class own_directory {
 public:
  explicit own_directory(std::filesystem::path const& base = for_tests()) {
    std::string name = (base / "weft-test-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  own_directory(own_directory const&) = delete;
  own_directory& operator=(own_directory const&) = delete;
  ~own_directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(std::string const& name) const { return (path_ / name).string(); }

  /// Where tests are to make theirs: not every user may enter it.
  static std::filesystem::path for_tests() {
    char const* const given = std::getenv("TEST_TMPDIR");
    return given ? std::filesystem::path(given) : std::filesystem::temp_directory_path();
  }

 private:
  std::filesystem::path path_;
};

}  // namespace weft::tests
