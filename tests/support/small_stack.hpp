// SPDX-License-Identifier: MIT
#pragma once

#include <pthread.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <system_error>

namespace weft::tests {

/// Runs `f` to its end on a thread with a stack of `bytes`, and rethrows its exception.  A
/// recursion a million deep crashes here.
inline void on_small_stack(std::size_t bytes, std::function<void()> f) {
  struct call {
    std::function<void()> f;
    std::exception_ptr error;
  } c{std::move(f), nullptr};

  auto const check = [](int error) {
    if (error != 0) throw std::system_error(error, std::generic_category(), "pthread");
  };
  pthread_attr_t attributes;
  check(pthread_attr_init(&attributes));
  check(pthread_attr_setstacksize(&attributes, bytes));
  pthread_t thread;
  int const created = pthread_create(
      &thread, &attributes,
      [](void* p) -> void* {
        auto& it = *static_cast<call*>(p);
        try {
          it.f();
        } catch (...) {
          it.error = std::current_exception();
        }
        return nullptr;
      },
      &c);
  pthread_attr_destroy(&attributes);
  check(created);
  check(pthread_join(thread, nullptr));
  if (c.error) std::rethrow_exception(c.error);
}

}  // namespace weft::tests
