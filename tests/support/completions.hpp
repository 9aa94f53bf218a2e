// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>

#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

/// A process that waits for a completion.
namespace weft::tests {

/// Stores the value that comes as text, or the exception.
template <class T>
eff<void, proc, completions> takes(completion<T> from, std::reference_wrapper<std::string> to) {
  try {
    if constexpr (std::is_void_v<T>) {
      co_await from.wait();
      to.get() = "done";
    } else {
      T const value = co_await from.wait();
      to.get() = std::to_string(value);
    }
  } catch (cancelled const&) {
    to.get() = "cancelled";
    throw;
  } catch (std::exception const& e) {
    to.get() = e.what();
  }
}

}  // namespace weft::tests
