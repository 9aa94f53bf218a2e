// SPDX-License-Identifier: MIT
#include "tests/adapters/asio_library.hpp"
#include "tests/adapters/asio_support.hpp"
#include "tests/prelude.hpp"
#include "weft/adapters/use_weft.hpp"

using tasks = tasking<proc, completions, timing>;

using program =
    eff<void, spawning<tasks, proc, completions, timing>, tasks, proc, completions, timing>;

/// Runs the program `f(context)` on each backend; a thread of its own runs the context.
template <class F>
void with_context(F const& f, unsigned threads = 1) {
  for (auto const& chosen :
       {chosen_backend::of<on_one_thread>(), chosen_backend::of<in_random_order>(),
        chosen_backend::of<on_sharing<2>>(), chosen_backend::of<on_stealing<2>>()}) {
    every_frame_dies const check;
    running_context running(threads);
    run_on(chosen, [&]() -> program { return f(running.context); });
  }
}

std::span<char> bytes(std::string& s) { return {s.data(), s.size()}; }

struct pair_of {
  tcp::socket first;
  tcp::socket second;
};
eff<pair_of, completions> a_pair(io_context& context) {
  tcp::acceptor door(context, tcp::endpoint(library::here(), 0));
  tcp::socket first(context);
  co_await first.async_connect(door.local_endpoint(), use_weft);
  tcp::socket second = co_await door.async_accept(use_weft);
  co_return pair_of{std::move(first), std::move(second)};
}

TEST_CASE("an operation yields its values without the error") {
  std::string got;
  std::size_t written = 0;
  with_context([&](io_context& c) -> program {
    auto [a, b] = co_await a_pair(c);
    std::string said = "hello";
    written = co_await library::write(a, bytes(said), use_weft);
    got.assign(5, '-');
    std::size_t const n = co_await library::read(b, bytes(got), use_weft);
    got.resize(n);
    library::timer t(c, 1us);
    co_await t.async_wait(use_weft);
    co_await library::post(c.get_executor(), use_weft);
    co_await library::post(use_weft.on(c.get_executor()));
  });
  CHECK(got == "hello");
  CHECK(written == 5);
}

TEST_CASE("an operation begins when it is awaited, in the thread that runs its executor") {
  std::thread::id where;
  std::thread::id runs_context;
  int unused_begun = 0;
  with_context([&](io_context& c) -> program {
    open_operation<> unused(c);
    (void)unused.async_wait(use_weft);
    open_operation<> op(c);
    op.on_begin = [&] {
      where = std::this_thread::get_id();
      op.end();
    };
    co_await op.async_wait(use_weft);
    co_await library::post(c.get_executor(), use_weft);
    unused_begun = unused.begun;
    op.on_begin = [&] {
      runs_context = std::this_thread::get_id();
      op.end();
    };
    co_await op.async_wait(use_weft);
  });
  CHECK(where == runs_context);
  CHECK(where != std::this_thread::get_id());
  CHECK(unused_begun == 0);
}

/// What a process finds at the end of a computation.
template <class E>
eff<std::string, completions> found_by(E what) {
  try {
    if constexpr (std::is_void_v<typename E::value_type>)
      co_await std::move(what);
    else
      (void)co_await std::move(what);
  } catch (library::system_error const& e) {
    if (e.code() == library::timed_out()) co_return "timed out";
    if (e.code() == library::aborted()) co_return "aborted";
    if (e.code() == library::refused()) co_return "refused";
    co_return e.what();
  } catch (cancelled const&) {
    co_return "cancelled";
  } catch (std::exception const& e) {
    co_return e.what();
  }
  co_return "done";
}

TEST_CASE("an error code and an exception are thrown, and several values are a tuple") {
  std::vector<std::string> found;
  int one = 0;
  std::tuple<int, std::string> two;
  std::tuple<error_code, int> with_error;
  std::tuple<error_code> no_error;
  with_context([&](io_context& c) -> program {
    found.clear();
    auto const ends = [](auto& op, auto... values) {
      op.on_begin = [&op, values...] { op.end(values...); };
    };
    open_operation<int> first(c);
    ends(first, 1);
    one = co_await first.async_wait(use_weft);
    open_operation<int, std::string> second(c);
    ends(second, 2, std::string("four"));
    two = co_await second.async_wait(use_weft);
    open_operation<error_code, int> third(c);
    ends(third, library::refused(), 3);
    with_error = co_await third.async_wait(use_weft.as_tuple());
    found.push_back(co_await found_by(third.async_wait(use_weft)));
    open_operation<error_code> fourth(c);
    ends(fourth, error_code());
    no_error = co_await fourth.async_wait(use_weft.as_tuple());
    found.push_back(co_await found_by(fourth.async_wait(use_weft)));
    open_operation<std::exception_ptr, int> fifth(c);
    ends(fifth, std::make_exception_ptr(std::runtime_error("it failed")), 5);
    found.push_back(co_await found_by(fifth.async_wait(use_weft)));
    ends(fifth, std::exception_ptr(), 5);
    found.push_back(co_await found_by(fifth.async_wait(use_weft)));
  });
  CHECK(one == 1);
  CHECK(two == std::tuple(2, "four"));
  CHECK(with_error == std::tuple(library::refused(), 3));
  CHECK(no_error == std::tuple(error_code()));
  CHECK(found == std::vector<std::string>{"refused", "done", "it failed", "done"});
}

