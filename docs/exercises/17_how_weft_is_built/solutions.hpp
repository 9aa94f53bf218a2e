// SPDX-License-Identifier: MIT
#pragma once

// Solutions of the exercises of docs/17_how_weft_is_built.md.

#include <coroutine>
#include <cstddef>
#include <deque>
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
inline std::string written_by_four() { return "abBcAdbcd"; }

// Exercise 2 (*): a variable.  `get` is answered with the number that was put last, or with `value`.
struct get : op<int> {};
struct put : op<void> {
  explicit put(int n) : number(n) {}
  int number;
};
struct variable {
  int value = 0;
  int on(get) { return value; }
  void on(put p) { value = p.number; }
};

// Exercise 3 (**): a scheduler on which `stop` ends the process that performs it.
struct stop : op<void> {};
class stopping_scheduler {
 public:
  void on(yield, resumption<void, void> k) { queue_.put(box(std::move(k))); }
  void on(stop, resumption<void, void>) {}

  void start(eff<void> process) { queue_.put(handle<yield, stop>(*this, std::move(process))); }
  void run_all() { queue_.run_all(); }

 private:
  scheduler queue_;
};

// Exercise 4 (**): the number of frames in a continuation, from its leaf to that of `handle`.
template <class R, class A>
int depth(resumption<R, A> const& k) {
  int n = 1;
  for (std::coroutine_handle<> h = k.leaf(); h != k.base(); h = frame_of(h).parent) ++n;
  return n;
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
  void on(send s) {
    if (waiting_.empty()) {
      sent_.push_back(s.number);
    } else {
      queue_.put(box(std::move(waiting_.front()), s.number));
      waiting_.pop_front();
    }
  }
  void on(receive, resumption<int, void> k) {
    if (sent_.empty()) {
      waiting_.push_back(std::move(k));
    } else {
      queue_.put(box(std::move(k), sent_.front()));
      sent_.pop_front();
    }
  }

  void start(eff<void> process) {
    queue_.put(handle<yield, send, receive>(*this, std::move(process)));
  }
  void run_all() {
    queue_.run_all();
    waiting_.clear();
  }

 private:
  scheduler queue_;
  std::deque<int> sent_;
  std::deque<resumption<int, void>> waiting_;  // while no number is left
};

// Exercise 6 (***): the results of a body under every sequence of answers to `flip`, true first.
struct flip : op<bool> {};
struct given_answers {
  std::vector<bool> answers;  // of this run; new ones are true
  std::size_t next = 0;
  bool on(flip) {
    if (next == answers.size()) answers.push_back(true);
    return answers[next++];
  }
};
inline std::vector<int> all_ways(eff<int> (*body)()) {
  std::vector<int> results;
  for (given_answers g;; g.next = 0) {
    results.push_back(run(handle<flip>(g, body())));
    while (!g.answers.empty() && !g.answers.back()) g.answers.pop_back();
    if (g.answers.empty()) return results;
    g.answers.back() = false;
  }
}

}  // namespace how_weft_is_built
