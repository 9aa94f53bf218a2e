// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "weft/effects/eff.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/sync/completion.hpp"

/// The two ends of a command in flight (commands.hpp): the issuer has the `in_flight`, the
/// answering side the `reply`.  Both have the command's tag, a number.
namespace weft {

/// Thrown by a wait for a command that will not be answered, since its reply was destroyed.
/// Copying it increments a reference count.
class [[gnu::visibility("default")]] command_dropped : public completion_dropped {
 public:
  /// `command`: the name of its type.
  command_dropped(std::string_view command, std::uint64_t tag)
      : tag_(tag),
        text_(std::make_shared<std::string const>(
            "weft: the command " + std::string(command) + ", tag " + std::to_string(tag) +
            ", will not be answered: its reply was destroyed")) {}
  [[nodiscard]] char const* what() const noexcept override { return text_->c_str(); }
  /// The command's number.
  [[nodiscard]] std::uint64_t tag() const noexcept { return tag_; }

 private:
  std::uint64_t tag_;
  std::shared_ptr<std::string const> text_;
};

template <class R>
class reply;

/// A command that was issued, and whose answer can be awaited once.  It belongs to one process.  If
/// it is destroyed, the answer is discarded, which is no error.
template <class R>
class [[nodiscard]] in_flight {
 public:
  /// Waits for the answer and takes it.  Throws the exception with which the command was answered;
  /// command_dropped if its reply was destroyed without an answer; std::logic_error if the answer
  /// was taken before.  Write `co_await` in the expression that calls wait().
  eff<R, completions> wait() { return result_.wait(); }
  /// Waits for the answer, until `t` at the latest.  `co_await` yields a std::optional<R>, or for
  /// void a bool: empty or false if no answer has come by then.  In that case the answer can be
  /// waited for again.  O(log n) in the waiters with a deadline.  Throws as wait() does.
  eff<detail::if_in_time<R>, completions> wait_until(instant t) { return result_.wait_until(t); }
  /// Whether wait() would return at once.  Thread safe.
  [[nodiscard]] bool is_ready() const noexcept { return result_.is_ready(); }
  /// The command's number, which its reply has as well.
  [[nodiscard]] std::uint64_t tag() const noexcept { return tag_; }

 private:
  friend class reply<R>;
  in_flight(std::uint64_t tag, completion<R> result) noexcept
      : tag_(tag), result_(std::move(result)) {}

  std::uint64_t tag_;
  completion<R> result_;
};

/// The obligation to answer a command once: from any thread and at any time, also before the answer
/// is waited for, and while the command is being issued.  If the `in_flight` is destroyed,
/// answering does nothing.  If the reply is destroyed without an answer, the issuer finds
/// command_dropped when it waits.
///
/// A reply is moved to the thread or the callback that will answer.  One thread at a time uses it.
template <class R>
class [[nodiscard]] reply {
 public:
  /// A reply to a command of type `C`, for a handler such as `dispatchers`.  One allocation, from a
  /// pool.  Throws bad_alloc.
  template <class C>
  [[nodiscard]] static reply to(std::uint64_t tag) {
    return reply(tag, detail::name_of<C>);
  }
  reply(reply&&) noexcept = default;
  reply& operator=(reply other) noexcept {
    std::swap(tag_, other.tag_);
    std::swap(command_, other.command_);
    std::swap(source_, other.source_);
    return *this;
  }
  ~reply() {
    if (!source_.is_open()) return;
    try {
      source_.fail(std::make_exception_ptr(command_dropped(command_, tag_)));
    } catch (std::bad_alloc const&) {
      // The destructor of the completer will report completion_dropped instead, with less detail.
    }
  }

  /// The issuer's end: a handler answers `issue` with it.  Throws std::logic_error if it is called
  /// a second time.
  [[nodiscard]] in_flight<R> get_in_flight() {
    return in_flight<R>(tag_, source_.get_completion());
  }

  /// The command's number: no other command of its dispatchers ever has it.
  [[nodiscard]] std::uint64_t tag() const noexcept { return tag_; }

  /// Answers with R(args...).  If the constructor of R throws, complete() throws the same, and may
  /// be called again.  Throws std::logic_error if the command was answered before.
  template <class... Args>
  void complete(Args&&... args) {
    require_open();
    source_.complete(std::forward<Args>(args)...);
  }
  /// Answers with that exception.  Throws std::logic_error if the command was answered before.
  void fail(std::exception_ptr error) {
    require_open();
    source_.fail(std::move(error));
  }

 private:
  reply(std::uint64_t tag, std::string_view command) : tag_(tag), command_(command) {}
  void require_open() const {
    if (!source_.is_open())
      throw std::logic_error("weft: the command " + std::string(command_) + ", tag " +
                             std::to_string(tag_) +
                             ", is answered once: its reply was used before, or moved from");
  }

  std::uint64_t tag_;
  std::string_view command_;
  completer<R> source_;
};

}  // namespace weft
