// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "effects/detail/frame.hpp"
#include "effects/detail/frame_pool.hpp"
#include "effects/detail/operation_info.hpp"
#include "effects/detail/prompt.hpp"
#include "effects/errors.hpp"

/// A chain of suspended frames, and what they were when they were suspended.
///
///   Y1  A list of claims (frame_watch.hpp), the innermost block first: each frame of the chain,
///   and
///       each prompt in it.  So a frame that dies can be put back.
///   Y2  While the chain stands in its place a claim is alive until its frame ends.  A frame runs
///       only when the one inside it has ended: so behind the first that is alive nothing has run
///       since the chain was there as a whole.
namespace weft::detail {

/// One thread.  Reused, for its memory.
class copied_chain {
 public:
  copied_chain() = default;
  copied_chain(copied_chain const&) = delete;
  copied_chain& operator=(copied_chain const&) = delete;
  ~copied_chain() { clear(); }

  /// Claims the chain from `leaf`, which performs an operation `at`, up to `last`.  What of it is
  /// known from `earlier`, which it came from, if that is not null, is not looked at again.  Throws
  /// uncopyable; then it has claimed nothing.
  void claim(std::coroutine_handle<> leaf, ending const& last, copied_chain const* earlier,
             site const& at);

  /// Keeps what the frames are now.  O(their bytes).
  void save() {
    find_stretches();
    std::byte* to = bytes_.get();
    for (stretch const& s : stretches_) {
      std::memcpy(to, s.at, s.bytes);
      to += s.bytes;
    }
    saved_ = true;
  }
  [[nodiscard]] bool is_saved() const noexcept { return saved_; }
  /// Puts them back.  O(their bytes).
  void restore() noexcept {
    std::byte const* from = bytes_.get();
    for (stretch const& s : stretches_) {
      std::memcpy(s.at, from, s.bytes);
      from += s.bytes;
    }
    for (block_claim* const c : claims_) c->alive = true;
    for (prompt* const p : outer_) p->keep();
  }
  /// They are saved; there may be others in their place.
  void leave() noexcept {
    for (block_claim* const c : claims_) c->alive = false;
    for (prompt* const p : outer_) p->release();
  }

  /// The innermost frame that is alive (Y2), if none of the prompts has ended; else null.  The
  /// chain stands in its place, and has not ended.
  [[nodiscard]] block_claim* first_alive() const noexcept {
    std::size_t const i = alive_from();
    return i < first_prompt_ ? claims_[i] : nullptr;
  }
  /// That has been destroyed.  Behind it nothing must be (Y2): forgets it.
  void forget_rest() noexcept {
    for (std::size_t i = claims_.size(); claims_[i - 1]->alive; --i) claims_[i - 1]->alive = false;
    for (prompt* const p : outer_) p->release();
  }

  /// No longer of use.  The frames may be there, or not.
  void clear() noexcept {
    for (block_claim* const c : claims_)
      if (--c->copies == 0) frames.release(*c);
    claims_.clear();
    inside_.clear();
    outer_.clear();
    saved_ = false;
    first_prompt_ = none;
  }

 private:
  /// Blocks that lie one behind the other.
  struct stretch {
    std::byte* at;
    std::size_t bytes;
  };
  void find_stretches();
  [[nodiscard]] std::size_t alive_from() const noexcept {
    std::size_t i = 0;
    while (!claims_[i]->alive) ++i;
    return i;
  }
  void add(block_claim& c) {
    claims_.push_back(&c);
    ++c.copies;
  }
  /// Why not, if it cannot be copied; else null.
  [[nodiscard]] char const* add_frame(std::coroutine_handle<> f);
  [[nodiscard]] char const* add_prompt(prompt* p);
  void add_rest_of(copied_chain const& earlier);
  void find_outer();

