// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// A handler that returns the continuation of an operation to the code that has resumed the body lets
/// that code perform the operation, under the handlers that are around it then: so a program has the
/// rule of Koka and OCaml.  Compared with a model.
///
/// A seed that fails is printed; tests/support/seeds.hpp explains how to run it alone.

// ---- processes that are interrupted, and fork under a handler around each resume:
// D. Hillerström, "Foundations for Programming and Implementing Effect Handlers", chapter 2

struct forking {
  struct fork : op<bool> {};
  using operations = op_list<fork>;
};
struct interrupting {
  struct interrupt : op<void> {};
  using operations = op_list<interrupt>;
};

/// A process that is done, or is paused, or wants to fork.
struct process_result {
  std::optional<int> done = {};
  multi_resumption<void, process_result> paused = {};
  multi_resumption<bool, process_result> forks = {};
};
struct reifies : handler<interrupting, forking> {
  process_result on(interrupting::interrupt, multi_resumption<void, process_result> k) const {
    return {.paused = std::move(k)};
  }
  process_result on(forking::fork, multi_resumption<bool, process_result> k) const {
    return {.forks = std::move(k)};
  }
  process_result on_return(int n) const { return {.done = n}; }
};

using processes = std::vector<process_result>;
struct forks : handler<forking> {
  eff<processes> on(forking::fork, multi_resumption<bool, processes> k) const {
    processes all = co_await k(true);
    processes const others = co_await std::move(k)(false);
    all.insert(all.end(), others.begin(), others.end());
    co_return all;
  }
  processes on_return(process_result p) const { return {std::move(p)}; }
};
eff<int, forking, interrupting> process() {
  co_await interrupting::interrupt{};
  bool const parent = co_await forking::fork{};
  co_await interrupting::interrupt{};
  co_return parent ? 1 : 2;
}
eff<process_result> first() { co_return co_await handle(reifies(), process); }
/// A time slice.
eff<process_result, forking> next(multi_resumption<void, process_result> k) {
  process_result p = co_await std::move(k)();
  while (p.forks) {
    bool const parent = co_await forking::fork{};
    p = co_await p.forks(parent);
  }
  co_return p;
}

TEST_CASE("a process that was interrupted forks under the handler around its next time slice") {
  every_frame_dies const check;
  std::string out;
  std::deque<process_result> todo{run(first())};
  while (!todo.empty()) {
    process_result const p = std::move(todo.front());
    todo.pop_front();
    if (p.done) {
      out += "done " + std::to_string(*p.done) + "\n";
      continue;
    }
    for (process_result& q : run(handle(forks(), [&p] { return next(p.paused); })))
      todo.push_back(std::move(q));
  }
  CHECK(out == "done 1\ndone 2\n");
}

// ---- random programs: each resume is under a handler of some kind

struct heard_so_far {
  std::vector<int> heard = {};
  multi_resumption<void, heard_so_far> rest = {};
  multi_resumption<int, heard_so_far> asks = {};
};
eff<heard_so_far, ask> answered(heard_so_far h) {
  while (h.asks) {
    int const answer = co_await ask::get{};
    h = co_await h.asks(answer);
  }
  co_return h;
}
eff<heard_so_far, ask> under(multi_resumption<void, heard_so_far> k) {
  heard_so_far h = co_await std::move(k)();
  co_return co_await answered(std::move(h));
}

struct halting {
  struct halt : op<void> {};
  using operations = op_list<halt>;
};

struct steps : handler<halting, ask> {
  heard_so_far on(halting::halt, multi_resumption<void, heard_so_far> k) const {
    return {.rest = std::move(k)};
  }
  heard_so_far on(ask::get, multi_resumption<int, heard_so_far> k) const {
    return {.asks = std::move(k)};
  }
  heard_so_far on_return(std::vector<int> heard) const { return {.heard = std::move(heard)}; }
};

