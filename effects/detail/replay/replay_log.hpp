// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/operation_info.hpp"
#include "weft/effects/detail/replay/log_segment.hpp"
#include "weft/effects/detail/result_slot.hpp"
#include "weft/effects/errors.hpp"

/// The answers that a program was given, in order, so that a second run of it reaches the same
/// point.  The program is the body of a handler that records, or a process of a scheduler.
///
///   LOG-1  A log is a view: the first `length_` entries of a segment, and the entries before that
///       segment.  Copies share these; an entry that one copy appends is not seen by the others.
///   LOG-2  Of the logs whose view ends where a segment's entries end, one gets the next slot, by
///       one atomic exchange; the others continue in segments of their own.
///   LOG-3  Entries that two logs see never change.  A run of void answers at one site, or of
///       consecutive numbers, is one entry with a count.  The count grows only while no other log
///       sees the entry: only for entries from `shared_` on.
///   LOG-4  Over the limit, without memory, or after an operation that seals, the log is dropped:
///       its program cannot be run again.
///   LOG-5  An answer may hold a resumption whose past is a log.  So an answer that may own
///       something goes into a segment that no other log has.  Then an entry refers to older
///       segments only, and no segment is kept alive by its own entries.  A log that is complete is
///       dropped (close()), because an entry may keep alive the prompt that the log belongs to.
namespace weft::detail {

/// A log, to write and to replay.  Used by one thread; its copies may be used by other threads.
class replay_log {
 public:
  static constexpr std::size_t usual_limit = 1'000'000;

  explicit replay_log(std::size_t limit = usual_limit) noexcept
      : limit_(limit < most ? static_cast<std::uint32_t>(limit) : most) {}
  /// Makes a log with the same past, which is continued independently (LOG-1).  Marks the entries
  /// of `other` as shared, so `other` is not const.
  replay_log(replay_log& other) noexcept
      : tail_(other.tail_),
        length_(other.length_),
        shared_(other.length_),
        entries_(other.entries_),
        limit_(other.limit_),
        over_(other.over_),
        sealed_at_(other.sealed_at_) {
    // Not written if equal: several threads may copy `other`.
    if (other.shared_ != other.length_) other.shared_ = other.length_;
    if (tail_) tail_->keep();
  }
  replay_log(replay_log&& other) noexcept
      : tail_(std::exchange(other.tail_, nullptr)),
        length_(std::exchange(other.length_, 0)),
        shared_(std::exchange(other.shared_, 0)),
        entries_(std::exchange(other.entries_, 0)),
        limit_(other.limit_),
        over_(other.over_),
        sealed_at_(other.sealed_at_) {}
  replay_log& operator=(replay_log const&) = delete;
  ~replay_log() {
    if (cursor_) [[unlikely]]
      end_replay();
    log_segment::drop(tail_);
  }

  // ---- writing

  /// Records an answer.  If copying it into the log throws, the exception becomes the answer, and
  /// is recorded.
  template <class R>
  void record(site const& at, result_slot<R>& a) noexcept {
    if (is_over()) return;
    if (auto error = a.error()) [[unlikely]]
      return record_error(at, std::move(error));
    if constexpr (std::is_same_v<kept<R>, nothing>) {
      record_void(at);
    } else if constexpr (fits_a_word<R>) {
      if constexpr (consecutive_answer<R>)
        // LOG-3: consecutive numbers share one entry.
        if (length_ > shared_ && tail_->at(length_ - 1).counts(at, *a.value())) return;
      append(log_entry(at, *a.value()));
    } else {
      try {
        append(log_entry(at, *new boxed_answer<R>(std::as_const(*a.value()))),
               !std::is_trivially_destructible_v<R>);
      } catch (...) {
        a.fail(std::current_exception());
        append(log_entry(at, a.error()), true);
      }
    }
  }
  void record_void(site const& at) noexcept {
    if (is_over()) return;
    // LOG-3: the last entry counts a repetition.
    if (length_ > shared_ && tail_->at(length_ - 1).counts(at)) return;
    append(log_entry(at));
  }
  /// Records an answer of which the caller knows only the word that stores it.
  void record_word(site const& at, std::uint64_t word) noexcept {
    if (!is_over()) append(log_entry(at, word));
  }
  void record_error(site const& at, std::exception_ptr error) noexcept {
    if (!is_over()) append(log_entry(at, std::move(error)), true);
  }
  void seal(site const& at) noexcept { give_up(why_over::sealed, at); }
  /// Called when the program has ended: drops the log (LOG-5).  If the run is still replaying, it
  /// keeps the log, for the message of the divergence.
  void close() noexcept {
    if (cursor_) return;
    if (!is_over()) over_ = why_over::ended;
    log_segment::drop(std::exchange(tail_, nullptr));
    shared_ = length_ = 0;
  }

