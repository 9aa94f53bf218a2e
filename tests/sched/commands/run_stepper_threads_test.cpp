// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/commands.hpp"
#include "tests/support/line_parsers.hpp"
#include "weft/sched/commands/coroutine_stepper.hpp"
#include "weft/sched/commands/run_stepper.hpp"

/// Steppers on every backend: by hand and as coroutines, beside each other.

using both_parsers = steppers<line_parser, parsing_coroutine>;
using program = eff<void, spawning<both_parsers>>;

/// A random text.
std::string random_text(dice& roll) {
  std::string text;
  for (unsigned n = roll(60); n != 0; --n) text += "ab \n"[roll(4)];
  return text;
}
std::vector<std::string> pieces_of(std::string const& text, std::string_view separators) {
  std::vector<std::string> all;
  std::string one;
  for (char const c : text) {
    if (separators.find(c) == separators.npos)
      one += c;
    else
      all.push_back(std::exchange(one, {}));
  }
  if (!one.empty()) all.push_back(one);
  return all;
}

/// The source of a parser's bytes and the sink of its lines: answered at once, or by another
/// thread.
class source {
 public:
  source(std::string text, unsigned seed) : text_(std::move(text)), roll_(seed) {}

  void give(reply<std::string> r) {
    std::lock_guard const lock(mutex_);
    std::string chunk = text_.substr(0, 1 + roll_(5));
    text_.erase(0, chunk.size());
    if (roll_(2) == 0)
      r.complete(std::move(chunk));
    else
      chunks_.emplace_back(std::move(r), std::move(chunk));
  }
  void take(std::string l, reply<void> r) {
    std::lock_guard const lock(mutex_);
    lines_.push_back(std::move(l));
    if (roll_(2) == 0)
      r.complete();
    else
      taken_.push_back(std::move(r));
  }
  /// Answers what is due; called by another thread, again and again.
  void answer_some() {
    std::lock_guard const lock(mutex_);
    for (auto& [r, chunk] : chunks_) r.complete(std::move(chunk));
    for (auto& r : taken_) r.complete();
    chunks_.clear();
    taken_.clear();
  }
  [[nodiscard]] std::vector<std::string> const& lines() const { return lines_; }

 private:
  std::mutex mutex_;  // guards everything
  std::string text_;
  dice roll_;
  std::vector<std::string> lines_;
  std::vector<std::pair<reply<std::string>, std::string>> chunks_;
  std::vector<reply<void>> taken_;
};

