// SPDX-License-Identifier: MIT
#include "weft/durable/replicated_store.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace weft::durable {

using detail::command;
using detail::command_result;

namespace {
/// A name that no other handle has.
std::string unique_name() {
  static constexpr std::string_view digits = "0123456789abcdefghijklmnopqrstuv";
  std::random_device random;
  std::string name(26, '0');  // 130 bits
  for (auto& c : name) c = digits[random() % digits.size()];
  return name;
}
}  // namespace

// ---- the log

void replicated_store::note_effects(command_result const& did) {
  auto const note = [this](commit_effect const& e) {
    if (e.process != 0 && replica_.worker_of(e.process) == me_) changes_.push_back({e, false});
  };
  for (auto const& r : did.results)
    for (auto const& e : r.effects) note(e);
  note(did.effect);
}

void replicated_store::note_change_of_other(detail::replica::applied_command const& done) {
  auto const kind = done.what.what;
  others_changed_ =
      others_changed_ || (kind != command::kind::beat && kind != command::kind::claim);
  if (!is_worker_) return;
  note_effects(done.did);
  if (done.what.what == command::kind::expire && done.did.flag && done.what.name == me_) {
    for (auto const k : done.did.keys) changes_.push_back({{k, {}, {}}, true});
    joins_again_ = true;
  }
}

void replicated_store::carry_out(std::uint64_t number, std::string_view entry) {
  detail::replica::applied_command done;
  try {
    done = replica_.apply(number, entry);
  } catch (...) {  // this copy lacks the entry, unlike the others, so it is not used any more
    cannot_read_ = std::current_exception();
    throw;
  }
  if (!done.is_done) return;
  if (done.writer == me_ && done.number == pending_)
    done_ = std::move(done.did);
  else
    note_change_of_other(done);  // also for a command of this handle whose append() has thrown
}

void replicated_store::carry_out_arrived() {
  if (cannot_read_) std::rethrow_exception(cannot_read_);
  for (auto const& e : log_.take(replica_.length()))
    if (e.number > replica_.length()) carry_out(e.number, e.bytes);
}

template <class F>
auto replicated_store::with_copy(F const& f) {
  bool have_others_changed = false;
  auto const with_lock = [&] {
    std::scoped_lock const locked(lock_);
    carry_out_arrived();
    have_others_changed = std::exchange(others_changed_, false);
    return f();
  };
  auto result = with_lock();
  if (have_others_changed) tell_of_change();
  return result;
}

void replicated_store::tell_of_change() {
  std::scoped_lock const locked(tell_lock_);
  if (on_change_) on_change_();
}

/// Waits until the entry with that number has arrived, unless it was carried out already.
void replicated_store::wait_for(std::uint64_t number) {
  bool const is_here = with_copy([&] { return replica_.length() >= number; });
  if (!is_here) log_.wait_for(number);
}

template <class F>
auto replicated_store::with_newest_copy(F const& f) {
  wait_for(log_.last());
  return with_copy(f);
}

command_result replicated_store::execute(std::string const& body) {
  std::scoped_lock const one_at_a_time(append_lock_);
  {
    std::scoped_lock const locked(lock_);
    pending_ = ++number_;
    done_.reset();
  }
  try {
    return append_command(body);
  } catch (...) {
    std::scoped_lock const locked(lock_);
    pending_ = 0;  // a command that is carried out later counts as a change of others
    if (done_ && is_worker_) note_effects(*done_);
    others_changed_ = true;
    throw;
  }
}

command_result replicated_store::append_command(std::string const& body) {
  detail::envelope e{me_, number_, 0, 1, {}};
  static constexpr std::size_t overhead = 64;  // an upper bound of the bytes that an envelope adds
  std::size_t const most = log_.max_size() - overhead;
  e.pieces = static_cast<std::uint32_t>(body.size() / most + 1);
  std::uint64_t at = 0;
  for (; e.piece != e.pieces; ++e.piece) {
    e.body = std::string_view(body).substr(e.piece * most, most);
    std::string const entry = encode_envelope(e);
    at = log_.append(entry);
    with_copy([&] {
      if (replica_.length() + 1 == at) carry_out(at, entry);  // without waiting for its arrival
      return true;
    });
  }
  wait_for(at);
  return with_copy([&] {
    has_written_ = true;
    if (!done_) throw store_error("weft: a shared store has lost a command of its log");
    return std::move(*done_);
  });
}

replicated_store::replicated_store(command_log& log, replicated_store_options o)
    : log_(log), how_(std::move(o)), me_(unique_name()) {
  with_newest_copy([] { return true; });
  log_.on_arrival([this] {
    try {
      with_copy([] { return true; });
    } catch (std::exception const&) {  // the next call of this store throws it
    }
  });
}

replicated_store::~replicated_store() {
  replicated_store::leave();
  log_.on_arrival([] {});
}

// ---- workers

void replicated_store::join(std::string name, std::function<void()> on_change) {
  {
    std::scoped_lock const locked(tell_lock_);
    on_change_ = std::move(on_change);
  }
  {
    std::scoped_lock const locked(lock_);
    is_worker_ = true;
    name_ = name;
  }
  execute({.what = command::kind::leave});  // the last leave() may have failed
  execute({.what = command::kind::beat, .name = std::move(name)});
  if (!how_.has_thread || watcher_.joinable()) return;
  is_watching_ = true;
  watcher_ = std::thread([this] { watch(); });
}

