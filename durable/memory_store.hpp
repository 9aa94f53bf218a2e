// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "weft/durable/detail/store_state.hpp"
#include "weft/durable/store.hpp"

namespace weft::durable {

/// How a store in memory fails.
struct memory_store_options {
  /// How many crashes may happen.  Under explore, a crash may come before or after each call that
  /// changes the store.
  std::size_t crashes = 0;
};

/// Thrown by a store in memory whose computer has crashed: no call succeeds until restart().
struct [[gnu::visibility("default")]] simulated_crash : std::exception {
  [[nodiscard]] char const* what() const noexcept override {
    return "weft: the computer of a memory_store has crashed";
  }
};

/// A store in memory, for tests.  Under explore, random_walk and the like, a crash may come before
/// or after each change, as the explorer decides: then the call throws simulated_crash, and so does
/// each later call until restart(); changes before the crash stay.  Without an explorer there is no
/// crash.
///
/// An explorer that leaves out equivalent schedules is told of the accesses to each process, to the
/// set of all processes, to their ids, and to the state of the computer, which each call reads.  So
/// a call that reads one process and a call that changes another one may change places.
///
/// Each call is O(log n) in the processes, plus what it returns or stores.  Thread safe.
class memory_store final : public store {
 public:
  explicit memory_store(memory_store_options o = {});

  /// Whether a crash has happened since the beginning, or since restart().
  [[nodiscard]] bool has_crashed() const noexcept { return has_crashed_; }
  /// Switches the computer on again, so that calls succeed until the next crash.
  void restart() noexcept;

  void commit(std::span<commit_part* const> parts, std::span<commit_result> results) override;
  commit_effect start(process_start const& s) override;
  commit_effect send(outgoing_message const& m, std::string_view once_key) override;
  bool release(process_key process) override;
  [[nodiscard]] std::optional<process_record> find(std::string_view id) override;
  using store::load;
  [[nodiscard]] std::vector<stored_process> load(std::span<process_key const> keys) override;
  [[nodiscard]] std::vector<stored_message> inbox(process_key process,
                                                  std::uint64_t after) override;
  [[nodiscard]] std::vector<process_record> list(process_key after, std::size_t limit) override;
  std::vector<process_key> wake_due(timestamp now, std::size_t limit) override;
  [[nodiscard]] std::optional<timestamp> next_wake() override;
  [[nodiscard]] std::vector<process_key> ready(process_key after, std::size_t limit) override;
  [[nodiscard]] bool any_unfinished() override;

 private:
  template <class Change>
  auto change(Change const& c);
  void require_running() const;

  std::mutex lock_;
  detail::store_state state_;
  std::size_t crashes_left_;
  bool has_crashed_ = false;  // a location, to an explorer
};

}  // namespace weft::durable