/// A thread that lets sources answer while this object lives.
class answering {
 public:
  explicit answering(std::deque<source>& all)
      : thread_([this, &all] {
          while (!is_over_) {
            for (auto& s : all) s.answer_some();
            std::this_thread::yield();
          }
        }) {}
  answering(answering const&) = delete;
  answering& operator=(answering const&) = delete;
  ~answering() {
    is_over_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

BACKENDS_TEST_CASE(
    "a parser by hand and one that is a coroutine find the same lines, beside each other", "",
    on_one_thread, on_locked_queue, on_locked_stack, in_random_order, on_sharing<2>,
    on_stealing<2>) {
  seeds::as_many_as(rounds(100)).for_each([chosen](unsigned seed) {
    every_frame_dies const check;
    dice roll(seed);
    std::vector<std::string> texts;
    std::deque<source> sources;
    for (unsigned i = 0; i != 8; ++i) {
      if (i % 4 == 0) texts.push_back(random_text(roll));
      sources.emplace_back(texts.back(), seed * 8 + i);
    }
    {
      answering const other_thread(sources);
      run_on(
          chosen,
          []() -> program {
            for (int i = 0; i != 8; ++i) {
              std::string const method = i % 4 < 2 ? "lines" : "words";
              if (i % 2 == 0)
                co_await start_stepper(line_parser(), method, std::to_string(i));
              else
                co_await start_stepper(line_parser_as_a_coroutine(), method, std::to_string(i));
            }
          },
          thread_safe_dispatchers{
              [&](more m, reply<std::string> r) { sources[std::stoul(m.from)].give(std::move(r)); },
              [&](line l, reply<void> r) {
                sources[std::stoul(l.from)].take(std::move(l.text), std::move(r));
              }});
    }
    for (unsigned i = 0; i != 8; ++i)
      if (sources[i].lines() != pieces_of(texts[i / 4], i % 4 < 2 ? "\n" : "\n ")) {
        CAPTURE(seed, i, texts[i / 4]);
        CHECK(sources[i].lines() == pieces_of(texts[i / 4], i % 4 < 2 ? "\n" : "\n "));
      }
  });
}

/// The counts of a stepper that yields, issues commands and receives messages.
struct counts {
  counter inits = 0;
  counter closes = 0;
  counter cancelled = 0;
  counter sum = 0;
};
class adder {
 public:
  using commands = command_list<twice>;
  using input = int;
  using message = int;

  explicit adder(counts& c) : counts_(&c) {}
  void init(std::string_view, int messages) {
    ++counts_->inits;
    left_ = 2 * messages;
  }
  void step(std::span<event> events, step_output<twice>& out) {
    for (event& e : events) {
      if (e.type == event_type::cancelled) {
        ++counts_->cancelled;
      } else if (e.type == event_type::message) {
        out.issue(twice(e.data.take<int>()));
        --left_;
      } else {
        counts_->sum += e.result<int>();
        --left_;
      }
    }
    if (left_ == 0) out.status = step_status::done;
  }
  void close() noexcept { ++counts_->closes; }

 private:
  counts* counts_;
  int left_ = 0;
};

eff<void, mail> sends(address<int> to, int from, int n) {
  for (int i = 0; i != n; ++i) co_await to.send(from + i);
}

BACKENDS_TEST_CASE(
    "messages and answers that race are all received, and each stepper is closed once", "",
    on_one_thread, on_locked_queue, on_locked_stack, in_random_order, on_sharing<2>,
    on_stealing<2>) {
  constexpr int steppers_there = 5;
  constexpr int messages = 20;
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    counts c;
    run_on(
        chosen,
        [&c]() -> eff<void, spawning<steppers<adder>>, mail> {
          for (int i = 0; i != steppers_there; ++i) {
            auto [in, to] = co_await open<int>({.capacity = i % 2 == 0 ? 2u : 100u});
            co_await start_stepper(adder(c), "add", messages, std::move(in));
            co_await spawn(sends, to, 0, messages / 2);
            co_await spawn(sends, to, messages / 2, messages / 2);
          }
        },
        thread_safe_dispatchers{doubles});
    int const expected = steppers_there * messages * (messages - 1);
    if (c.inits != steppers_there || c.closes != steppers_there || c.cancelled != 0 ||
        c.sum != expected)
      FAIL("round " << round << ": " << c.closes << " closed, sum " << c.sum);
  }
}

BACKENDS_TEST_CASE("steppers are closed once, even if another process fails", "", on_one_thread,
                   on_locked_queue, in_random_order, on_sharing<2>, on_stealing<2>) {
  for (int round = 0; round != rounds(300); ++round) {
    every_frame_dies const check;
    counts c;
    desk_of<twice> desk;
    auto const p = [&]() -> eff<void, spawning<steppers<adder>>, mail, proc> {
      for (int i = 0; i != 5; ++i) {
        auto [in, to] = co_await open<int>();
        co_await start_stepper(adder(c), "add", 5, std::move(in));
        co_await spawn(sends, to, 0, 3);
      }
      for (int i = round % 8; i != 0; --i) co_await proc::yield{};
      throw std::runtime_error("as asked");
    };
    CHECK_THROWS_WITH(run_on(chosen, p, thread_safe_dispatchers{puts_on(desk)}), "as asked");
    if (c.inits != 5 || c.closes != 5 || c.cancelled > 5)
      FAIL("round " << round << ": " << c.closes);
  }
}

TEMPLATE_TEST_CASE("steppers of a scheduler that is shut down are closed once, in time or late", "",
                   on_one_thread, in_random_order, on_sharing<1>, on_sharing<2>, on_stealing<2>) {
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    counts c;
    desk_of<twice> desk;
    {
      auto s = scheduler_on<TestType>();
      thread_safe_dispatchers d{puts_on(desk)};
      s.start(
          TestType::how(),
          [&]() -> eff<void, spawning<steppers<adder>>, mail> {
            for (int i = 0; i != 3; ++i) {
              auto [in, to] = co_await open<int>();
              co_await start_stepper(adder(c), "add", 5, std::move(in));
              co_await to.send(i);
            }
          },
          d);
      run_apart running(s);
      until([&] { return desk.size() == 3; });
      s.shut_down(round % 2 ? passed : far_away);
      running.join();
    }
    if (c.inits != 3 || c.closes != 3) FAIL("round " << round << ": " << c.closes);
    if (round % 2 == 0 && c.cancelled != 3) FAIL("round " << round << ": " << c.cancelled);
  }
}