void replicated_store::leave() noexcept {
  {
    std::scoped_lock const locked(watch_lock_);
    is_watching_ = false;
    watch_ends_.notify_all();
  }
  if (watcher_.joinable()) watcher_.join();
  {
    std::scoped_lock const locked(tell_lock_);
    on_change_ = nullptr;
  }
  {
    std::scoped_lock const locked(lock_);
    changes_.clear();
    if (!std::exchange(is_worker_, false)) return;
  }
  try {
    execute({.what = command::kind::leave});
  } catch (std::exception const&) {  // others declare this worker dead when the lease ends
  }
}

void replicated_store::watch() {
  std::unique_lock locked(watch_lock_);
  while (!watch_ends_.wait_for(locked, how_.lease / 20, [this] { return !is_watching_; })) {
    locked.unlock();
    try {
      tick(clock::now());
    } catch (std::exception const&) {  // the calls of the engine throw it, too
    }
    locked.lock();
  }
}

void replicated_store::tick(time_point now) {
  std::vector<command> all;
  with_newest_copy([&] {
    if (!is_worker_) return true;
    time_point const last = std::exchange(ticked_, now);
    // If this handle was frozen or cut off, others perhaps were as well: their leases begin anew.
    if (now - last >= how_.lease / 2) signs_.clear();
    if (std::exchange(has_written_, false)) written_ = last;
    if (std::exchange(joins_again_, false) || now - written_ >= how_.lease / 4)
      all.push_back({.what = command::kind::beat, .name = name_});
    std::erase_if(signs_, [&](auto const& s) { return !replica_.workers().contains(s.first); });
    for (auto const& [id, w] : replica_.workers()) {
      if (id == me_) continue;
      auto const [at, is_new] = signs_.try_emplace(id, sign_of_life{w.heard, now});
      sign_of_life& sign = at->second;
      if (sign.heard != w.heard) sign = {w.heard, now};
      if (now - sign.at >= how_.lease)
        all.push_back({.what = command::kind::expire, .name = id, .heard = w.heard});
    }
    return true;
  });
  for (auto const& c : all) {
    command_result const did = execute(c);
    if (!did.keys.empty()) tell_of_change();  // the freed processes can be claimed
  }
}

std::vector<process_key> replicated_store::claim(std::size_t limit) {
  auto name = with_copy([&] { return name_; });
  return execute({.what = command::kind::claim, .limit = limit, .name = std::move(name)}).keys;
}
std::size_t replicated_store::free_processes() {
  return with_copy([&] { return replica_.free_processes(); });
}
std::size_t replicated_store::other_workers() {
  return with_copy(
      [&] { return replica_.workers().size() - (replica_.workers().contains(me_) ? 1 : 0); });
}
void replicated_store::disown(std::span<process_key const> keys) {
  execute({.what = command::kind::disown, .keys = {keys.begin(), keys.end()}});
}
std::vector<change_of_others> replicated_store::take_changes() {
  return with_copy([&] { return std::exchange(changes_, {}); });
}
std::vector<worker_record> replicated_store::workers() {
  return with_newest_copy([&] {
    std::vector<worker_record> all;
    for (auto const& [id, w] : replica_.workers())
      all.push_back({w.name, w.owned.size(), id == me_});
    std::ranges::sort(all, {}, &worker_record::name);  // the map is in the order of random ids
    return all;
  });
}

// ---- the store

void replicated_store::commit(std::span<commit_part* const> parts,
                              std::span<commit_result> results) {
  auto did = execute(detail::encode_commit(parts));
  std::ranges::move(did.results, results.begin());
}
commit_effect replicated_store::start(process_start const& s) {
  return execute({.what = command::kind::start, .process = s}).effect;
}
commit_effect replicated_store::send(outgoing_message const& m, std::string_view once_key) {
  return execute({.what = command::kind::send, .message = m, .once_key = std::string(once_key)})
      .effect;
}
bool replicated_store::release(process_key process) {
  return execute({.what = command::kind::release, .key = process}).flag;
}

std::optional<process_record> replicated_store::find(std::string_view id) {
  return with_newest_copy([&] { return replica_.state().find(id); });
}

std::vector<stored_process> replicated_store::load(std::span<process_key const> keys) {
  return with_copy([&] {
    std::vector<stored_process> all;
    all.reserve(keys.size());
    for (auto const k : keys) {
      if (!replica_.state().has(k))
        throw store_error("weft: the shared store has no process " + std::to_string(k));
      all.push_back(replica_.state().load(k));
    }
    return all;
  });
}

std::vector<stored_message> replicated_store::inbox(process_key process, std::uint64_t after) {
  return with_copy([&] { return replica_.state().inbox(process, after); });
}

std::vector<process_record> replicated_store::list(process_key after, std::size_t limit) {
  return with_newest_copy([&] { return replica_.state().list(after, limit); });
}

std::vector<process_key> replicated_store::wake_due(timestamp now, std::size_t limit) {
  auto const next = next_wake();
  if (!next || *next > now) return {};
  return execute({.what = command::kind::wake, .now = now, .limit = limit}).keys;
}

std::optional<timestamp> replicated_store::next_wake() {
  return with_copy([&] { return replica_.state().next_wake(); });
}

std::vector<process_key> replicated_store::ready(process_key after, std::size_t limit) {
  return with_copy([&] { return replica_.state().ready(after, limit); });
}

bool replicated_store::any_unfinished() {
  return with_newest_copy([&] { return replica_.state().any_unfinished(); });
}

}  // namespace weft::durable
