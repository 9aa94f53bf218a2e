// SPDX-License-Identifier: MIT
#pragma once

// Solutions of the exercises of docs/10_what_a_resumption_is.md.

#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/effects.hpp"

namespace what_a_resumption_is {

using namespace weft;

struct advice {
  struct [[nodiscard]] ask : op<int> {
    explicit ask(std::string q) : question(std::move(q)) {}
    std::string question;
  };
  using operations = op_list<ask>;
};

// Exercise 1 (*): the clause throws, and does nothing with its resumption.  Which of the events
// "rucksack", "trunk", "caught inside" and "caught outside" happen, in which order?
using events = std::vector<std::string>;
class luggage {
 public:
  luggage(events& log, std::string what) : log_(log), what_(std::move(what)) {}
  luggage(luggage const&) = delete;
  luggage& operator=(luggage const&) = delete;
  ~luggage() { log_.push_back(what_); }

 private:
  events& log_;
  std::string what_;
};
inline eff<int, advice> hike(events& log) {
  luggage const mine(log, "rucksack");
  int const hours = co_await advice::ask("how many hours?");
  co_return 4 * hours;
}
inline eff<int, advice> careful_journey(events& log) {
  luggage const mine(log, "trunk");
  int miles = 0;
  try {
    miles = co_await hike(log);
  } catch (std::runtime_error const&) {
    log.push_back("caught inside");
  }
  co_return miles;
}
struct gives_up : handler<advice> {
  int on(advice::ask const&, resumption<int, int>) { throw std::runtime_error("no idea"); }
};
inline events what_happens() {
  events log;
  try {
    run(handle(gives_up(), careful_journey(log)));
  } catch (std::runtime_error const&) {
    log.push_back("caught outside");
  }
  return log;
}
inline events events_of_a_throw() {
  // The continuation is dropped with the parameter of the clause.  The exception arises at `handle`.
  return {"rucksack", "trunk", "caught outside"};
}

// Exercise 2 (*): std::runtime_error("closed") is thrown at the question that waits.  Returns the
// answer of the continuation.
class office : public handler<advice>, public region {
 public:
  int on(advice::ask const&, resumption<int, int> k) {
    waiting_ = std::move(k);
    return 0;
  }
  int close() {
    auto const error = std::make_exception_ptr(std::runtime_error("closed"));
    return resume(std::move(waiting_), raising{error});
  }

 private:
  resumption<int, int> waiting_;
};

// Exercise 3 (**): answers all questions that wait with `hours`, the latest first.  Returns the
// results of the journeys in that order.
class last_asked_first : public handler<advice>, public region {
 public:
  int on(advice::ask const&, resumption<int, int> k) {
    waiting_.push_back(std::move(k));
    return 0;
  }
  std::vector<int> answer_all(int hours) {
    std::vector<int> results;
    while (!waiting_.empty()) {
      resumption<int, int> k = std::move(waiting_.back());
      waiting_.pop_back();
      results.push_back(resume(std::move(k), hours));
    }
    return results;
  }

 private:
  std::vector<resumption<int, int>> waiting_;
};

// Exercise 4 (**): answers each question with 5; the answer of the handler is the number of
// questions.  No data members.
struct counts_questions : handler<advice> {
  eff<int> on(advice::ask, resumption<int, int> k) {
    int const later = co_await std::move(k)(5);
    co_return later + 1;
  }
  int on_return(int) { return 0; }
};

// Exercise 5 (***): each question is a call at the switchboard, which answers later.
class switchboard {
 public:
  using callback = std::function<void(int)>;

  void call(std::string question, callback answered) {
    calls_.emplace_back(std::move(question), std::move(answered));
  }
  [[nodiscard]] std::size_t waiting() const { return calls_.size(); }

  // Answers all calls, each with the length of its question; those that are made meanwhile, too.
  void answer_all() {
    while (!calls_.empty()) {
      auto const [question, answered] = std::move(calls_.front());
      calls_.pop_front();
      answered(static_cast<int>(question.size()));
    }
  }

 private:
  std::deque<std::pair<std::string, callback>> calls_;
};
class by_callback : public handler<advice>, public region {
 public:
  explicit by_callback(switchboard& board) : board_(board) {}
  void on(advice::ask a, resumption<int> k) {
    auto const kept = std::make_shared<resumption<int>>(std::move(k));
    board_.call(std::move(a.question), [kept](int answer) { resume(std::move(*kept), answer); });
  }

 private:
  switchboard& board_;
};

}  // namespace what_a_resumption_is
