// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

namespace weft {

namespace detail {
class resident;
}  // namespace detail

/// Base of a handler that keeps resumptions, such as a scheduler or a mailbox.
///
///     struct parking : weft::region {
///       std::deque<resumption<void>> parked;
///       void on(proc::yield, resumption<void> k) { parked.push_back(std::move(k)); }
///     };
///
/// The region is the time during which the frames that are suspended in it may be resumed.  It ends
/// with the handler: all frames that are still suspended are unwound at that point, wherever their
/// resumptions are kept, and a later resume throws resumption_expired.  So no continuation runs on
/// after the handler to which it would perform has ended.
///
/// Such a handler is borrowed (`handle<E>(h, body)` with a named `h`): an owned handler lives as
/// long as its resumptions do, and these would live as long as the handler that keeps them.  A
/// region does not move.  Used by one thread.  Its end is O(n) in the frames that it unwinds.
class region {
 public:
  region() = default;
  region(region const&) = delete;
  region& operator=(region const&) = delete;
  inline ~region();

  /// Describes each body that is suspended in the region, and each clause that is not done, in a
  /// line; empty if there are none.  So a handler, or a test, can check that the end of the region
  /// will unwind nothing.  O(n) in the suspended bodies.  Allocates the text.  Throws bad_alloc.
  [[nodiscard]] std::string suspended() const;

  /// Allows ordinary code to drop continuations of this region, as is normal if the handler makes a
  /// generator or a search.  Without this call, a library that is compiled without NDEBUG prints a
  /// notice on stderr when code outside of all computations drops such a continuation, or ends the
  /// region while a body is suspended in it.  O(1).
  void allow_dropping() noexcept { may_drop_ = true; }

 protected:
  /// For the library: the first resident of the region; null if there is none.
  [[nodiscard]] detail::resident* first() const noexcept { return first_; }

 private:
  friend class detail::resident;
  detail::resident* first_ = nullptr;
  bool may_drop_ = false;
};

namespace detail {

/// An object in a region that is notified when the region ends.  The residents of a region are a
/// doubly linked list: joining and leaving are O(1).
class resident {
 public:
  resident() = default;
  resident(resident const&) = delete;
  resident& operator=(resident const&) = delete;

  void join(region& r) noexcept {
    home_ = &r;
    next_ = std::exchange(r.first_, this);
    if (next_) next_->previous_ = this;
  }
  void leave() noexcept {
    if (!home_) return;
    (previous_ ? previous_->next_ : home_->first_) = next_;
    if (next_) next_->previous_ = previous_;
    home_ = nullptr;
    next_ = previous_ = nullptr;
  }

  [[nodiscard]] region& home() const noexcept { return *home_; }
  /// Whether a notice is printed when ordinary code drops the continuation (allow_dropping()).
  [[nodiscard]] bool is_noticed() const noexcept { return home_ && !home_->may_drop_; }

  /// Called when the region ends.  The resident must leave the region.
  virtual void region_ended() noexcept = 0;
  /// For messages: the handler, and why it is still in the region.
  [[nodiscard]] virtual std::string why_it_stays() const = 0;
  /// Whether scopes in its suspended frames still have tasks that have not ended; such tasks may
  /// refer to objects outside the region.
  [[nodiscard]] virtual bool has_open_tasks() const noexcept { return false; }
  [[nodiscard]] resident* next() const noexcept { return next_; }

 protected:
  ~resident() { leave(); }

 private:
  region* home_ = nullptr;
  resident* next_ = nullptr;
  resident* previous_ = nullptr;
};

}  // namespace detail

region::~region() {
  while (first_) first_->region_ended();
}

}  // namespace weft
