// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

/// Records, as long as it exists.
struct recording {
  recording() { record_async_stacks(true); }
  recording(recording const&) = delete;
  recording& operator=(recording const&) = delete;
  ~recording() { record_async_stacks(false); }
};

eff<void> throws(bool does) {
  if (does) throw std::runtime_error("wrong");
  co_return;
}
constexpr int line_of_call = __LINE__ + 1;
eff<void> calls(bool does) { co_await throws(does); }
constexpr int line_of_outer_call = __LINE__ + 2;
eff<int> calls_twice() {
  co_await calls(true);
  co_return 1;
}

std::string called_at(int line) { return "async_stack_test.cpp:" + std::to_string(line) + '\n'; }
/// The stack of what f() throws.
template <class F>
std::string stack_of(F f) {
  try {
    f();
  } catch (...) {
    return async_stack_of(std::current_exception());
  }
  return "nothing was thrown";
}
bool has_lines(std::string const& stack, std::string const& first, std::string const& second) {
  auto const at = stack.find(first);
  return at != stack.npos && stack.find(second, at) != stack.npos;
}

TEST_CASE("the stack of an exception has the frames that it left, innermost first") {
  recording const on;
  auto const stack = stack_of([] { (void)run(calls_twice()); });
  INFO(stack);
  CHECK(has_lines(stack, called_at(line_of_call), called_at(line_of_outer_call)));
  CHECK(std::count(stack.begin(), stack.end(), '\n') == 3);  // and run()
}

TEST_CASE("an exception that leaves a process has the stack of its frames") {
  recording const on;
  auto const stack = stack_of([] {
    schedule([]() -> eff<void, proc> {
      co_await proc::yield{};
      co_await calls(true);
    });
  });
  INFO(stack);
  CHECK(stack.find(called_at(line_of_call)) != stack.npos);
}

constexpr int line_of_scope = __LINE__ + 2;
eff<void, tasking<>> opens_scope() {
  co_await with_scope([](auto&) -> eff<void, tasking<>> { co_await calls(true); });
}
constexpr int line_of_opening = __LINE__ + 1;
eff<void, tasking<>> calls_scope() { co_await opens_scope(); }
TEST_CASE("an exception that leaves a scope has the stack of all its frames") {
  recording const on;
  auto const stack = stack_of([] { schedule(calls_scope); });
  INFO(stack);
  CHECK(has_lines(stack, called_at(line_of_call), called_at(line_of_scope)));
  CHECK(has_lines(stack, called_at(line_of_scope), called_at(line_of_opening)));
}

eff<void> catches() {
  try {
    co_await calls(true);
  } catch (std::runtime_error const&) {
  }
  throw std::logic_error("another");
}
constexpr int line_of_catching_call = __LINE__ + 1;
eff<void> calls_catching() { co_await catches(); }

TEST_CASE("an exception that is thrown after another one was caught has a stack of its own") {
  recording const on;
  auto const stack = stack_of([] { run(calls_catching()); });
  INFO(stack);
  CHECK(stack.find(called_at(line_of_catching_call)) != stack.npos);
  CHECK(std::count(stack.begin(), stack.end(), '\n') == 2);  // and run()
}

TEST_CASE("without being asked for, no stack is recorded") {
  CHECK(stack_of([] { (void)run(calls_twice()); }).empty());
  {
    recording const on;
  }
  CHECK(stack_of([] { (void)run(calls_twice()); }).empty());
}
