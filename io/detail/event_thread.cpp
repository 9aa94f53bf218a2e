// SPDX-License-Identifier: MIT
#if defined(__linux__)
#include "weft/io/detail/event_thread.hpp"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>
#include <utility>

#include "weft/io/detail/descriptor.hpp"
#include "weft/io/detail/socket_table.hpp"
#include "weft/io/socket.hpp"

namespace weft::detail {

namespace {

constexpr std::uint64_t the_end = ~std::uint64_t{0};

void report(epoll_event const& e, socket_table const& table) noexcept {
  bool const is_over = (e.events & (EPOLLHUP | EPOLLERR)) != 0;
  // `is_last`: the end of the stream, or out-of-band data (READY-4).
  bool const is_last = is_over || (e.events & (EPOLLRDHUP | EPOLLPRI)) != 0;
  table.find(static_cast<std::uint32_t>(e.data.u64))
      ->happens(static_cast<std::uint32_t>(e.data.u64 >> 32), is_last || (e.events & EPOLLIN) != 0,
                is_over || (e.events & EPOLLOUT) != 0, is_last);
}

}  // namespace

event_thread::event_thread(socket_table& t)
    : table_(t),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      end_(epoll_ ? ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1) {
  epoll_event e{};
  e.events = EPOLLIN;
  e.data.u64 = the_end;
  if (!end_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, end_.get(), &e) != 0)
    throw_io_error(errno, "begin a reactor");
  // The thread starts with all signals blocked: signals are for the program's own threads.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
event_thread::~event_thread() {
  if (!home_.is_here()) {  // in a child, after fork(2), this leaks the parent's thread
    alignas(std::thread) static std::byte kept[sizeof(std::thread)];
    ::new (static_cast<void*>(kept)) std::thread(std::move(thread_));
    return;
  }
  ::eventfd_write(end_.get(), 1);
  thread_.join();
}

bool event_thread::add(int fd, socket_id s) noexcept {
  epoll_event e{};
  e.events = EPOLLIN | EPOLLPRI | EPOLLRDHUP | EPOLLOUT | EPOLLET;
  e.data.u64 = std::uint64_t{s.number} << 32 | s.place;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &e) == 0;
}

void event_thread::run() noexcept {
  std::array<epoll_event, 512> events;
  for (;;) {
    int const n = uninterrupted([&] {
      return ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), -1);
    });
    for (int i = 0; i < n; ++i) {
      epoll_event const& e = events[static_cast<std::size_t>(i)];
      if (e.data.u64 == the_end) return;
      report(e, table_);
    }
    std::this_thread::yield();  // more events arrive meanwhile
  }
}

}  // namespace weft::detail
#endif