/// A coroutine clause inside the continuation, which asks outward.
struct adds_a_thousand {
  eff<int, ask> on(ask::get, resumption<int, int> k) const {
    int const answer = co_await ask::get{};
    co_return co_await std::move(k)(1000 + answer);
  }
};
/// Asks, by itself or under a handler of its own, and halts.
eff<std::vector<int>, ask, halting> a_program(unsigned seed) {
  std::mt19937 dice(seed);
  std::vector<int> heard;
  for (auto n = 1 + dice() % 6; n != 0; --n) {
    auto const what = dice() % 4;
    if (what == 0) {
      auto const inside = []() -> eff<int, ask, halting> {
        int const before = co_await ask::get{};
        co_await halting::halt{};
        co_return before + co_await ask::get{};
      };
      int const sum = co_await handle<ask>(adds_a_thousand(), inside);
      heard.push_back(sum);
    } else if (what == 1) {
      co_await halting::halt{};
    } else {
      int const answer = co_await ask::get{};
      heard.push_back(answer);
    }
  }
  co_return heard;
}

/// The same program as a list of its steps, with the weight of each question to the handlers
/// outside.
struct question {
  bool halts;  // else asks
  int added;
  bool is_second;  // adds to the previous answer
};
std::vector<question> model_of(unsigned seed) {
  std::mt19937 dice(seed);
  std::vector<question> all;
  for (auto n = 1 + dice() % 6; n != 0; --n) {
    auto const what = dice() % 4;
    if (what == 0)
      all.insert(all.end(), {{false, 1000, false}, {true, 0, false}, {false, 1000, true}});
    else
      all.push_back({what == 1, 0, false});
  }
  return all;
}

struct jumps {
  int n;
  outcome<heard_so_far> on(ask::get, resumption<int, heard_so_far> k) const {
    return std::move(k).last(n);
  }
};
struct awaits {
  int n;
  eff<heard_so_far> on(ask::get, resumption<int, heard_so_far> k) const {
    co_return co_await std::move(k)(n);
  }
};

/// A capture of a run, with the answers that it heard before it, which each later run from it must
/// also report.
struct known {
  multi_resumption<void, heard_so_far> rest;
  std::size_t at;
  std::vector<int> heard;
  int bound;
};

heard_so_far resume_in_mode(multi_resumption<void, heard_so_far> const& k, unsigned how, int n) {
  auto const body = [&k] { return under(k); };
  if (how == 0) return run(handle<ask>(answers{n}, body));
  if (how == 1) return run(handle<ask>(jumps{n}, body));
  return run(handle<ask>(awaits{n}, body));
}
/// Runs the model from `k` under `bound` to the next halt; false if the program ends.
bool go_on(std::vector<question> const& all, known& k) {
  for (; k.at != all.size(); ++k.at) {
    question const q = all[k.at];
    if (q.halts) {
      ++k.at;
      return true;
    }
    int const answer = k.bound + q.added;
    q.is_second ? void(k.heard.back() += answer) : k.heard.push_back(answer);
  }
  return false;
}

TEST_CASE("random programs perform to the handlers around their last resume") {
  seeds const tried(1000);
  unsigned ended = 0;
  tried.for_each([&](unsigned seed) {
    CAPTURE(seed);
    every_frame_dies const check;
    std::mt19937 dice(seed);
    auto const all = model_of(seed);
    auto const body = [seed] { return a_program(seed); };
    auto const inside = [body]() -> eff<heard_so_far, ask> {
      heard_so_far h = co_await handle(steps(), body);
      co_return co_await answered(std::move(h));
    };

    std::vector<known> waiting;
    auto const compare = [&](known now, heard_so_far const& came) {
      bool const halts = go_on(all, now);
      CHECK(bool(came.rest) == halts);
      if (!halts) CHECK(came.heard == now.heard);
      ended += !halts;
      now.rest = came.rest;
      if (halts) waiting.push_back(std::move(now));
    };
    compare({{}, 0, {}, 1}, run(handle<ask>(answers{1}, inside)));
    for (int i = 2; i != 20 && !waiting.empty(); ++i) {
      std::size_t const which = dice() % waiting.size();
      known from = waiting[which];
      if (dice() % 3 == 0) waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(which));
      from.bound = i;
      auto const came = resume_in_mode(from.rest, static_cast<unsigned>(dice() % 3), i);
      compare(std::move(from), came);
    }
  });
  if (!tried.only_some()) CHECK(ended > 1000);
}
