// SPDX-License-Identifier: MIT
#include "weft/durable/detail/store_state.hpp"

#include <algorithm>

#include "weft/durable/detail/answers.hpp"
#include "weft/sched/base/detail/location_listener.hpp"

namespace weft::durable::detail {

using weft::detail::note_access;

store_state::row::row() { weft::detail::note_created(this); }
store_state::row::~row() { weft::detail::note_destroyed(this); }

store_state::store_state() {
  weft::detail::note_created(&all_);
  weft::detail::note_created(&by_id_);
}

void store_state::note_change() { note_access(&all_, true); }

store_state::row& store_state::changed(process_key k) {
  row& r = *all_[static_cast<std::size_t>(k - 1)];
  note_access(&r, true);
  return r;
}
store_state::row const& store_state::read(process_key k) const {
  row const& r = *all_[static_cast<std::size_t>(k - 1)];
  note_access(&r, false);
  return r;
}

store_state::row& store_state::row_of(std::string const& id) {
  auto const [at, is_new] = by_id_.try_emplace(id, static_cast<process_key>(all_.size() + 1));
  note_access(&by_id_, is_new);
  if (is_new) {
    all_.push_back(std::make_unique<row>());
    process_record& r = all_.back()->record;
    r.key = at->second;
    r.start.id = id;
    r.status = process_status::unborn;
  }
  return changed(at->second);
}

void store_state::set_status(row& p, process_status s) {
  process_record& r = p.record;
  if (r.status == process_status::ready) ready_.erase(r.key);
  if (r.status == process_status::waiting) --waiting_;
  r.status = s;
  if (s == process_status::ready) ready_.insert(r.key);
  if (s == process_status::waiting) ++waiting_;
}

void store_state::set_status(row& p, status_change const& s) {
  process_record& r = p.record;
  if (r.wake) alarms_.erase({*r.wake, r.key});
  r.wake.reset();
  // A process with messages that it does not know stays ready (STORE-5).
  bool const waits = s.now == process_status::waiting && p.inbox.size() <= s.known;
  set_status(p, s.now == process_status::waiting && !waits ? process_status::ready : s.now);
  if (is_closed(s.now)) r.result = s.result;
  if (waits && s.wake) {
    r.wake = s.wake;
    alarms_.emplace(*s.wake, r.key);
  }
}

commit_effect store_state::deliver(std::string const& from, outgoing_message const& m) {
  row& p = row_of(m.to);
  p.inbox.push_back({++last_sequence_, from, m.type, m.data});
  if (p.record.status == process_status::waiting) set_status(p, status_change());
  return {p.record.key, p.record.status, p.inbox.back()};
}

commit_effect store_state::start(process_start const& s) {
  row& p = row_of(s.id);
  if (p.record.status == process_status::unborn) {
    p.record.start = s;
    set_status(p, process_status::ready);
  }
  return {p.record.key, p.record.status, {}};
}

commit_result store_state::commit(commit_part const& part) {
  if (!has(part.process)) return {};
  row& p = changed(part.process);
  if (p.record.run != part.run || p.log.size() != part.first || is_closed(p.record.status))
    return {};  // the part is fenced (STORE-3)
  commit_result result{true, {}};
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
    result.effects.push_back(start(s));
    process_record const& r = row_of(s.id).record;
    if (has_ended(r.status))
      result.effects.push_back(deliver(s.id, message_of_end(s.parent, r.status, r.result)));
  }
  for (auto const& m : part.sent) result.effects.push_back(deliver(part.id, m));
  return result;
}

commit_effect store_state::send(outgoing_message const& m, std::string_view once_key) {
  bool const was_sent = !once_key.empty() && !once_keys_.emplace(once_key).second;
  if (!was_sent) return deliver({}, m);
  process_record const& r = row_of(m.to).record;
  return {r.key, r.status, {}};
}

bool store_state::release(process_key process) {
  if (!has(process)) return false;
  row& p = changed(process);
  if (p.record.status != process_status::quarantined) return false;
  p.record.result.clear();
  set_status(p, status_change());
  return true;
}

std::vector<process_key> store_state::wake_due(timestamp now, std::size_t limit) {
  std::vector<process_key> due;
  while (!alarms_.empty() && alarms_.begin()->first <= now && due.size() < limit) {
    process_key const k = alarms_.begin()->second;
    set_status(changed(k), status_change());
    due.push_back(k);
  }
  return due;
}

namespace {
process_record counted(stored_process const& p) {
  process_record r = p.record;
  r.entries = p.log.size();
  r.messages = p.inbox.size();
  return r;
}
}  // namespace

std::optional<process_record> store_state::find(std::string_view id) const {
  note_access(&by_id_, false);
  auto const at = by_id_.find(id);
  if (at == by_id_.end()) return std::nullopt;
  return counted(read(at->second));
}

stored_process store_state::load(process_key k) const {
  stored_process p = read(k);
  p.record = counted(p);
  return p;
}

std::vector<stored_message> store_state::inbox(process_key process, std::uint64_t after) const {
  if (!has(process)) return {};
  std::vector<stored_message> some = read(process).inbox;
  std::erase_if(some, [after](auto const& m) { return m.sequence <= after; });
  return some;
}

std::vector<process_record> store_state::list(process_key after, std::size_t limit) const {
  note_access(&all_, false);
  std::vector<process_record> some;
  for (auto k = static_cast<std::size_t>(after); k < all_.size() && some.size() < limit; ++k)
    some.push_back(counted(*all_[k]));
  return some;
}

std::optional<timestamp> store_state::next_wake() const {
  note_access(&all_, false);
  if (alarms_.empty()) return std::nullopt;
  return alarms_.begin()->first;
}

std::vector<process_key> store_state::ready(process_key after, std::size_t limit) const {
  note_access(&all_, false);
  std::vector<process_key> some;
  for (auto at = ready_.upper_bound(after); at != ready_.end() && some.size() < limit; ++at)
    some.push_back(*at);
  return some;
}

bool store_state::any_unfinished() const {
  note_access(&all_, false);
  return !ready_.empty() || waiting_ != 0;
}

}  // namespace weft::durable::detail
