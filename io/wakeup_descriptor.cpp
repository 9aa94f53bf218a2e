// SPDX-License-Identifier: MIT
#if defined(__linux__)
#include "weft/io/wakeup_descriptor.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace weft {

wakeup_descriptor::wakeup_descriptor() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0)
    throw std::system_error(errno, std::generic_category(),
                            "weft: cannot make a wakeup_descriptor");
}
wakeup_descriptor::~wakeup_descriptor() { ::close(fd_); }

void wakeup_descriptor::notify() const noexcept { (void)::eventfd_write(fd_, 1); }
void wakeup_descriptor::clear() const noexcept {
  eventfd_t count = 0;
  (void)::eventfd_read(fd_, &count);
}

}  // namespace weft
#endif
