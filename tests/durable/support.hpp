// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/durable/memory_log.hpp"
#include "tests/support/own_directory.hpp"
#include "weft/durable/engine.hpp"
#include "weft/durable/memory_store.hpp"
#include "weft/durable/replicated_store.hpp"
#include "weft/durable/sqlite_store.hpp"
#include "weft/effects/effects.hpp"

/// What tests of durable processes share.
namespace weft::tests {

enum class store_kind { memory, sqlite, shared };

/// A store of that kind, which can be closed and opened again.
class some_store {
 public:
  explicit some_store(store_kind k) : kind_(k) { open(); }
  durable::store& operator*() { return *store_; }
  durable::store* operator->() { return store_.get(); }
  /// As after the end of the program.
  void reopen() {
    if (kind_ == store_kind::memory) return;
    store_.reset();
    open();
  }

 private:
  void open() {
    if (kind_ == store_kind::memory)
      store_ = std::make_unique<durable::memory_store>();
    else if (kind_ == store_kind::shared)
      store_ = std::make_unique<durable::replicated_store>(
          log_, durable::replicated_store_options{.has_thread = false});
    else
      store_ = std::make_unique<durable::sqlite_store>(
          folder_.file("store.db"), durable::sqlite_store_options{.waits_for_disk = false});
  }
  store_kind kind_;
  own_directory folder_;
  log_medium medium_;
  memory_log log_{medium_};
  std::unique_ptr<durable::store> store_;
};

/// The outside, for steps: what was done, with which key.
struct world {
  struct act : op<int> {
    act(std::string w, int n) : what(std::move(w)), number(n) {}
    std::string what;
    int number;
  };
  using operations = op_list<act>;
};
/// Notes each act, and answers with its number; fails as often as it was told to.
class noted_world : public handler<world> {
 public:
  static constexpr bool thread_safe = true;
  int on(world::act a) {
    std::scoped_lock const locked(lock_);
    acts_.push_back(a.what);
    if (failures_[a.what] > 0) {
      --failures_[a.what];
      throw std::runtime_error(a.what + " is out of order");
    }
    return a.number;
  }
  void fail(std::string const& what, int times) { failures_[what] = times; }
  [[nodiscard]] std::vector<std::string> acts() const {
    std::scoped_lock const locked(lock_);
    return acts_;
  }
  [[nodiscard]] int count(std::string const& what) const {
    std::scoped_lock const locked(lock_);
    return static_cast<int>(std::ranges::count(acts_, what));
  }

 private:
  mutable std::mutex lock_;
  std::vector<std::string> acts_;
  std::map<std::string, int> failures_;
};
inline eff<int, world> act(std::string const& what, int n) {
  co_return co_await world::act(what, n);
}

/// The options of an engine that ends with its processes, in virtual time.
inline durable::engine_options until_all_ended() {
  return {.until = durable::run_until::all_ended, .clock = durable::clock_source::scheduler};
}
inline durable::engine_options until_idle() {
  return {.until = durable::run_until::idle, .clock = durable::clock_source::scheduler};
}

}  // namespace weft::tests
