// SPDX-License-Identifier: MIT
#include "weft/durable/detail/coordinator.hpp"

#include <algorithm>
#include <chrono>

namespace weft::durable::detail {

namespace {
/// How many processes are begun at once: their logs are loaded together, and they run while their
/// frames are in the cache.
constexpr std::size_t most_at_once = 100;

void ring(std::optional<completer<void>>& bell) {
  if (!bell) return;
  bell->complete();
  bell.reset();
}
}  // namespace

timestamp coordinator::time(instant now) const noexcept {
  using std::chrono::nanoseconds;
  if (how_.clock == clock_source::scheduler)
    return std::chrono::duration_cast<nanoseconds>(now.time_since_epoch()).count();
  auto const today = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<nanoseconds>(today).count();
}

instant coordinator::when(timestamp t, instant now) const noexcept {
  timestamp const here = time(now);
  if (t <= here) return now;
  auto const left = std::chrono::nanoseconds(t - here);
  return left < instant::max() - now ? now + left : instant::max();
}

void coordinator::want(process_key k) {
  if (is_wanted_.insert(k).second) wanted_.push_back(k);
}

bool coordinator::is_over() const {
  if (!seats_.empty() || (!is_stopping_ && to_begin() != 0)) return false;
  if (is_stopping_ || how_.until == run_until::idle) return true;
  return how_.until == run_until::all_ended && !store_.any_unfinished();
}

void coordinator::note_waiting(seat& s) {
  note_running(s);
  s.waits = true;
  s.is_due = false;
  s.place = waiting_.insert(waiting_.end(), &s);
}

void coordinator::note_running(seat& s) {
  if (s.waits) waiting_.erase(s.place);
  s.waits = false;
}

void coordinator::remove(seat& s) {
  note_running(s);
  seats_.erase(s.key);
}

eff<void, weft::mail> coordinator::tell(seat& s, signal& what) {
  if (what.what == signal::kind::message) {
    note_running(s);
    ++s.sent;
  }
  co_await s.to.send(std::move(what));
}

eff<void, weft::mail> coordinator::deliver(commit_effect& e) {
  auto const found = seats_.find(e.process);
  if (found == seats_.end()) {
    if (e.status == process_status::ready && !sharing_) want(e.process);
  } else if (e.message.sequence != 0) {
    signal told(signal::kind::message, std::move(e.message));
    co_await tell(*found->second, told);
  }
}

/// Decides whether this engine runs a process again.  Called when another engine has run it.
void coordinator::look_again_at(process_key k) {
  if (sharing_) {
    left_.push_back(k);
    return;
  }
  process_record const r = store_.load(k).record;
  if (r.status == process_status::ready) want(k);
  if (r.wake) next_wake_ = std::min(next_wake_.value_or(*r.wake), *r.wake);
}

eff<void, weft::mail> coordinator::commit(std::vector<seat*> parts) {
  std::vector<commit_part*> what;
  what.reserve(parts.size());
  for (seat* const s : parts) what.push_back(s->part);
  std::vector<commit_result> results(parts.size());
  store_.commit(what, results);
  bool some_ended = false;
  for (std::size_t i = 0; i != parts.size(); ++i) {
    bool const is_accepted = results[i].is_accepted;
    bool const is_last = !is_accepted || is_last_part(*what[i]);
    if (auto const& status = what[i]->status; status && is_accepted) {
      some_ended = some_ended || has_ended(status->now);
      if (status->now == process_status::waiting) note_waiting(*parts[i]);
      if (status->wake) next_wake_ = std::min(next_wake_.value_or(*status->wake), *status->wake);
    }
    process_key const k = parts[i]->key;
    parts[i]->part = nullptr;
    signal told(is_accepted ? signal::kind::committed : signal::kind::fenced);
    co_await tell(*parts[i], told);
    if (is_last) remove(*parts[i]);  // its driver sends no more orders (COORD-5)
    if (!is_accepted) look_again_at(k);
    for (auto& e : results[i].effects) co_await deliver(e);
  }
  if (some_ended && on_end) on_end();
}

void coordinator::want_all_ready() {
  for (process_key last = 0;;) {
    auto const some = store_.ready(last, how_.max_batch);
    if (some.empty()) break;
    for (auto const k : some)
      if (!seats_.contains(k)) want(k);
    last = some.back();
  }
}

eff<void, weft::mail> coordinator::make_room(seat& s) {
  note_running(s);
  signal told(signal::kind::make_room);
  co_await tell(s, told);
}

bool coordinator::looks_outside() const {
  if (sharing_ || how_.looks_outside.count() == 0) return false;
  // In virtual time each look advances the clock: years would pass while the last process waits.
  return how_.until == run_until::stopped ||
         (how_.until == run_until::all_ended && how_.clock == clock_source::wall);
}

/// Tells a driver of the messages that it may not know.
eff<void, weft::mail> coordinator::tell_of_inbox(seat& s) {
  for (auto& m : store_.inbox(s.key, s.last)) {
    s.last = m.sequence;
    signal told(signal::kind::message, std::move(m));
    co_await tell(s, told);
  }
}

eff<void, weft::mail> coordinator::look_outside() {
  want_all_ready();
  for (auto& [k, s] : seats_) co_await tell_of_inbox(*s);
  next_wake_ = store_.next_wake();
  // The processes that still wait in this engine were ended by others; they would keep their seats
  // for keep_waiting.
  if (how_.until == run_until::all_ended && !store_.any_unfinished())
    for (auto& [k, s] : seats_) co_await make_room(*s);
}

std::vector<process_key> coordinator::next_wanted(std::size_t limit) {
  std::vector<process_key> some;
  while (!wanted_.empty() && some.size() < std::min(limit, most_at_once)) {
    process_key const k = wanted_.front();
    wanted_.pop_front();
    is_wanted_.erase(k);
    if (!seats_.contains(k)) some.push_back(k);
  }
  std::ranges::sort(some);
  return some;
}

eff<void, weft::mail> coordinator::look_at_changes() {
  if (!left_.empty()) sharing_->disown(std::exchange(left_, {}));
  for (auto& c : sharing_->take_changes()) {
    if (!c.is_lost) {
      co_await deliver(c.effect);
    } else if (auto const found = seats_.find(c.effect.process); found != seats_.end()) {
      co_await make_room(*found->second);  // other workers may claim the process
    }
  }
  next_wake_ = store_.next_wake();
}

/// How many free processes this worker takes, or makes room for: it leaves the others to other
/// workers.
std::size_t coordinator::part_of_free() const {
  std::size_t const all = sharing_->free_processes();
  return all == 0 ? 0 : all / (sharing_->other_workers() + 1) + 1;
}

/// Claims as many free processes as there is room for.
eff<void, weft::mail> coordinator::claim_some() {
  std::size_t const room = how_.max_running - std::min(how_.max_running, seats_.size());
  for (auto const k : sharing_->claim(std::min({room, part_of_free(), most_at_once}))) {
    if (auto const found = seats_.find(k); found != seats_.end())
      co_await tell_of_inbox(*found->second);  // it was lost before, but its driver is not gone yet
    else
      want(k);
  }
}

eff<void, weft::mail> coordinator::begin_some(launch const& begin) {
  if (can_begin()) {
    if (sharing_ && wanted_.empty()) co_await claim_some();
    for (stored_process& p : store_.load(next_wanted(how_.max_running - seats_.size()))) {
      if (p.record.status != process_status::ready) {  // the process has ended meanwhile, say
        if (sharing_) left_.push_back(p.record.key);
        continue;
      }
      auto [in, to] = co_await open<signal>();
      process_key const k = p.record.key;
      seat& s = *seats_.emplace(k, std::make_unique<seat>(k, std::move(to))).first->second;
      if (!p.inbox.empty()) s.last = p.inbox.back().sequence;
      s.loaded = std::move(p);
      begin(s, std::move(in));
    }
  }
  auto const without_seat = seats_.size() < how_.max_running ? 0 : to_make_room_for();
  for (auto n = without_seat; !is_stopping_ && n != 0 && !waiting_.empty(); --n)
    co_await make_room(*waiting_.front());
}

eff<void, weft::mail> coordinator::carry_out(order const& o, std::vector<seat*>& parts) {
  switch (o.what) {
    case order::kind::commit:
      note_running(*o.from);
      parts.push_back(o.from);
      break;
    case order::kind::leave: {
      bool const has_seen_all = o.seen == o.from->sent;  // else the driver must stay (COORD-3)
      signal told(has_seen_all ? signal::kind::may_leave : signal::kind::must_stay);
      co_await tell(*o.from, told);
      if (!has_seen_all) break;
      bool const is_due = o.from->is_due;
      process_key const k = o.from->key;
      remove(*o.from);
      if (sharing_)
        left_.push_back(k);
      else if (is_due)
        want(k);
      break;
    }
    case order::kind::stopped:
      remove(*o.from);
      break;
    case order::kind::outside: {
      std::vector<commit_effect> arrived;
      bool stops = false;
      {
        std::scoped_lock const locked(outside_lock_);
        arrived.swap(arrivals_);
        is_told_ = false;
        have_others_changed_ = false;  // the next look at the store finds the changes
        ring(bell_);
        stops = stop_asked_;
      }
      for (auto& e : arrived) co_await deliver(e);
      if (stops && !is_stopping_) {
        is_stopping_ = true;
        for (auto& [k, s] : seats_) {
          signal told(signal::kind::stop);
          co_await tell(*s, told);
        }
      }
      break;
    }
  }
}

void coordinator::open_to_others() {
  std::scoped_lock const locked(outside_lock_);
  is_closed_ = false;
  is_told_ = false;
}

/// Closes a coordinator at the end of its run.  Not in an unnamed namespace: coordinator has this
/// class as a friend, and its run() has an object of it in its frame.
class closing_at_end {
 public:
  explicit closing_at_end(coordinator& of) noexcept : of_(of) {}
  closing_at_end(closing_at_end const&) = delete;
  closing_at_end& operator=(closing_at_end const&) = delete;
  ~closing_at_end() { of_.close(); }

