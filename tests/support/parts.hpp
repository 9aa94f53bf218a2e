// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "tests/support/thunks.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/base/detail/location_listener.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/errors.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/sched/base/thunk.hpp"
#include "weft/sched/sync/gate.hpp"

/// For tests of one part of a scheduler without the others: processes that no scheduler runs, and
/// a scheduler that only keeps the processes that become ready.
namespace weft::tests {

/// A process that is suspended at syncing::wait.  Its result slot lies in its frame.
inline thunk suspended_process(std::uint64_t number = 0) {
  static nowhere ground;
  auto slot = std::make_unique<detail::result_slot<void>>();
  auto& waiting = *slot;
  auto const first = [](std::unique_ptr<detail::result_slot<void>>)
      -> eff<void> { co_return; }(std::move(slot)).release(detail::internal());
  thunk t(process::start({}, first, nullptr, ground, waiting, true), number);
  t.get()->suspend_here(detail::info_of<syncing::wait>, first, waiting);
  return t;
}
/// Whether the wait of the process was answered with `cancelled`.
inline bool is_failed(process const& p) {
  auto const error = static_cast<detail::result_slot<void> const&>(p.waiting()).error();
  return error && detail::is_cancelled(error);
}
/// Whether the process was made ready by ready_sink::wake_cancelled().
inline bool is_cancelled(process const& p) noexcept { return !is_failed(p) && !p.has_answer(); }

/// Refuses no process.
constexpr auto none_refused = [](process const&) noexcept { return false; };
/// Means, or refuses, every process.
constexpr auto every_process = [](process const&) noexcept { return true; };
/// Means that process alone.
inline auto only(thunk const& t) noexcept {
  return [p = t.get()](process const& q) noexcept { return &q == p; };
}

/// A scheduler, as one part of it sees it, that keeps the processes that become ready.
template <class Part = detail::ready_sink>
class keeping : public Part {
 public:
  struct entry {
    thunk what;
    bool from_outside = false;
    detail::injection_node const* node = nullptr;  // the memory that it was put with
  };
  virtual ~keeping() = default;

  /// Takes all processes that have become ready, in order.
  std::vector<entry> take() {
    std::lock_guard const lock(mutex_);
    return std::exchange(kept_, {});
  }
  /// The same, as addresses.
  std::vector<process*> take_processes() {
    std::vector<process*> all;
    for (auto const& e : take()) all.push_back(e.what.get());
    return all;
  }
  /// The number of puts from outside, from now on, that throw bad_alloc.
  void fail_puts(int n) noexcept { failing_ = n; }
  /// The number of puts that have thrown.
  [[nodiscard]] int failed_puts() const noexcept { return failed_; }

 protected:
  void make_ready(thunk t) noexcept override { keep({std::move(t)}); }
  void put_from_outside(thunk& t) override { put_from_outside(t, nullptr); }
  void put_from_outside(thunk& t, detail::spare_node in) override {
    if (failing_ > 0) {
      --failing_;
      ++failed_;
      throw std::bad_alloc();
    }
    keep({std::move(t), true, in.get()});
  }
  [[nodiscard]] detail::spare_node reserve_put() override {
    return std::make_unique<detail::injection_node>();
  }

 private:
  void keep(entry e) {
    std::lock_guard const lock(mutex_);
    kept_.push_back(std::move(e));
  }

  std::mutex mutex_;
  std::vector<entry> kept_;
  std::atomic<int> failing_ = 0;
  std::atomic<int> failed_ = 0;
};

/// Keeps the accesses to locations of this thread while it lives.
class accesses final : public detail::location_listener {
 public:
  struct access {
    void const* at;
    bool is_written;
    friend bool operator==(access, access) = default;
  };

  accesses() noexcept { of_thread = this; }
  ~accesses() { of_thread = nullptr; }
  /// Takes all accesses so far.
  std::vector<access> take() { return std::exchange(all_, {}); }

 private:
  void note_created(void const*) noexcept override {}
  void note_destroyed(void const*) noexcept override {}
  void note_access(void const* at, bool is_written) noexcept override {
    all_.push_back({at, is_written});
  }
  void note_time() noexcept override {}
  void note_all_cancelled() noexcept override {}
  void note_fork(process_id, process_id, void const*) noexcept override {}
  void note_rerun() noexcept override {}

  std::vector<access> all_;
};

}  // namespace weft::tests
