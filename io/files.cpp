// SPDX-License-Identifier: MIT
#include "weft/io/files.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/io/blocking.hpp"
#include "weft/sched/sync/external_event.hpp"

namespace weft {

namespace {

struct closes_file {
  void operator()(std::FILE* f) const noexcept { (void)std::fclose(f); }
};
using open_file = std::unique_ptr<std::FILE, closes_file>;

[[noreturn]] void throw_file_error(char const* what, std::string const& path) {
  int const error = errno;
  throw std::system_error(error, std::generic_category(), std::string(what) + ' ' + path);
}
open_file opened(char const* what, std::string const& path, char const* mode) {
  open_file f(std::fopen(path.c_str(), mode));
  if (!f) throw_file_error(what, path);
  return f;
}
std::string read_whole_file(std::string const& path) {
  static constexpr char const* what = "weft: read_file";
  auto const f = opened(what, path, "rb");
  std::string all;
  char part[16384];
  for (;;) {
    std::size_t const n = std::fread(part, 1, sizeof part, f.get());
    all.append(part, n);
    if (n != sizeof part) break;
  }
  if (std::ferror(f.get())) throw_file_error(what, path);
  return all;
}
void write_whole_file(std::string const& path, std::string const& text) {
  static constexpr char const* what = "weft: write_file";
  auto f = opened(what, path, "wb");
  if (std::fwrite(text.data(), 1, text.size(), f.get()) != text.size())
    throw_file_error(what, path);
  if (std::fclose(f.release()) != 0) throw_file_error(what, path);  // fclose writes buffered data
}

}  // namespace

eff<std::string, blocking, completions> read_file(std::string path) {
  return off_thread(&read_whole_file, std::move(path));
}
eff<void, blocking, completions> write_file(std::string path, std::string text) {
  return off_thread(&write_whole_file, std::move(path), std::move(text));
}

}  // namespace weft
