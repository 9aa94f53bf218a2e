// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"
#include "weft/sched/commands/commands.hpp"
#include "weft/sched/schedule.hpp"

/// Commands for tests, and dispatchers that answer them later.
namespace weft::tests {

/// Answered with a text.
struct resolve : command<std::string> {
  explicit resolve(std::string h) : host(std::move(h)) {}
  std::string host;
};
/// Answered with a number.
struct twice : command<int> {
  explicit twice(int n) : number(n) {}
  int number;
};
/// Answered with nothing.
struct nap : command<> {};

using all_commands = commands<resolve, twice, nap>;
using asking_processes = spawning<proc, all_commands>;
using asking_program = eff<void, asking_processes, proc, all_commands>;

/// The commands that are issued and not answered yet.  Thread safe.
template <class C>
class desk_of {
 public:
  using R = typename C::result;
  struct entry {
    entry(C c, reply<R> r) : asked(std::move(c)), answer(std::move(r)) {}
    C asked;
    reply<R> answer;
  };
  void put(C c, reply<R> r) {
    std::lock_guard const lock(mutex_);
    entries_.emplace_back(std::move(c), std::move(r));
  }
  [[nodiscard]] std::size_t size() const {
    std::lock_guard const lock(mutex_);
    return entries_.size();
  }
  /// Takes out the i-th entry.
  entry take(std::size_t i = 0) {
    std::lock_guard const lock(mutex_);
    entry e = std::move(entries_[i]);
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
    return e;
  }
  std::vector<entry> take_all() {
    std::lock_guard const lock(mutex_);
    return std::exchange(entries_, {});
  }

 private:
  mutable std::mutex mutex_;
  std::vector<entry> entries_;
};

/// A dispatcher that puts each command on the desk.
template <class C>
auto puts_on(desk_of<C>& desk) {
  return [&desk](C c, reply<typename C::result> r) { desk.put(std::move(c), std::move(r)); };
}
/// A dispatcher that answers `twice` at once.
inline void doubles(twice c, reply<int> r) { r.complete(2 * c.number); }

/// The answer of `f` as text, or the exception.
template <class R>
eff<std::string, completions> outcome_of(in_flight<R> f) {
  try {
    if constexpr (std::is_void_v<R>) {
      co_await f.wait();
      co_return "done";
    } else if constexpr (std::is_same_v<R, std::string>) {
      co_return co_await f.wait();
    } else {
      R const value = co_await f.wait();
      co_return std::to_string(value);
    }
  } catch (cancelled const&) {
    throw;
  } catch (std::exception const& e) {
    co_return e.what();
  }
}

}  // namespace weft::tests