TEST_CASE("an operation that cannot begin throws, and one that is dropped throws as well") {
  std::string bad;
  std::string forgotten;
  with_context([&](io_context& c) -> program {
    open_operation<> op(c);
    op.on_begin = [] { throw std::runtime_error("cannot begin"); };
    bad = co_await found_by(op.async_wait(use_weft));
    op.on_begin = [&op] { op.end = nullptr; };
    forgotten = co_await found_by(op.async_wait(use_weft));
  });
  CHECK(bad == "cannot begin");
  CHECK_THAT(forgotten, Contains("a completion will not come"));
}

using step = eff<void, tasks, proc, completions, timing>;

TEST_CASE("an operation is dropped when its context is destroyed before it has begun") {
  every_frame_dies const check;
  std::string found;
  run_on<on_one_thread>([&]() -> program {
    auto context = std::make_unique<io_context>();
    auto const executor = context->get_executor();
    co_await spawn(
        [](std::unique_ptr<io_context> of) -> step {
          for (int i = 0; i != 10; ++i) co_await proc::yield{};
          of.reset();
        },
        std::move(context));
    found = co_await found_by(library::post(use_weft.on(executor)));
  });
  CHECK_THAT(found, Contains("a completion will not come"));
}

/// The token, by which the operation can be cancelled: by its slot, if this Asio has slots.
template <class Token, class Object>
auto stopping(Object& o, Token t) {
  if constexpr (library::traits::has_slots)
    return t;
  else
    return t.cancelling(o);
}

TEST_CASE("a deadline ends an operation with the error of a timeout, and no data is lost") {
  std::string first;
  std::string got = "-";
  error_code error;
  std::size_t late = 1;
  with_context([&](io_context& c) -> program {
    auto [a, b] = co_await a_pair(c);
    auto const soon = instant::clock::now() + 1ms;
    first = co_await found_by(library::read(b, bytes(got), stopping(b, use_weft.until(soon))));
    auto const [e, n] = co_await b.async_read_some(
        library::buffer(bytes(got)), stopping(b, use_weft.until(instant::min()).as_tuple()));
    error = e;
    late = n;
    std::string x = "x";
    (void)co_await library::write(a, bytes(x), use_weft.until(instant::max()));
    auto const far = instant::clock::now() + 1h;
    (void)co_await library::read(b, bytes(got), use_weft.until(far));
  });
  CHECK(first == "timed out");
  CHECK(error == library::timed_out());
  CHECK(late == 0);
  CHECK(got == "x");
}

/// Fills a buffer of its own frame, in a task of a scope that is cancelled meanwhile.
step fills_in_a_scope(io_context& c, bool succeeds, std::string& found, std::string& next) {
  stubborn_operation op(c, succeeds);
  try {
    co_await with_scope([&](auto& s) -> step {
      s.start([&]() -> step {
        std::array<char, 100> buffer{};
        try {
          (void)co_await op.async_fill(buffer, use_weft);
          found = buffer.front() == 'a' ? "done" : "not filled";
        } catch (cancelled const&) {
          found = buffer.front() == 'a' ? "cancelled" : "cancelled, not filled";
          throw;
        }
        try {
          (void)co_await library::post(c.get_executor(), use_weft);
          next = "done";
        } catch (cancelled const&) {
          next = "cancelled";
        }
      });
      while (!op.has_begun()) co_await proc::yield{};
      s.cancel();
    });
  } catch (cancelled const&) {
  }
}

TEST_CASE("a process that is cancelled waits until its operation has ended") {
  std::string found;
  std::string next;
  with_context([&](io_context& c) -> program { co_await fills_in_a_scope(c, false, found, next); });
  CHECK(found == "cancelled");
}

