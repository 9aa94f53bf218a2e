// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weft/durable/detail/request.hpp"
#include "weft/durable/store.hpp"

namespace weft::durable::detail {

/// A process that is run: its log, the answers that are still to be committed, its inbox.  Decides
/// for each request whether the log has its answer, whether it can be answered at once, or whether
/// the process has to wait.  Used by one thread at a time.
///
///  INST-1  The log answers the first requests of a run, in its order, as long as it has entries;
///          only a later request has an effect.
///  INST-2  The changes of the store that a request makes, and its entry, are in one commit part.
///  INST-3  A request that others may see, or whose answer is not determined by the log, is
///          committed before a step begins, and before the process waits or ends.
class instance {
 public:
  explicit instance(stored_process p);
  /// Sets the version of the function that runs the process now.
  void set_version(std::uint32_t v) noexcept { version_ = v; }

  /// The answer to a request; empty if the process has to wait for it, or if a step is to be run.
  /// Throws the exception that the process is to find at the request: diverged if the log has
  /// another entry, weft::cancelled if the log or the inbox has a cancellation.  `clock()` is the
  /// time; it is not called while the log answers.
  template <class Clock>
  [[nodiscard]] std::optional<recorded> begin(request& r, Clock const& clock) {
    if (is_replaying())
      if (auto const found = begin_in_log(r)) return found;
    return begin_now(r, clock());
  }
  /// The answer to the request for which the process waits; empty if there is none at `now`.
  /// Throws weft::cancelled if the inbox has a cancellation.
  [[nodiscard]] std::optional<recorded> look_again(timestamp now);

  /// Whether entries are left in the log; the next request then looks there first.
  [[nodiscard]] bool is_replaying() const noexcept { return next_ < p_.log.size(); }
  /// The request that the process waits for.
  [[nodiscard]] request& waits_for() const noexcept { return *asked_; }
  /// The time until which the process waits at the latest; null if there is none.
  [[nodiscard]] std::optional<timestamp> waits_until() const noexcept { return until_; }

  /// The state of the step that is to be run.
  struct step_state {
    std::uint64_t position = 0;  ///< The place of its first entry in the log.
    unsigned attempts = 0;       ///< How many attempts have failed.
    timestamp again = 0;         ///< When the next attempt is due.
    bool was_begun = false;      ///< Whether the log says that an at-most-once step was begun.
  };
  [[nodiscard]] step_state& step() noexcept { return step_; }
  /// Notes that the step waits for its next attempt.
  void waits_for_attempt() noexcept { until_ = step_.again; }
  /// Adds an entry of the step, or of another request, whose answer is known now; returns the
  /// answer.
  recorded append(std::string operation, std::string answer);
  /// If the inbox has a message of cancellation, records that, and throws weft::cancelled.
  void find_cancelled(std::string_view what = {});
  /// Throws diverged if entries are left in the log.  Called when the process has ended.
  void require_end_of_log();

  /// The part that is to be committed.
  commit_part pending{};
  /// Begins a new part.  Called when the pending one was committed.
  void committed();
  /// Empties the pending part.
  void discard_pending();
  /// Whether the store says that the process waits, until `t`.
  [[nodiscard]] bool is_stored_as_waiting(std::optional<timestamp> t) const noexcept {
    return p_.record.status == process_status::waiting && p_.record.wake == t;
  }
  [[nodiscard]] bool is_stored_as_waiting() const noexcept {
    return p_.record.status == process_status::waiting;
  }
  /// Whether the pending part changes anything.
  [[nodiscard]] bool has_pending() const noexcept { return !pending.is_empty(); }

  [[nodiscard]] process_record const& record() const noexcept { return p_.record; }
  [[nodiscard]] std::size_t known_messages() const noexcept { return inbox_.size(); }
  /// Adds a message that has come, and notes that the store no longer says that the process waits
  /// (STORE-5).
  void arrive(stored_message m);
  /// The arguments of this run.
  [[nodiscard]] std::string const& arguments() const noexcept { return p_.record.start.arguments; }
  /// The time at which the process was last resumed.
  timestamp resumed_at = 0;
  /// Begins the next run, with these arguments and an empty log.
  void begin_next_run(std::string arguments);
  /// Why the process is quarantined; empty if it fits its log.
  [[nodiscard]] std::string const& report() const noexcept { return report_; }
  /// Notes the report, which says what the log has and what the code does, and throws diverged.
  [[noreturn]] void diverge(std::string const& what_the_code_does);

 private:
  [[nodiscard]] std::optional<recorded> begin_in_log(request& r);
  [[nodiscard]] std::optional<recorded> begin_now(request& r, timestamp now);
  void note_ready() noexcept;
  /// If the next entry of the log is that operation, passes it, and returns its answer; else empty.
  [[nodiscard]] std::optional<recorded> replay(std::string_view word, std::string_view what);
  void replay_cancelled(std::string_view what = {});
  [[nodiscard]] std::optional<recorded> replay_step(request const& r);
  [[nodiscard]] std::optional<recorded> answer(request& r, timestamp now);
  [[nodiscard]] std::optional<recorded> take_message(receive_request const& r, timestamp now);
  [[nodiscard]] stored_message const* find_message(receive_request const& r) const;

  stored_process p_;
  std::uint32_t version_ = 0;
  std::deque<stored_message> inbox_;  // in the order of their sequence numbers
  std::uint64_t last_loaded_ = 0;     // the last sequence number that was loaded with the process
  std::size_t next_ = 0;              // the index of the next entry of the log
  std::uint64_t committed_ = 0;       // how many entries are in the store
  std::string last_answer_;           // the answer of the last entry that was added
  request* asked_ = nullptr;
  bool is_resumed_ = false;  // whether the log ended within the request asked_
  std::optional<timestamp> until_;
  step_state step_;
  std::string report_;
};

}  // namespace weft::durable::detail
