// SPDX-License-Identifier: MIT
#include "weft/durable/detail/instance.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "weft/durable/codec.hpp"
#include "weft/durable/detail/answers.hpp"
#include "weft/durable/errors.hpp"
#include "weft/sched/base/errors.hpp"

namespace weft::durable::detail {

namespace {
constexpr std::string_view attempt_word = "attempt";
constexpr std::string_view intent_word = "intent";
// The end of a sleep has no entry, so the entry of a cancellation during a sleep names the sleep.
constexpr std::string_view sleep_word = "sleep";

bool is_entry(std::string_view entry, std::string_view word, std::string_view what) {
  if (what.empty()) return entry == word;
  return entry.size() == word.size() + 1 + what.size() && entry.starts_with(word) &&
         entry[word.size()] == ' ' && entry.ends_with(what);
}
[[noreturn]] void throw_cancelled(std::string why) {
  throw weft::cancelled(std::make_shared<std::string const>(std::move(why)));
}
}  // namespace

std::string entry_of(std::string_view word, std::string_view what) {
  std::string text(word);
  if (!what.empty()) text.append(" ").append(what);
  return text;
}

std::string_view word_of(request_kind k) noexcept {
  switch (k) {
    case request_kind::step:
      return "step";
    case request_kind::now:
      return "now";
    case request_kind::sleep:
      return "sleep";
    case request_kind::send:
      return "send";
    case request_kind::receive:
      return "receive";
    case request_kind::start:
      return "start";
    case request_kind::outcome:
      return "outcome";
    case request_kind::cancel:
      return "cancel";
    case request_kind::changed:
      return "changed";
    case request_kind::publish:
      return "publish";
    case request_kind::continues:
      return "continue";
  }
  return "unknown";
}

instance::instance(stored_process p) : p_(std::move(p)) {
  if (!p_.inbox.empty()) last_loaded_ = p_.inbox.back().sequence;
  inbox_.assign(std::make_move_iterator(p_.inbox.begin()), std::make_move_iterator(p_.inbox.end()));
  p_.inbox.clear();
  committed_ = p_.log.size();
  committed();
}

void instance::committed() {
  committed_ += pending.entries.size();
  if (pending.status) {
    p_.record.status = pending.status->now;
    p_.record.wake = pending.status->wake;
    if (pending.status->known < inbox_.size()) note_ready();
  }
  discard_pending();
}

void instance::discard_pending() {
  pending = {};
  pending.process = p_.record.key;
  pending.id = p_.record.start.id;
  pending.run = p_.record.run;
  pending.first = committed_;
}

void instance::begin_next_run(std::string arguments) {
  ++p_.record.run;
  p_.record.start.arguments = std::move(arguments);
  p_.log.clear();
  next_ = 0;
  committed_ = 0;
  pending = {};
  committed();
}

void instance::arrive(stored_message m) {
  note_ready();
  if (m.sequence <= last_loaded_ || std::ranges::count(pending.received, m.sequence) != 0) return;
  // Messages of several senders may come in another order than that of the store, and some twice.
  auto const at = std::ranges::lower_bound(inbox_, m.sequence, {}, &stored_message::sequence);
  if (at == inbox_.end() || at->sequence != m.sequence) inbox_.insert(at, std::move(m));
}

void instance::note_ready() noexcept {
  if (p_.record.status != process_status::waiting) return;
  p_.record.status = process_status::ready;
  p_.record.wake.reset();
}

void instance::diverge(std::string const& what_the_code_does) {
  process_record const& r = p_.record;
  report_ = "weft: " + r.start.id + " no longer fits its log.  At position " +
            std::to_string(next_) + " the log, of " + r.start.function + " version " +
            std::to_string(r.start.version) + ", has " +
            (is_replaying() ? "\"" + p_.log[next_].operation + "\"" : std::string("its end")) +
            "; the code, version " + std::to_string(version_) + ", " + what_the_code_does;
  throw diverged(report_);
}

recorded instance::append(std::string operation, std::string answer) {
  last_answer_ = answer;
  pending.entries.push_back({std::move(operation), std::move(answer)});
  return {last_answer_};
}

std::optional<recorded> instance::replay(std::string_view word, std::string_view what) {
  if (!is_entry(p_.log[next_].operation, word, what)) return std::nullopt;
  return recorded{p_.log[next_++].answer};
}

void instance::replay_cancelled(std::string_view what) {
  if (auto const why = replay(cancelled_entry, what))
    throw_cancelled(decode<std::string>(why->answer));
}

void instance::find_cancelled(std::string_view what) {
  auto const m = std::ranges::find(inbox_, cancel_message, &stored_message::type);
  if (m == inbox_.end()) return;
  std::string const why = decode<std::string>(m->data);
  pending.received.push_back(m->sequence);
  std::string const answer = std::move(m->data);
  inbox_.erase(m);
  append(entry_of(cancelled_entry, what), answer);
  throw_cancelled(why);
}

/// The answer that the log has to a request; empty if the log ends within a sleep or a step.
std::optional<recorded> instance::begin_in_log(request& r) {
  if (!report_.empty()) throw diverged(report_);
  asked_ = &r;
  until_.reset();
  if (r.kind == request_kind::changed) {  // a log from before the change has no such entry
    static constexpr std::string_view no = "\xc2";
    auto const found = replay("changed", r.what);
    return found ? *found : recorded{no};
  }
  if (r.kind == request_kind::step) {
    step_ = {};
    step_.position = next_;
    return replay_step(r);
  }
  replay_cancelled();
  auto const found = replay(word_of(r.kind), r.what);
  if (!found) diverge("performs \"" + entry_of(word_of(r.kind), r.what) + "\"");
  if (r.kind != request_kind::sleep) return found;
  if (is_replaying()) {
    replay_cancelled(sleep_word);
    return found;
  }
  until_ = read_number(found->answer);
  is_resumed_ = true;
  return std::nullopt;
}

/// The answer to a request that is new, or that the log has not answered.
std::optional<recorded> instance::begin_now(request& r, timestamp now) {
  if (!report_.empty()) throw diverged(report_);
  if (std::exchange(is_resumed_, false)) return look_again(now);
  asked_ = &r;
  until_.reset();
  if (r.kind == request_kind::changed) return append(entry_of("changed", r.what), encode(true));
  if (r.kind == request_kind::step) {
    step_ = {};
    step_.position = committed_ + pending.entries.size();
  }
  find_cancelled();
  return answer(r, now);
}

std::optional<recorded> instance::replay_step(request const& r) {
  while (is_replaying()) {
    if (auto const found = replay(word_of(r.kind), r.what)) return found;
    if (auto const failed = replay(attempt_word, r.what)) {
      failed_attempt const a = read_attempt(failed->answer);
      step_.attempts = a.attempts;
      step_.again = a.again;
      step_.was_begun = false;
    } else if (replay(intent_word, r.what)) {
      step_.was_begun = true;
    } else {
      replay_cancelled();
      diverge("performs \"" + entry_of(word_of(r.kind), r.what) + "\"");
    }
  }
  is_resumed_ = true;
  return std::nullopt;
}

std::optional<recorded> instance::look_again(timestamp now) {
  if (asked_->kind == request_kind::step && step_.was_begun) return std::nullopt;
  if (asked_->kind == request_kind::sleep) {
    if (now >= *until_) return recorded{};
    find_cancelled(sleep_word);
    return std::nullopt;
  }
  find_cancelled();
  if (asked_->kind == request_kind::receive || asked_->kind == request_kind::outcome)
    return take_message(static_cast<receive_request&>(*asked_), now);
  return std::nullopt;
}

std::optional<recorded> instance::answer(request& r, timestamp now) {
  std::string entry = entry_of(word_of(r.kind), r.what);
  switch (r.kind) {
    case request_kind::step:
      return std::nullopt;
    case request_kind::now:
      return append(std::move(entry), number_answer(now));
    case request_kind::sleep: {
      auto const until = static_cast<receive_request&>(r).deadline;
      auto const given = append(std::move(entry), number_answer(until));
      if (until <= now) return given;
      until_ = until;
      return std::nullopt;
    }
    case request_kind::send: {
      auto& s = static_cast<send_request&>(r);
      pending.sent.push_back({std::string(s.what), std::string(s.type), std::move(s.data)});
      break;
    }
    case request_kind::cancel:
      pending.sent.push_back({std::string(r.what), std::string(cancel_message),
                              encode("weft: " + p_.record.start.id + " has cancelled it")});
      break;
    case request_kind::start:
      pending.started.push_back(std::move(static_cast<start_request&>(r).child));
      pending.started.back().parent = p_.record.start.id;
      break;
    case request_kind::publish:
      pending.published = std::move(static_cast<data_request&>(r).data);
      break;
    case request_kind::continues:
      return std::nullopt;
    case request_kind::receive:
    case request_kind::outcome:
      return take_message(static_cast<receive_request&>(r), now);
    case request_kind::changed:
      break;  // begin_now() has answered it
  }
  return append(std::move(entry), nothing_answer());
}

stored_message const* instance::find_message(receive_request const& r) const {
  auto const fits = [&r](stored_message const& m) {
    if (r.kind != request_kind::outcome) return m.type == r.what;
    if (m.type != ended_message) return false;
    return r.among ? std::ranges::count(*r.among, m.sender) != 0 : m.sender == r.what;
  };
  auto const m = std::ranges::find_if(inbox_, fits);
  return m == inbox_.end() ? nullptr : &*m;
}

std::optional<recorded> instance::take_message(receive_request const& r, timestamp now) {
  auto const* const m = find_message(r);
  std::string entry = entry_of(word_of(r.kind), r.what);
  if (!m) {
    if (r.has_deadline && now >= r.deadline) return append(std::move(entry), nothing_answer());
    if (r.has_deadline) until_ = r.deadline;
    return std::nullopt;
  }
  auto const sequence = m->sequence;
  pending.received.push_back(sequence);
  auto const given = append(std::move(entry), message_answer(sequence, m->sender, m->data));
  std::erase_if(inbox_, [&](stored_message const& each) { return each.sequence == sequence; });
  return given;
}

void instance::require_end_of_log() {
  if (is_replaying()) diverge("returns");
}

}  // namespace weft::durable::detail
