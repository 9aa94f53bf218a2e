// SPDX-License-Identifier: MIT
#include "weft/durable/memory_store.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "weft/durable/detail/answers.hpp"
#include "weft/sched/base/decision.hpp"
#include "weft/sched/base/detail/location_listener.hpp"

namespace weft::durable {

namespace {
constexpr std::array<std::string_view, 3> ways{"commit", "crash before the commit",
                                               "crash after the commit"};
}

memory_store::row::row() { weft::detail::note_created(this); }
memory_store::row::~row() { weft::detail::note_destroyed(this); }

memory_store::memory_store(memory_store_options o) : crashes_left_(o.crashes) {
  for (void const* const location :
       {static_cast<void const*>(&all_), static_cast<void const*>(&by_id_),
        static_cast<void const*>(&has_crashed_)})
    weft::detail::note_created(location);
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
  weft::detail::note_access(&all_, true);
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

memory_store::row& memory_store::changed(process_key k) {
  row& r = *all_[static_cast<std::size_t>(k - 1)];
  weft::detail::note_access(&r, true);
  return r;
}
memory_store::row const& memory_store::read(process_key k) const {
  row const& r = *all_[static_cast<std::size_t>(k - 1)];
  weft::detail::note_access(&r, false);
  return r;
}

memory_store::row& memory_store::row_of(std::string const& id) {
  auto const [at, is_new] = by_id_.try_emplace(id, static_cast<process_key>(all_.size() + 1));
  weft::detail::note_access(&by_id_, is_new);
  if (is_new) {
    all_.push_back(std::make_unique<row>());
    process_record& r = all_.back()->record;
    r.key = at->second;
    r.start.id = id;
    r.status = process_status::unborn;
  }
  return changed(at->second);
}

commit_effect memory_store::deliver(std::string const& from, outgoing_message const& m) {
  row& p = row_of(m.to);
  p.inbox.push_back({++last_sequence_, from, m.type, m.data});
  if (p.record.status == process_status::waiting) set_status(p, {});
  return {p.record.key, p.record.status, p.inbox.back()};
}

commit_effect memory_store::begin(process_start const& s) {
  row& p = row_of(s.id);
  if (p.record.status == process_status::unborn) {
    p.record.start = s;
    p.record.status = process_status::ready;
  }
  return {p.record.key, p.record.status, {}};
}

void memory_store::set_status(row& p, status_change const& s) {
  process_record& r = p.record;
  if (r.wake) alarms_.erase({*r.wake, r.key});
  r.wake.reset();
  r.status = s.now;
  if (is_closed(s.now)) r.result = s.result;
  if (s.now != process_status::waiting) return;
  if (p.inbox.size() > s.known) {
    r.status = process_status::ready;
  } else if (s.wake) {
    r.wake = s.wake;
    alarms_.emplace(*s.wake, r.key);
  }
}

bool memory_store::apply(commit_part const& part, commit_result& result) {
  if (!has(part.process)) return false;
  row& p = changed(part.process);
  if (p.record.run != part.run || p.log.size() != part.first || is_closed(p.record.status))
    return false;
  p.log.insert(p.log.end(), part.entries.begin(), part.entries.end());
  for (auto const taken : part.received)
    std::erase_if(p.inbox, [&](auto const& m) { return m.sequence == taken; });
  if (part.published) p.record.published = *part.published;
  if (part.continued) {
    p.log.clear();
    p.record.start.arguments = *part.continued;
    ++p.record.run;
  }
  if (part.status) set_status(p, *part.status);
  for (auto const& s : part.started) {
    result.effects.push_back(begin(s));
    process_record const& r = row_of(s.id).record;
    if (has_ended(r.status))
      result.effects.push_back(deliver(s.id, detail::message_of_end(s.parent, r.status, r.result)));
  }
  for (auto const& m : part.sent) result.effects.push_back(deliver(part.id, m));
  return true;
}

void memory_store::commit(std::span<commit_part* const> parts, std::span<commit_result> results) {
  change([&] {
    for (std::size_t i = 0; i != parts.size(); ++i)
      results[i].is_accepted = apply(*parts[i], results[i]);
    return true;
  });
}

commit_effect memory_store::start(process_start const& s) {
  return change([&] { return begin(s); });
}

commit_effect memory_store::send(outgoing_message const& m, std::string_view once_key) {
  return change([&] {
    bool const was_sent = !once_key.empty() && !once_keys_.emplace(once_key).second;
    if (!was_sent) return deliver({}, m);
    process_record const& r = row_of(m.to).record;
    return commit_effect{r.key, r.status, {}};
  });
}

bool memory_store::release(process_key process) {
  return change([&] {
    if (!has(process)) return false;
    row& p = changed(process);
    if (p.record.status != process_status::quarantined) return false;
    p.record.result.clear();
    set_status(p, {});
    return true;
  });
}

namespace {
process_record counted(stored_process const& p) {
  process_record r = p.record;
  r.entries = p.log.size();
  r.messages = p.inbox.size();
  return r;
}
}  // namespace

std::optional<process_record> memory_store::find(std::string_view id) {
  std::scoped_lock const locked(lock_);
  require_running();
  weft::detail::note_access(&by_id_, false);
  auto const at = by_id_.find(id);
  if (at == by_id_.end()) return std::nullopt;
  return counted(read(at->second));
}

std::vector<stored_process> memory_store::load(std::span<process_key const> keys) {
  std::scoped_lock const locked(lock_);
  require_running();
  std::vector<stored_process> all;
  all.reserve(keys.size());
  for (auto const k : keys) {
    if (!has(k)) throw store_error("weft: a memory_store has no process " + std::to_string(k));
    all.push_back(read(k));
    all.back().record = counted(all.back());
  }
  return all;
}

std::vector<stored_message> memory_store::inbox(process_key process, std::uint64_t after) {
  std::scoped_lock const locked(lock_);
  require_running();
  if (!has(process)) return {};
  std::vector<stored_message> some = read(process).inbox;
  std::erase_if(some, [after](auto const& m) { return m.sequence <= after; });
  return some;
}

std::vector<process_record> memory_store::list(process_key after, std::size_t limit) {
  std::scoped_lock const locked(lock_);
  require_running();
  weft::detail::note_access(&all_, false);
  std::vector<process_record> some;
  for (auto k = static_cast<std::size_t>(after); k < all_.size() && some.size() < limit; ++k)
    some.push_back(counted(*all_[k]));
  return some;
}

std::vector<process_key> memory_store::wake_due(timestamp now, std::size_t limit) {
  {
    std::scoped_lock const locked(lock_);
    require_running();
    weft::detail::note_access(&all_, false);
    if (alarms_.empty() || alarms_.begin()->first > now) return {};
  }
  return change([&] {
    std::vector<process_key> due;
    while (!alarms_.empty() && alarms_.begin()->first <= now && due.size() < limit) {
      process_key const k = alarms_.begin()->second;
      set_status(changed(k), {});
      due.push_back(k);
    }
    return due;
  });
}

std::optional<timestamp> memory_store::next_wake() {
  std::scoped_lock const locked(lock_);
  require_running();
  weft::detail::note_access(&all_, false);
  if (alarms_.empty()) return std::nullopt;
  return alarms_.begin()->first;
}

std::vector<process_key> memory_store::ready(process_key after, std::size_t limit) {
  std::scoped_lock const locked(lock_);
  require_running();
  weft::detail::note_access(&all_, false);
  std::vector<process_key> some;
  for (auto k = static_cast<std::size_t>(after); k < all_.size() && some.size() < limit; ++k)
    if (all_[k]->record.status == process_status::ready)
      some.push_back(static_cast<process_key>(k + 1));
  return some;
}

bool memory_store::any_unfinished() {
  std::scoped_lock const locked(lock_);
  require_running();
  weft::detail::note_access(&all_, false);
  return std::ranges::any_of(all_, [](auto const& p) {
    return p->record.status == process_status::ready || p->record.status == process_status::waiting;
  });
}

}  // namespace weft::durable
