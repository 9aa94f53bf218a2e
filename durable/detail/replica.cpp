// SPDX-License-Identifier: MIT
#include "weft/durable/detail/replica.hpp"

#include <utility>

namespace weft::durable::detail {

std::string_view replica::worker_of(process_key k) const {
  auto const found = owners_.find(k);
  return found == owners_.end() ? std::string_view() : found->second->first;
}

void replica::look_at(process_key k) {
  if (!state_.has(k)) return;
  process_status const now = state_.status(k);
  if (is_closed(now))
    if (auto const found = owners_.find(k); found != owners_.end()) disown(found->second, k);
  if (now == process_status::ready && !owners_.contains(k))
    free_.insert(k);
  else
    free_.erase(k);
}

replica::worker_at replica::join(std::string_view writer, std::string const& name) {
  return workers_.try_emplace(std::string(writer), worker{name, 0, {}}).first;
}

void replica::disown(worker_at w, process_key k) {
  owners_.erase(k);
  w->second.owned.erase(k);
}

void replica::remove(worker_at w, std::vector<process_key>& freed) {
  freed.assign(w->second.owned.begin(), w->second.owned.end());
  for (auto const k : freed) {
    disown(w, k);
    look_at(k);
  }
  workers_.erase(w);
}

void replica::claim(worker_at by, std::size_t limit, std::vector<process_key>& keys) {
  auto at = free_.upper_bound(last_claimed_);
  while (!free_.empty() && keys.size() < limit) {
    if (at == free_.end()) at = free_.begin();
    process_key const k = *at;
    at = free_.erase(at);
    owners_.emplace(k, by);
    by->second.owned.insert(k);
    keys.push_back(k);
    last_claimed_ = k;
  }
}

void replica::commit(std::string_view writer, command& c, command_result& did) {
  did.results.resize(c.parts.size());
  for (std::size_t i = 0; i != c.parts.size(); ++i) {
    commit_part const& p = c.parts[i];
    auto const has_it = worker_of(p.process);
    if (!has_it.empty() && has_it != writer) continue;  // fenced: another worker's (REPLICA-3)
    did.results[i] = state_.commit(p);
    look_at(p.process);
    for (auto const& e : did.results[i].effects) look_at(e.process);
  }
}

command_result replica::carry_out(std::string_view writer, std::uint64_t sequence, command& c) {
  command_result did;
  auto me = workers_.find(writer);
  if (c.what == command::kind::claim || c.what == command::kind::beat) me = join(writer, c.name);
  if (me != workers_.end()) me->second.heard = sequence;
  switch (c.what) {
    case command::kind::commit:
      commit(writer, c, did);
      break;
    case command::kind::start:
      did.effect = state_.start(c.process);
      look_at(did.effect.process);
      break;
    case command::kind::send:
      did.effect = state_.send(c.message, c.once_key);
      look_at(did.effect.process);
      break;
    case command::kind::release:
      did.flag = state_.release(c.key);
      look_at(c.key);
      break;
    case command::kind::wake:
      did.keys = state_.wake_due(c.now, static_cast<std::size_t>(c.limit));
      for (auto const k : did.keys) look_at(k);
      break;
    case command::kind::claim:
      claim(me, static_cast<std::size_t>(c.limit), did.keys);
      break;
    case command::kind::beat:
      break;
    case command::kind::disown:
      for (auto const k : c.keys) {
        if (me == workers_.end() || worker_of(k) != writer) continue;
        disown(me, k);
        look_at(k);
      }
      break;
    case command::kind::leave:
      if (me != workers_.end()) remove(me, did.keys);
      break;
    case command::kind::expire: {
      auto const dead = workers_.find(c.name);
      // A worker that has written since is alive (REPLICA-4).
      did.flag = dead != workers_.end() && dead->second.heard == c.heard;
      if (did.flag) remove(dead, did.keys);
      break;
    }
  }
  return did;
}

namespace {
constexpr std::uint64_t often = 4'096;
constexpr std::uint64_t old = 1'000'000;  // more entries than an append can be late
}  // namespace

void replica::forget_old_writers() {
  if (length_ % often != 0) return;
  std::erase_if(writers_, [this](auto const& w) {
    return w.second.heard + old < length_ && !workers_.contains(w.first);
  });
}

replica::applied_command replica::apply(std::uint64_t sequence, std::string_view entry) {
  envelope const e = decode_envelope(entry);
  length_ = sequence;
  applied_command done{e.writer, e.number, false, {}, {}};
  auto at = writers_.find(e.writer);
  if (at == writers_.end()) at = writers_.try_emplace(std::string(e.writer)).first;
  writer_state& w = at->second;
  w.heard = sequence;
  if (e.number <= w.number || e.number < w.incomplete) return done;  // done before (REPLICA-2)
  if (e.pieces > 1) {
    if (auto const me = workers_.find(e.writer); me != workers_.end())
      me->second.heard = sequence;  // an incomplete command counts, too (REPLICA-4)
    if (w.incomplete != e.number) w = {w.number, sequence, e.number, 0, {}};
    if (e.piece != w.pieces) return done;  // the piece stands in the log twice
    w.body += e.body;
    if (++w.pieces != e.pieces) return done;
  }
  done.what = decode_command(e.pieces > 1 ? std::string_view(w.body) : e.body);
  w = {e.number, sequence, 0, 0, {}};
  done.is_done = true;
  done.did = carry_out(e.writer, sequence, done.what);
  forget_old_writers();
  return done;
}

}  // namespace weft::durable::detail