  std::vector<block_claim*> claims_;  // Y1
  std::vector<stretch> stretches_;    // saved: of the claims
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t room_ = 0;
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t first_prompt_ = none;  // of the claims: the innermost that is a prompt's
  std::vector<prompt*> inside_;      // the prompts in the chain
  std::vector<prompt*> outer_;       // outside: once for each time that one inside counts it
  bool saved_ = false;
};

/// Frames are short, and those of a recursion are often neighbours, the outer one first: copied at
/// once they take half the time.
inline void copied_chain::find_stretches() {
  stretches_.clear();
  std::size_t bytes = 0;
  for (std::size_t i = claims_.size(); i-- != 0;) {
    block_claim const& c = *claims_[i];
    auto* const at = static_cast<std::byte*>(c.block);
    if (!stretches_.empty() && stretches_.back().at + stretches_.back().bytes == at)
      stretches_.back().bytes += c.bytes;
    else
      stretches_.push_back({at, c.bytes});
    bytes += c.bytes;
  }
  if (bytes > room_) {
    bytes_.reset(new std::byte[2 * bytes]);  // not cleared
    room_ = 2 * bytes;
  }
}

[[gnu::noinline]] inline char const* copied_chain::add_frame(std::coroutine_handle<> f) {
  auto const found = frames.watching().claim(f.address());
  if (!found.claim) return "it was not started by what is to be copied, on this thread";
  add(*found.claim);
  return found.owns ? "one of its parameters is not trivially copyable" : nullptr;
}

[[gnu::noinline]] inline char const* copied_chain::add_prompt(prompt* p) {
  if (!p) return "it, or what it holds, is not trivially copyable";
  auto const found = frames.watching().claim(dynamic_cast<void*>(p));
  if (!found.claim) return "it was not installed by what is to be copied, on this thread";
  if (first_prompt_ == none) first_prompt_ = claims_.size();
  add(*found.claim);
  inside_.push_back(p);
  return nullptr;
}

inline void copied_chain::add_rest_of(copied_chain const& earlier) {
  std::size_t const from = earlier.alive_from();
  if (first_prompt_ == none && earlier.first_prompt_ != none)
    first_prompt_ = claims_.size() + earlier.first_prompt_ - from;
  for (std::size_t i = from; i != earlier.claims_.size(); ++i) add(*earlier.claims_[i]);
  inside_.insert(inside_.end(), earlier.inside_.begin(), earlier.inside_.end());
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_uncopyable(site const& at,
                                                                    std::string const& what,
                                                                    std::string const& why) {
  throw uncopyable("weft: " + at.text() + " cannot be resumed twice bitwise: " + what +
                   " stands between it and its handler, and " + why);
}

inline void copied_chain::claim(std::coroutine_handle<> leaf, ending const& last,
                                copied_chain const* earlier, site const& at) {
  void* const known = earlier && earlier->first_alive() ? earlier->first_alive()->block : nullptr;
  std::vector<prompt*> inside;
  try {
    for (continuation next = leaf;;) {
      if (next.is_frame()) {
        if (next.frame().address() == known) {
          add_rest_of(*earlier);
          break;
        }
        frame const& f = frame_of(next.frame());
        if (char const* const why = add_frame(next.frame()))
          throw_uncopyable(at, "the coroutine that is awaited at " + detail::text(f.to->where),
                           why);
        next = f.parent;
      } else {
        ending& e = next.end();
        if (&e == &last) break;
        if (char const* const why = add_prompt(e.as_copyable()))
          throw_uncopyable(at, e.text(), why);
        next = e.outside();
      }
    }
    if (!inside_.empty()) find_outer();
  } catch (...) {
    clear();
    throw;
  }
}

[[gnu::noinline]] inline void copied_chain::find_outer() {
  for (prompt const* const p : inside_) p->add_outers(outer_);
  std::erase_if(outer_,
                [this](prompt* p) { return std::ranges::find(inside_, p) != inside_.end(); });
}

}  // namespace weft::detail