 private:
  coordinator& of_;
};

eff<void, weft::mail, timing, yielding> coordinator::run(inbox<order> in, launch begin) {
  closing_at_end const at_end(*this);
  closed_seats_.clear();
  if (sharing_) sharing_->join(how_.worker, [this] { note_change_of_others(); });
  bool const looks = looks_outside();
  instant looks_at = instant::max();
  if (looks) (void)store_.note_changes_of_others();
  if (!sharing_) want_all_ready();
  next_wake_ = store_.next_wake();
  for (;;) {
    instant const now = co_await timing::now{};
    if (sharing_) co_await look_at_changes();
    if (next_wake_ && *next_wake_ <= time(now)) {
      for (auto const k : store_.wake_due(time(now), how_.max_batch)) {
        // A driver has a timer of its own; but if the clock was put forward, the driver may leave
        // before its timer ends.
        if (auto const s = seats_.find(k); s != seats_.end())
          s->second->is_due = true;
        else if (!sharing_)
          want(k);
      }
      next_wake_ = store_.next_wake();
    }
    if (looks && now >= looks_at && store_.note_changes_of_others()) co_await look_outside();
    if (looks && (now >= looks_at || looks_at == instant::max()))
      looks_at = now + how_.looks_outside;
    co_await begin_some(begin);
    if (is_over()) co_return;
    std::optional<order> next;
    if (can_begin()) {
      co_await yielding::yield{};  // the processes that were begun run first
      next = co_await in.try_receive();
    } else if (next_wake_ || looks)
      next = co_await in.receive_until(
          std::min(looks_at, next_wake_ ? when(*next_wake_, now) : instant::max()));
    else
      next = co_await in.receive();
    if (!next) continue;
    std::vector<seat*> parts;
    if (how_.max_batch > 1) {
      co_await yielding::yield{};  // so that the parts of all ready processes share a commit
      for (; next; next = co_await in.try_receive()) {
        co_await carry_out(*next, parts);
        if (parts.size() == how_.max_batch) break;
      }
    } else {
      co_await carry_out(*next, parts);
    }
    if (!parts.empty()) co_await commit(std::move(parts));
  }
}

eff<void, weft::mail, completions> coordinator::wait_for_outside(address<order> to) {
  for (;;) {
    std::optional<completion<void>> rings;
    bool stops = false;
    {
      std::scoped_lock const locked(outside_lock_);
      if (is_closed_) co_return;
      stops = stop_asked_;
      if (!stops && (is_told_ || (arrivals_.empty() && !have_others_changed_))) {
        bell_.emplace();
        rings = bell_->get_completion();
      } else {
        is_told_ = true;
      }
    }
    if (rings) {
      co_await rings->wait();
      continue;
    }
    co_await to.send({order::kind::outside});
    if (stops) co_return;
  }
}

void coordinator::arrived(commit_effect e) {
  std::scoped_lock const locked(outside_lock_);
  if (is_closed_) return;
  arrivals_.push_back(std::move(e));
  ring(bell_);
}

void coordinator::note_change_of_others() {
  std::scoped_lock const locked(outside_lock_);
  if (is_closed_) return;
  have_others_changed_ = true;
  ring(bell_);
}

void coordinator::stop() {
  std::scoped_lock const locked(outside_lock_);
  stop_asked_ = true;
  ring(bell_);
}

void coordinator::close() {
  if (sharing_) sharing_->leave();
  left_.clear();
  for (auto& [k, s] : seats_) {
    auto const closed = std::move(s->to);  // destroyed here: the driver gets no more signals
    closed_seats_.push_back(std::move(s));
  }
  seats_.clear();
  waiting_.clear();
  wanted_.clear();
  is_wanted_.clear();
  is_stopping_ = false;
  std::scoped_lock const locked(outside_lock_);
  is_closed_ = true;
  stop_asked_ = false;
  have_others_changed_ = false;
  arrivals_.clear();
  ring(bell_);
}

}  // namespace weft::durable::detail
