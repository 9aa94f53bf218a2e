// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tests/support/thunks.hpp"
#include "weft/sched/backends/stealing.hpp"

namespace weft::tests {

/// All workers of a stealing backend, driven from one thread.
class stealing_workers {
 public:
  explicit stealing_workers(unsigned n) : stealing_workers(stealing_options{.threads = n}) {}
  explicit stealing_workers(stealing_options const& o) : backend_(o) {
    for (unsigned i = 0; i != backend_.threads(); ++i)
      all_.push_back(std::make_unique<stealing::worker>(backend_, i));
  }
  stealing::worker& operator[](unsigned i) { return *all_[i]; }
  stealing& backend() { return backend_; }

  /// Puts into the deque of worker `at`, or among its yielded processes.
  void put(unsigned at, std::uint64_t n, put_reason w = put_reason::started, unsigned times = 1) {
    for (unsigned i = 0; i != times; ++i) (*this)[at].put(numbered<stealing>(n), w);
  }
  /// Puts several processes, numbered in order.
  void put_numbers(unsigned at, std::uint64_t from, std::uint64_t to,
                   put_reason w = put_reason::started) {
    for (; from != to; ++from) put(at, from, w);
  }
  /// Puts into the global queue.
  void put_outside(std::uint64_t n, unsigned times = 1) {
    for (unsigned i = 0; i != times; ++i) backend_.put(numbered<stealing>(n), put_reason::woken);
  }

  /// Takes the next process, and drops it.
  std::uint64_t take(unsigned at) { return next(at).answer(); }
  std::vector<std::uint64_t> take(unsigned at, unsigned times) {
    std::vector<std::uint64_t> all(times);
    for (auto& n : all) n = take(at);
    return all;
  }
  /// Takes the next process, and lets it yield.
  std::uint64_t take_and_yield(unsigned at) {
    thunk t = next(at);
    std::uint64_t const n = t.answer();
    (*this)[at].put(std::move(t), put_reason::yielded);
    return n;
  }
  /// Takes the next process, which starts another one like itself, and ends.
  std::uint64_t take_and_start(unsigned at) {
    std::uint64_t const n = take(at);
    put(at, n);
    return n;
  }

 private:
  thunk next(unsigned at) { return (*this)[at].take(instant::max(), quiescence_test()); }

  stealing backend_;
  std::vector<std::unique_ptr<stealing::worker>> all_;
};

}  // namespace weft::tests
