// SPDX-License-Identifier: MIT
#if defined(__linux__)
#include "weft/io/detail/descriptor.hpp"

#include <unistd.h>

#include <string>
#include <system_error>

#include "weft/io/socket.hpp"

namespace weft::detail {

descriptor::~descriptor() {
  // The result is ignored: an error of close concerns data written to a file, and this is no file.
  if (fd_ != none) ::close(fd_);
}

[[noreturn, gnu::cold]] void throw_io_error(int why, std::string const& what) {
  throw io_error(std::error_code(why, std::generic_category()), what);
}

}  // namespace weft::detail
#endif
