// SPDX-License-Identifier: MIT

/// generator: a tree is walked depth first, and a loop pulls the value of each node.
///
/// The rival is the same recursion as a generator of raw coroutines.  An awaited call is a frame
/// that knows its parent; all frames share the innermost frame and the current value, so a value
/// takes one resumption however deep it comes from.  Its frames come from the same pool.  It
/// handles no effects: the values cannot be given another meaning.

#include "examples/effect_suite/generator.hpp"

#include <coroutine>
#include <cstdint>
#include <exception>
#include <utility>

#include "bench/effect_suite/rows.hpp"
#include "bench/harness.hpp"
#include "weft/effects/memory/frame_pool.hpp"

namespace {

using effect_suite::generator::integer;
using effect_suite::generator::make_tree;
using effect_suite::generator::node;
using weft::bench::launder;

constexpr int height = 25;
constexpr std::uint64_t answer = 67108837;

class recursive_generator {
 public:
  class promise_type;
  using frame = std::coroutine_handle<promise_type>;

  /// Shared by the loop and all frames: the frame to resume, and the current value.
  struct meeting {
    frame innermost;
    integer value;
  };

  recursive_generator(recursive_generator&& other) noexcept
      : frame_(std::exchange(other.frame_, {})) {}
  recursive_generator& operator=(recursive_generator&&) = delete;
  ~recursive_generator() {
    if (frame_) frame_.destroy();
  }

  // ---- the outermost call, from a loop

  /// To be called before the first next().
  void start(meeting& m) noexcept;
  /// Whether there is another value, which is then in `m`.
  bool next(meeting const& m) {
    m.innermost.resume();
    return !frame_.done();
  }

  // ---- a call from within

  [[nodiscard]] bool await_ready() const noexcept { return false; }
  frame await_suspend(frame parent) const noexcept;
  void await_resume() const noexcept {}

 private:
  explicit recursive_generator(frame f) noexcept : frame_(f) {}
  frame frame_;
};

class recursive_generator::promise_type : public weft::detail::pooled {
  struct goes_to_parent {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(frame me) const noexcept { return me.promise().parent_; }
    void await_resume() const noexcept {}
  };

 public:
  recursive_generator get_return_object() noexcept {
    return recursive_generator(frame::from_promise(*this));
  }
  std::suspend_always initial_suspend() noexcept { return {}; }
  goes_to_parent final_suspend() noexcept { return {}; }
  std::suspend_always yield_value(integer v) noexcept {
    *meeting_ = {frame::from_promise(*this), v};
    return {};
  }
  void return_void() noexcept {}
  void unhandled_exception() noexcept { std::terminate(); }

  void called(std::coroutine_handle<> parent, meeting* m) noexcept {
    parent_ = parent;
    meeting_ = m;
  }
  [[nodiscard]] meeting* meets() const noexcept { return meeting_; }

 private:
  std::coroutine_handle<> parent_;
  meeting* meeting_;
};

void recursive_generator::start(meeting& m) noexcept {
  m.innermost = frame_;
  frame_.promise().called(std::noop_coroutine(), &m);
}
recursive_generator::frame recursive_generator::await_suspend(frame parent) const noexcept {
  frame_.promise().called(parent, parent.promise().meets());
  return frame_;
}

recursive_generator walk_raw(node const* tree) {
  if (!tree) co_return;
  co_await walk_raw(tree->left);
  co_yield tree->value;
  co_await walk_raw(tree->right);
}

std::uint64_t pulled_raw() {
  auto const nodes = make_tree(launder(height));
  recursive_generator walk = walk_raw(&nodes.back());
  recursive_generator::meeting m{};
  walk.start(m);
  integer sum = 0;
  while (walk.next(m)) sum += m.value;
  return sum;
}

std::uint64_t pulled() { return effect_suite::generator::program(launder(height)); }

}  // namespace

void weft::bench::effect_suite_generator(suite& bench) {
  bench.compare_seconds("generator", pulled, "raw-coroutine", pulled_raw, answer);
}