TEST_CASE("an operation that succeeds all the same is delivered, and the next one is cancelled") {
  std::string found;
  std::string next;
  with_context([&](io_context& c) -> program { co_await fills_in_a_scope(c, true, found, next); });
  CHECK(found == "done");
  CHECK(next == "cancelled");
}

TEST_CASE("a process of a cancelled scope begins no operation") {
  int begun = 1;
  with_context([&](io_context& c) -> program {
    open_operation<> op(c);
    try {
      co_await with_scope([&](auto& s) -> step {
        s.cancel();
        co_await op.async_wait(use_weft);
      });
    } catch (cancelled const&) {
    }
    co_await library::post(c.get_executor(), use_weft);
    begun = op.begun;
  });
  CHECK(begun == 0);
}

TEST_CASE("when all processes are cancelled, their frames outlive their operations") {
  for (auto const& chosen :
       {chosen_backend::of<on_one_thread>(), chosen_backend::of<on_sharing<2>>(),
        chosen_backend::of<on_stealing<2>>()}) {
    every_frame_dies const check;
    running_context running;
    stubborn_operation op(running.context);
    std::stop_source stop;
    bool was_cancelled = false;
    bool was_filled = false;
    try {
      run_on(chosen, options(false, stop.get_token()), [&]() -> program {
        co_await spawn(
            [](stubborn_operation& o, bool& filled) -> step {
              std::array<char, 100> buffer{};
              try {
                (void)co_await o.async_fill(buffer, use_weft);
              } catch (cancelled const&) {
                filled = buffer.front() == 'a';
                throw;
              }
            },
            std::ref(op), std::ref(was_filled));
        while (!op.has_begun()) co_await proc::yield{};
        stop.request_stop();
      });
    } catch (cancelled const&) {
      was_cancelled = true;
    }
    CHECK(was_cancelled);
    CHECK(was_filled);
  }
}

TEST_CASE("a scheduler that ends early waits for the operations of its processes") {
  every_frame_dies const check;
  running_context running;
  stubborn_operation op(running.context);
  {
    scheduler<> s;
    s.start([&]() -> program {
      std::array<char, 100> buffer{};
      (void)co_await op.async_fill(buffer, use_weft);
    });
    for (int i = 0; i != 2; ++i) (void)s.step();
    until([&] { return op.has_begun(); });
  }
  CHECK(op.was_cancelled());
}

/// Operations with deadlines, in scopes with deadlines, as chance has it.
step random_operations(io_context& c, unsigned seed, counter& ended) {
  std::minstd_rand random(seed);
  auto const some = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  for (int i = 0; i != 10; ++i) {
    library::timer t(c);
    t.expires_after(std::chrono::microseconds(some(300)));
    auto const limit = std::chrono::microseconds(some(300));
    auto const until = instant::clock::now() + std::chrono::microseconds(some(300));
    try {
      if (some(3) == 0)
        co_await t.async_wait(stopping(t, use_weft.until(until)));
      else
        co_await with_scope({.timeout = limit}, [&](auto&) -> step {
          co_await t.async_wait(stopping(t, use_weft.until(until)));
        });
    } catch (cancelled const&) {
    } catch (library::system_error const&) {
    }
    ++ended;
  }
}

TEST_CASE("many operations at once end in any way, with one thread or several at the context") {
  constexpr unsigned many = is_sanitized ? 20 : 50;
  for (unsigned const threads : {1U, 2U}) {
    counter ended = 0;
    with_context(
        [&](io_context& c) -> program {
          ended = 0;
          for (unsigned i = 0; i != many; ++i)
            co_await spawn(random_operations, std::ref(c), i + 1, std::ref(ended));
        },
        threads);
    CHECK(ended == 10 * static_cast<int>(many));
  }
}

step echoes(tcp::socket s) {
  std::string buffer(100, '-');
  for (;;) {
    auto const [e, n] =
        co_await s.async_read_some(library::buffer(bytes(buffer)), use_weft.as_tuple());
    if (e) co_return;
    (void)co_await library::write(s, bytes(buffer).first(n), use_weft);
  }
}
step asks(io_context& c, tcp::endpoint at, unsigned number, counter& right) {
  tcp::socket s(c);
  co_await s.async_connect(at, use_weft);
  for (int i = 0; i != 5; ++i) {
    std::string said = std::to_string(number) + " asks " + std::to_string(i);
    std::string heard(said.size(), '-');
    (void)co_await library::write(s, bytes(said), use_weft);
    (void)co_await library::read(s, bytes(heard), use_weft);
    right += heard == said;
  }
}

