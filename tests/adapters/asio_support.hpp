// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "tests/adapters/asio_library.hpp"
#include "weft/adapters/use_weft.hpp"

/// Operations that end when a test says so, of `library`, the Asio of the test.
namespace weft::tests {

using io_context = library::io_context;
using tcp = library::tcp;
using error_code = library::error_code;

/// An io_context with threads that run it.
class running_context {
 public:
  explicit running_context(unsigned threads = 1) : work_(library::work(context)) {
    for (unsigned i = 0; i != threads; ++i) threads_.emplace_back([this] { context.run(); });
  }
  running_context(running_context const&) = delete;
  running_context& operator=(running_context const&) = delete;
  ~running_context() {
    work_.reset();
    for (auto& t : threads_) t.join();
  }
  io_context context;

 private:
  decltype(library::work(context)) work_;
  std::vector<std::thread> threads_;
};

/// An operation with any values, which ends when the test says so; its handler is called by the
/// context.
template <class... Values>
class open_operation {
 public:
  explicit open_operation(io_context& c) : context(c) {}

  struct beginning {
    open_operation* of;
    [[nodiscard]] auto get_executor() const { return of->context.get_executor(); }
    template <class Handler>
    void operator()(Handler h) const {
      auto kept = std::make_shared<Handler>(std::move(h));
      auto work = library::work(of->context);
      of->end = [kept, work](Values... values) {
        auto const last = kept;
        std::move (*last)(std::move(values)...);
      };
      ++of->begun;
      if (of->on_begin) of->on_begin();
    }
  };
  template <class Token>
  auto async_wait(Token t) {
    return library::initiate<void(Values...)>(beginning{this}, t);
  }

  io_context& context;
  std::function<void(Values...)> end;  // called by the thread of the context
  std::function<void()> on_begin;      // likewise
  std::atomic<int> begun = 0;
};

/// An operation that writes into its buffer until its handler is called, even after it was asked to
/// end: then in several more steps.
class stubborn_operation {
 public:
  explicit stubborn_operation(io_context& c, bool succeeds = false)
      : context(c), succeeds_(succeeds), op_(c) {}
  template <class Token>
  auto async_fill(std::span<char> to, Token t) {
    to_ = to;
    return op_.async_wait(t.cancelling(*this));
  }
  void cancel() {
    cancelled_ = true;
    step(20);
  }
  void end(error_code e, std::size_t n) { std::exchange(op_.end, nullptr)(e, n); }
  [[nodiscard]] bool has_begun() const { return op_.begun != 0; }
  [[nodiscard]] bool was_cancelled() const { return cancelled_; }

  io_context& context;

 private:
  void step(int left) {
    for (char& c : to_) c = static_cast<char>('a' + left);
    if (left == 0) return end(succeeds_ ? error_code() : library::aborted(), to_.size());
    library::traits::post(context.get_executor(), [this, left] { step(left - 1); });
  }

  bool succeeds_;
  std::atomic<bool> cancelled_ = false;
  std::span<char> to_;
  open_operation<error_code, std::size_t> op_;
};

}  // namespace weft::tests
