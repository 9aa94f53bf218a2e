// SPDX-License-Identifier: MIT
#include "weft/durable/detail/driver.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "weft/durable/errors.hpp"

namespace weft::durable::detail {

void driver::heed(instance& it, signal& s) {
  if (s.what == signal::kind::stop) is_stopping_ = true;
  if (s.what == signal::kind::make_room) makes_room_ = true;
  if (s.what != signal::kind::message) return;
  ++told_;
  it.arrive(std::move(s.message));
}

eff<bool, weft::mail> driver::commit(instance& it) {
  if (!it.pending.status && it.is_stored_as_waiting()) it.pending.status.emplace();
  seat_->part = &it.pending;
  co_await to_.send({order::kind::commit, seat_});
  for (;;) {
    signal s = co_await in_.receive();
    if (s.what == signal::kind::fenced) {
      seat_ = nullptr;  // the driver sends no more orders (COORD-5)
      co_return false;
    }
    if (s.what == signal::kind::committed) break;
    heed(it, s);
  }
  if (is_last_part(it.pending)) seat_ = nullptr;
  it.committed();
  co_return true;
}

eff<bool, weft::mail> driver::ask_to_leave(instance& it) {
  co_await to_.send({order::kind::leave, seat_, told_});
  for (;;) {
    signal s = co_await in_.receive();
    if (s.what == signal::kind::may_leave) break;
    if (s.what == signal::kind::must_stay) co_return false;
    heed(it, s);
  }
  seat_ = nullptr;  // the coordinator has destroyed the seat
  co_return true;
}

eff<void, weft::mail> driver::leave() {
  if (seat_) co_await to_.send({order::kind::stopped, seat_});
}

eff<bool, weft::mail, timing> driver::wait(instance& it, process_handler& h) {
  bool const is_step = it.waits_for().kind == request_kind::step;
  if (is_step) it.waits_for_attempt();
  for (;;) {
    instant const now = co_await timing::now{};
    try {
      if (auto const found = it.look_again(time(now))) {
        h.answer = *found;
        co_return true;
      }
    } catch (std::exception const&) {  // `cancelled`, or a cancellation that cannot be read
      h.error = std::current_exception();
      co_return true;
    }
    auto const until = it.waits_until();
    if (is_step && *until <= time(now)) co_return true;
    if (it.has_pending() || !it.is_stored_as_waiting(until)) {
      it.pending.status = status_change{process_status::waiting, until, it.known_messages(), {}};
      bool const is_kept = co_await commit(it);
      if (!is_kept) co_return false;
      continue;  // the answer may have come meanwhile
    }
    if (is_stopping_) co_return false;
    if (makes_room_) {
      bool const leaves_now = co_await ask_to_leave(it);
      if (leaves_now) co_return false;
      continue;  // a message has come
    }
    instant const leaves =
        now + std::min<std::chrono::nanoseconds>(of_.options().keep_waiting, instant::max() - now);
    instant const wakes = until ? of_.when(*until, now) : instant::max();
    auto s = co_await in_.receive_until(std::min(leaves, wakes));
    if (s) {
      heed(it, *s);
    } else if (leaves < wakes) {
      bool const has_left = co_await ask_to_leave(it);
      if (has_left) co_return false;
    }
  }
}

bool driver::note_failure(instance& it, step_options const& how, std::string why) const {
  auto& state = it.step();
  if (++state.attempts >= how.attempts) return false;
  double delay = static_cast<double>(how.first_delay.count()) *
                 std::pow(how.factor, static_cast<double>(state.attempts - 1));
  delay = std::min(delay, static_cast<double>(how.max_delay.count()));
  // The jitter differs from process to process, and is the same when a process runs again.
  std::size_t const seed =
      std::hash<std::string>()(it.record().start.id) + state.position * 31 + state.attempts;
  delay *= 1 + how.jitter * static_cast<double>(seed % 1024) / 1024;
  state.again = it.resumed_at + static_cast<timestamp>(delay);
  it.append(entry_of("attempt", how.name),
            attempt_answer({state.attempts, std::move(why), state.again}));
  return true;
}

eff<bool, weft::mail> driver::quarantine(instance& it, std::string report) {
  it.discard_pending();
  it.pending.status = status_change{process_status::quarantined, {}, 0, std::move(report)};
  co_return co_await commit(it);
}

namespace {
/// Rethrows the exception if it is not_readable.  It is then the reason why the process has not
/// reached the end of its log, so it goes into the report.
void throw_not_readable_of(std::exception_ptr const& thrown) {
  if (thrown) try {
      std::rethrow_exception(thrown);
    } catch (not_readable const&) {
      throw;
    } catch (...) {
    }
}
}  // namespace

eff<bool, weft::mail> driver::finish(instance& it, process_handler const& h,
                                     std::exception_ptr thrown) {
  status_change end{process_status::completed, {}, 0, h.result};
  std::string report;
  try {
    throw_not_readable_of(thrown);
    if (it.report().empty()) it.require_end_of_log();
    if (thrown) std::rethrow_exception(thrown);
  } catch (diverged const&) {
  } catch (not_readable const& e) {
    report = "weft: " + it.record().start.id + " cannot go on: " + e.what();
  } catch (weft::cancelled const& e) {
    end.now = process_status::cancelled;
    end.result = encode(std::string(e.what()));
  } catch (std::exception const& e) {
    end.now = process_status::failed;
    end.result = encode(std::string(e.what()));
  } catch (...) {
    end.now = process_status::failed;
    end.result = encode(std::string("an exception that is no std::exception"));
  }
  if (report.empty()) report = it.report();
  if (!report.empty()) co_return co_await quarantine(it, std::move(report));
  std::string const& parent = it.record().start.parent;
  if (!parent.empty()) it.pending.sent.push_back(message_of_end(parent, end.now, end.result));
  it.pending.status = std::move(end);
  co_return co_await commit(it);
}

idempotency_key key_of(instance const& it, std::uint64_t position) {
  process_record const& r = it.record();
  std::string text = r.start.id + "#";
  if (r.run != 0) text += std::to_string(r.run) + ".";
  return {text + std::to_string(position)};
}

}  // namespace weft::durable::detail
