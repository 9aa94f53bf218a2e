// SPDX-License-Identifier: MIT
#include "weft/durable/memory_store.hpp"

#include <array>
#include <string>

#include "weft/sched/base/decision.hpp"
#include "weft/sched/base/detail/location_listener.hpp"

namespace weft::durable {

namespace {
constexpr std::array<std::string_view, 3> ways{"commit", "crash before the commit",
                                               "crash after the commit"};
}

memory_store::memory_store(memory_store_options o) : crashes_left_(o.crashes) {
  weft::detail::note_created(&has_crashed_);
}

void memory_store::restart() noexcept {
  weft::detail::note_access(&has_crashed_, true);
  has_crashed_ = false;
}

void memory_store::require_running() const {
  weft::detail::note_access(&has_crashed_, false);
  if (has_crashed_) throw simulated_crash();
}

/// Makes a change, with a crash before or after it if the explorer wants one.
template <class Change>
auto memory_store::change(Change const& c) {
  std::scoped_lock const locked(lock_);
  require_running();
  state_.note_change();
  std::size_t const way = crashes_left_ == 0 ? 0 : decide(ways);
  if (way != 0) {
    weft::detail::note_access(&has_crashed_, true);
    --crashes_left_;
    has_crashed_ = true;
  }
  if (way == 1) throw simulated_crash();
  auto result = c();
  if (way == 2) throw simulated_crash();
  return result;
}

void memory_store::commit(std::span<commit_part* const> parts, std::span<commit_result> results) {
  change([&] {
    for (std::size_t i = 0; i != parts.size(); ++i) results[i] = state_.commit(*parts[i]);
    return true;
  });
}

commit_effect memory_store::start(process_start const& s) {
  return change([&] { return state_.start(s); });
}

commit_effect memory_store::send(outgoing_message const& m, std::string_view once_key) {
  return change([&] { return state_.send(m, once_key); });
}

bool memory_store::release(process_key process) {
  return change([&] { return state_.release(process); });
}

std::vector<process_key> memory_store::wake_due(timestamp now, std::size_t limit) {
  {
    std::scoped_lock const locked(lock_);
    require_running();
    auto const next = state_.next_wake();
    if (!next || *next > now) return {};
  }
  return change([&] { return state_.wake_due(now, limit); });
}

std::optional<process_record> memory_store::find(std::string_view id) {
  std::scoped_lock const locked(lock_);
  require_running();
  return state_.find(id);
}

std::vector<stored_process> memory_store::load(std::span<process_key const> keys) {
  std::scoped_lock const locked(lock_);
  require_running();
  std::vector<stored_process> all;
  all.reserve(keys.size());
  for (auto const k : keys) {
    if (!state_.has(k))
      throw store_error("weft: a memory_store has no process " + std::to_string(k));
    all.push_back(state_.load(k));
  }
  return all;
}

std::vector<stored_message> memory_store::inbox(process_key process, std::uint64_t after) {
  std::scoped_lock const locked(lock_);
  require_running();
  return state_.inbox(process, after);
}

std::vector<process_record> memory_store::list(process_key after, std::size_t limit) {
  std::scoped_lock const locked(lock_);
  require_running();
  return state_.list(after, limit);
}

std::optional<timestamp> memory_store::next_wake() {
  std::scoped_lock const locked(lock_);
  require_running();
  return state_.next_wake();
}

std::vector<process_key> memory_store::ready(process_key after, std::size_t limit) {
  std::scoped_lock const locked(lock_);
  require_running();
  return state_.ready(after, limit);
}

bool memory_store::any_unfinished() {
  std::scoped_lock const locked(lock_);
  require_running();
  return state_.any_unfinished();
}

}  // namespace weft::durable
