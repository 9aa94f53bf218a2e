// SPDX-License-Identifier: MIT

/// async and await, usually part of a language or a runtime, as an effect.
///
/// A task starts others with `async`, which answers at once with a promise, and waits with `await`
/// for their results.  There are no threads: the handler has a queue of computations that can
/// continue, and for each promise the tasks that wait for it.
///
/// Kinds of clause: `async` is a value clause, which answers at once; `pause` is a control clause
/// that keeps the continuation of the task, so the handler is a region; `await` is one that resumes
/// at once, with `last`, if the value is there.

#include <deque>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "examples/backend.hpp"
#include <weft/effects/effects.hpp>

using namespace weft;

/// A number that some task will compute.
struct promise {
  std::size_t id;
};

struct tasks {
  using body = std::function<eff<int, tasks, console>()>;

  struct [[nodiscard]] async : op<promise> {  ///< Starts a task.
    explicit async(body b) : what(std::move(b)) {}
    body what;
  };
  struct [[nodiscard]] await : op<int> {  ///< Waits for the result of a task.
    explicit await(promise p) : awaited(p) {}
    promise awaited;
  };
  struct [[nodiscard]] pause : op<void> {};  ///< Lets other tasks run first.

  using operations = op_list<async, await, pause>;
};

/// The continuation of a task with its answer, to be run later: an eff is lazy, and a value.
template <class R, class... Answer>
eff<void, console> go_on(resumption<R> k, Answer... answer) {
  co_await std::move(k)(answer...);
}

class event_loop : public handler<tasks>, public region {
 public:
  promise on(tasks::async a) {
    promises_.emplace_back();
    promise const p{promises_.size() - 1};
    ready_.push_back(begin(p, std::move(a.what)));
    return p;
  }

  outcome<void> on(tasks::await a, resumption<int> k) {
    auto& p = promises_[a.awaited.id];
    if (p.value) return std::move(k).last(*p.value);
    p.waiting.push_back(std::move(k));
    return {};
  }

  void on(tasks::pause, resumption<void> k) { ready_.push_back(go_on(std::move(k))); }

  /// Runs until no task can continue.
  eff<void, console> turn() {
    while (!ready_.empty()) {
      auto next = std::move(ready_.front());
      ready_.pop_front();
      co_await std::move(next);
    }
  }

 private:
  struct slot {
    std::optional<int> value;
    std::vector<resumption<int>> waiting;
  };

  eff<void, console> begin(promise p, tasks::body what) {
    auto task = [this, p, what = std::move(what)]() -> eff<void, tasks, console> {
      int const value = co_await what();
      fulfil(promises_[p.id], value);
    };
    co_await handle(*this, std::move(task));
  }

  void fulfil(slot& p, int value) {
    p.value = value;
    for (auto& k : p.waiting) ready_.push_back(go_on(std::move(k), value));
    p.waiting.clear();
  }

  std::deque<slot> promises_;
  std::deque<eff<void, console>> ready_;
};

// ---- a program, which does not know of the queue

eff<int, tasks, console> download(std::string page, int parts) {
  for (int part = 1; part <= parts; ++part) {
    co_await console::print_line(page + ": part " + std::to_string(part));
    co_await tasks::pause{};
  }
  co_return 100 * parts;
}

eff<int, tasks, console> sum(promise one, promise other) {
  co_await console::print_line("sum: waits for two");
  int const a = co_await tasks::await(one);
  int const b = co_await tasks::await(other);
  co_await console::print_line("sum: has both");
  co_return a + b;
}

eff<int, tasks, console> browser() {
  promise const news = co_await tasks::async([] { return download("news", 3); });
  promise const maps = co_await tasks::async([] { return download("maps", 1); });
  promise const both = co_await tasks::async([=] { return sum(news, maps); });
  co_await console::print_line("browser: three tasks started");

  int const few = co_await tasks::await(maps);
  co_await console::print_line("browser: maps are " + std::to_string(few) + " bytes");
  int const all = co_await tasks::await(both);
  co_await console::print_line("browser: all are " + std::to_string(all) + " bytes");
  co_return all;
}

eff<void, console> surfing() {
  event_loop loop;
  loop.on(tasks::async(browser));
  co_await loop.turn();
}

/// The tasks run within one process, as their queue does.
int main(int argc, char** argv) {
  examples::backend(argc, argv).schedule(surfing, console_to_stream(std::cout));
}
