// SPDX-License-Identifier: MIT
#pragma once

// The exercises of docs/17_how_weft_is_built.md.  Complete each function; its test says what it must do.

#include <string>
#include <utility>
#include <vector>

#include "docs/exercises/17_how_weft_is_built/small_weft.hpp"

namespace how_weft_is_built {

using namespace small_weft;

// Exercise 1 (*): what do the four processes of `four` write?  Write it down before you run it.
inline eff<void> write_twice(char letter, std::string& out) {
  out += letter;
  co_await yield();
  out += letter;
}
inline eff<void> write_and_spawn(std::string& out) {
  out += 'b';
  co_await spawn(write_twice('d', out));
  out += 'B';
  co_await yield();
  out += 'b';
}
inline eff<void> four(std::string& out) {
  co_await spawn(write_and_spawn(out));
  co_await spawn(write_twice('c', out));
  out += 'a';
  co_await yield();
  out += 'A';
}
inline std::string written_by_four() { return "a"; }

// Exercise 2 (*): a variable.  `get` is answered with the number that was put last, or with `value`.
struct get : op<int> {};
struct put : op<void> {
  explicit put(int n) : number(n) {}
  int number;
};
struct variable {
  int value = 0;
  int on(get) { return 0; }
  void on(put) {}
};

// Exercise 3 (**): a scheduler on which `stop` ends the process that performs it.
struct stop : op<void> {};
class stopping_scheduler {
 public:
  void on(yield, resumption<void, void> k) { queue_.put(box(std::move(k))); }
  void on(stop) {}

  void start(eff<void> process) { queue_.put(handle<yield, stop>(*this, std::move(process))); }
  void run_all() { queue_.run_all(); }

 private:
  scheduler queue_;
};

// Exercise 4 (**): the number of frames in a continuation, from its leaf to that of `handle`.
template <class R, class A>
int depth(resumption<R, A> const&) {
  return 0;
}

// Exercise 5 (***): processes that send each other numbers.  `receive` is answered with the oldest
// number that was sent and not received; if there is none, the process waits for the next one.
struct send : op<void> {
  explicit send(int n) : number(n) {}
  int number;
};
struct receive : op<int> {};
class post {
 public:
  void on(yield, resumption<void, void> k) { queue_.put(box(std::move(k))); }
  void on(send) {}
  int on(receive) { return 0; }

  void start(eff<void> process) {
    queue_.put(handle<yield, send, receive>(*this, std::move(process)));
  }
  void run_all() { queue_.run_all(); }

 private:
  scheduler queue_;
};

// Exercise 6 (***): the results of a body under every sequence of answers to `flip`, true first.
struct flip : op<bool> {};
inline std::vector<int> all_ways(eff<int> (*body)()) {
  (void)body;
  return {};
}

}  // namespace how_weft_is_built