TEST_CASE("many processes talk over sockets of one context") {
  constexpr unsigned many = is_sanitized ? 20 : 50;
  counter right = 0;
  with_context([&](io_context& c) -> program {
    right = 0;
    tcp::acceptor door(c, tcp::endpoint(library::here(), 0));
    for (unsigned i = 0; i != many; ++i)
      co_await spawn(asks, std::ref(c), door.local_endpoint(), i, std::ref(right));
    for (unsigned i = 0; i != many; ++i) {
      tcp::socket s = co_await door.async_accept(use_weft);
      co_await spawn(echoes, std::move(s));
    }
  });
  CHECK(right == 5 * static_cast<int>(many));
}

// ---- run_on()

/// A program that a context runs, in the thread of the test.
template <class Program>
void run_in_context(io_context& c, Program p, std::function<void(scheduler<>&)> const& then = {}) {
  scheduler<> s;
  s.start([&]() -> program { return p(); });
  auto const running = run_on(c, s);
  if (then) then(s);
  c.run();
}

TEST_CASE("a context runs a scheduler, and has ended when no process is left") {
  every_frame_dies const check;
  io_context c;
  std::string got(5, '-');
  bool is_here = true;
  int turns = 0;
  run_in_context(c, [&]() -> program {
    auto const here = std::this_thread::get_id();
    auto [a, b] = co_await a_pair(c);
    co_await spawn(
        [](int& n) -> step {
          for (; n != 2000; ++n) co_await proc::yield{};
        },
        std::ref(turns));
    std::string said = "hello";
    (void)co_await library::write(a, bytes(said), use_weft);
    (void)co_await library::read(b, bytes(got), use_weft);
    co_await timing::sleep_for{1us};
    library::timer t(c, 1us);
    co_await t.async_wait(use_weft);
    is_here = here == std::this_thread::get_id();
  });
  CHECK(got == "hello");
  CHECK(turns == 2000);
  CHECK(is_here);
}

TEST_CASE("the function that runs the context throws the exception of a process") {
  every_frame_dies const check;
  io_context c;
  std::string found;
  try {
    run_in_context(c, [&]() -> program {
      co_await spawn([]() -> step { co_await timing::sleep_for{1h}; });
      co_await library::post(c.get_executor(), use_weft);
      throw std::runtime_error("it failed");
    });
  } catch (std::runtime_error const& e) {
    found = e.what();
  }
  CHECK(found == "it failed");
}

TEST_CASE("another thread wakes a process whose scheduler a context runs") {
  every_frame_dies const check;
  io_context c;
  int got = 0;
  std::thread other;
  run_in_context(c, [&]() -> program {
    for (int i = 0; i != 100; ++i) {
      completer<int> source;
      auto result = source.get_completion();
      if (other.joinable()) other.join();
      other = std::thread([s = std::move(source)]() mutable { s.complete(1); });
      int const n = co_await result.wait();
      got += n;
    }
  });
  other.join();
  CHECK(got == 100);
}

TEST_CASE("a run_on() that ends early ends the processes, whose operations end before them") {
  every_frame_dies const check;
  io_context c;
  stubborn_operation op(c);
  std::string found;
  run_in_context(
      c,
      [&]() -> program {
        std::array<char, 100> buffer{};
        try {
          (void)co_await op.async_fill(buffer, use_weft);
        } catch (cancelled const&) {
          found = buffer.front() == 'a' ? "cancelled" : "not filled";
          throw;
        }
      },
      [&](scheduler<>&) {
        while (!op.has_begun()) c.run_one();
        c.stop();
      });
  CHECK(found == "cancelled");
  CHECK(op.was_cancelled());
}

TEST_CASE("a process that is unwound in the thread of its context runs handlers meanwhile") {
  every_frame_dies const check;
  io_context c;
  stubborn_operation op(c);
  bool was_cancelled = false;
  std::stop_source stop;
  try {
    scheduler<> s;
    s.start(options(false, stop.get_token()), [&]() -> program {
      co_await spawn(
          [](stubborn_operation& o) -> step {
            std::array<char, 100> buffer{};
            (void)co_await o.async_fill(buffer, use_weft);
          },
          std::ref(op));
      while (!op.has_begun()) co_await proc::yield{};
      stop.request_stop();
      co_await timing::sleep_for{1h};
    });
    auto const running = run_on(c, s);
    c.run();
  } catch (cancelled const&) {
    was_cancelled = true;
  }
  CHECK(was_cancelled);
  CHECK(op.was_cancelled());
}