  [[nodiscard]] bool is_over() const noexcept { return over_ != why_over::not_yet; }
  /// Whether the log is dropped or at its limit, so that it takes no further entry.  False if the
  /// program has ended.
  [[nodiscard]] bool is_full() const noexcept {
    return over_ != why_over::ended && (is_over() || entries_ == limit_);
  }
  /// Throws unforkable, because `at` requires another run of the program.
  [[noreturn, gnu::cold]] void throw_unforkable(site const& at) const;

  // ---- reading

  [[nodiscard]] bool replaying() const noexcept { return cursor_ != nullptr; }
  [[nodiscard]] bool diverged() const noexcept { return diverged_; }

  /// Begins to replay, for a run that has just started.
  void rewind();
  /// Answers an operation as in the first run.  False if the first run performed another operation
  /// at this point, or performed it at another site: this log has then diverged, and answers no
  /// more.
  template <class R>
  [[nodiscard]] bool replay(site const& at, result_slot<R>& a) {
    cursor& c = *cursor_;
    log_entry const& e = *c.next;
    if (diverged_ || !e.is_at(at)) [[unlikely]]
      return diverge();
    e.answer_to(a, c.repeated);
    if (++c.repeated != e.count()) return true;
    c.repeated = 0;
    if (++c.next == c.last) [[unlikely]] {
      if (++c.part == c.end)
        end_replay();
      else
        c.open();
    }
    return true;
  }
  /// The exception for a program that performs `at` instead of the next operation of the log.
  [[nodiscard]] replay_divergence divergence(site const& at) const;
  /// The exception for a program that ends instead of performing the next operation of the log.
  [[nodiscard]] replay_divergence divergence() const;

 private:
  enum class why_over : unsigned char { not_yet, sealed, limit, memory, ended };
  static constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();

  /// The state of a replay.  The entries that it reads are shared, and kept alive by tail_.
  struct cursor {
    cursor(log_stretch const* first, log_stretch const* one_past) noexcept
        : part(first), end(one_past) {
      open();
    }
    void open() noexcept {
      next = part->first;
      last = part->last;
    }

    log_stretch const* part;
    log_stretch const* end;  // one past the last part
    log_entry const* next;
    log_entry const* last;       // one past the end of the part
    std::uint32_t repeated = 0;  // how often `next` has answered already
  };
  struct cursor_on_path;

  void append(log_entry e, bool may_own = false) noexcept {
    if (entries_ == limit_) [[unlikely]]
      return give_up(why_over::limit, e.at());
    bool const apart = may_own && tail_ && !tail_->is_sole();      // no shared segment (LOG-5)
    if (!tail_ || apart || !tail_->claim(length_)) [[unlikely]] {  // the slot is taken (LOG-2)
      auto* const fresh = log_segment::make(tail_, length_, apart);
      if (!fresh) return give_up(why_over::memory, e.at());
      tail_ = fresh;
      shared_ = length_ = 0;
    }
    tail_->put(length_++, std::move(e));
    ++entries_;
  }
  [[gnu::cold]] void give_up(why_over why, site const& at) noexcept;

  void end_replay() noexcept;
  [[nodiscard]] cursor_on_path& whole_cursor() const noexcept;

  [[gnu::cold, gnu::noinline]] bool diverge() noexcept {
    diverged_ = true;
    return false;
  }

  [[nodiscard]] std::string first_half() const;
  [[nodiscard]] std::string second_half() const;

  log_segment* tail_ = nullptr;  // the last segment of the view (LOG-1)
  std::uint32_t length_ = 0;     // how many entries of tail_ the view has
  std::uint32_t shared_ = 0;     // how many entries of tail_ other logs may see (LOG-3)
  std::uint32_t entries_ = 0;
  std::uint32_t limit_;
  why_over over_ = why_over::not_yet;  // whether the log is dropped, and why (LOG-4)
  bool diverged_ = false;
  site sealed_at_{};

  cursor* cursor_ = nullptr;  // owned, a cursor_on_path; null unless the log is replayed
};

template <class O>
void record_answer(replay_log& log, site const& at, result_slot_base& a) noexcept {
  using R = typename O::result;
  auto& given = static_cast<result_slot<R>&>(a);
  if constexpr (is_sealing<O>) {
    if (auto error = given.error())
      log.record_error(at, std::move(error));
    else
      log.seal(at);
  } else {
    log.record(at, given);
  }
}

}  // namespace weft::detail
