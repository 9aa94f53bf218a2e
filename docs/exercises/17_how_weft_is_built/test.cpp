// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#ifdef SOLVED
#include "docs/exercises/17_how_weft_is_built/solutions.hpp"
#else
#include "docs/exercises/17_how_weft_is_built/exercises.hpp"
#endif

namespace how_weft_is_built {
namespace {

TEST_CASE("1: the order in which four processes write is predicted", "[1]") {
  std::string out;
  scheduler s;
  s.on(spawn(four(out)));
  s.run_all();
  CHECK(written_by_four() == out);
}

eff<int> add_thrice(int n) {
  int const first = co_await get();
  for (int i = 0; i != 3; ++i) co_await put(co_await get() + n);
  int const last = co_await get();
  co_return 1000 * first + last;
}

TEST_CASE("2: a variable has the number that was put last", "[2]") {
  variable v{5};
  CHECK(run(handle<get, put>(v, add_thrice(2))) == 5011);
  CHECK(v.value == 11);
  CHECK(run(handle<get, put>(v, add_thrice(-1))) == 11008);
}

struct noted_end {
  char letter;
  std::string& out;
  noted_end(char l, std::string& o) : letter(l), out(o) {}
  noted_end(noted_end const&) = delete;
  noted_end& operator=(noted_end const&) = delete;
  ~noted_end() { out += letter; }
};
eff<void> stop_now() { co_await stop(); }
eff<void> stops_in_a_callee(std::string& out) {
  noted_end const end('x', out);
  out += 's';
  co_await yield();
  out += 's';
  co_await stop_now();
  out += "not reached";
}
eff<void> writes_three(std::string& out) {
  for (int i = 0; i != 3; ++i) {
    out += 'w';
    co_await yield();
  }
}

TEST_CASE("3: a process that stops does not continue, and its locals are destroyed", "[3]") {
  std::string out;
  stopping_scheduler s;
  s.start(stops_in_a_callee(out));
  s.start(writes_three(out));
  s.run_all();
  CHECK(out == "swsxww");
}

struct question : op<int> {};
struct other_question : op<int> {};
eff<int> asks() { co_return co_await question(); }
eff<int> asks_after(int calls) {
  if (calls == 0) co_return co_await question();
  co_return co_await asks_after(calls - 1);
}
struct counts_frames {
  int frames = 0;
  int on(question, resumption<int, int> k) {
    frames = depth(k);
    return 0;
  }
};
struct zero {
  int on(other_question) { return 0; }
};

TEST_CASE("4: the frames of a continuation are counted", "[4]") {
  counts_frames h;
  (void)run(handle<question>(h, asks()));
  CHECK(h.frames == 2);
  (void)run(handle<question>(h, asks_after(7)));
  CHECK(h.frames == 9);
  zero z;
  (void)run(handle<question>(h, handle<other_question>(z, asks_after(1))));
  CHECK(h.frames == 4);
}

eff<void> sends(std::vector<int> numbers) {
  for (int const n : numbers) {
    co_await send(n);
    co_await yield();
  }
}
eff<void> receives(int how_many, std::vector<int>& received, std::string& ended) {
  noted_end const end('r', ended);
  for (int i = 0; i != how_many; ++i) received.push_back(co_await receive());
}

TEST_CASE("5: numbers are received in the order in which they were sent", "[5]") {
  std::vector<int> received;
  std::string ended;
  {
    post p;
    p.start(sends({1, 2, 3}));
    p.start(receives(3, received, ended));
    p.run_all();
    CHECK(received == std::vector{1, 2, 3});
  }
  CHECK(ended == "r");
}
TEST_CASE("5: the process that has waited longest gets the next number", "[5]") {
  std::vector<int> first;
  std::vector<int> second;
  std::string ended;
  post p;
  p.start(receives(2, first, ended));
  p.start(receives(1, second, ended));
  p.start(sends({1, 2, 3}));
  p.run_all();
  CHECK(first == std::vector{1, 3});
  CHECK(second == std::vector{2});
}
TEST_CASE("5: a process to which no other process can send is unwound", "[5]") {
  std::vector<int> received;
  std::string ended;
  post p;
  p.start(receives(4, received, ended));
  p.start(sends({7}));
  p.run_all();
  CHECK(received == std::vector{7});
  CHECK(ended == "r");
}

eff<int> no_flip() { co_return 4; }
eff<int> two_flips() {
  int const tens = co_await flip() ? 10 : 20;
  co_return tens + (co_await flip() ? 1 : 2);
}
eff<int> heads_until_tails() {
  for (int n = 0; n != 3; ++n) {
    bool const head = co_await flip();
    if (!head) co_return n;
  }
  co_return 3;
}

TEST_CASE("6: a body is run once for each sequence of answers", "[6]") {
  CHECK(all_ways(no_flip) == std::vector{4});
  CHECK(all_ways(two_flips) == std::vector{11, 12, 21, 22});
  CHECK(all_ways(heads_until_tails) == std::vector{3, 2, 1, 0});
}

}  // namespace
}  // namespace how_weft_is_built
