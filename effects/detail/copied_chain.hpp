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
    std::size_t bytes = 0;
    for (block_claim const* const c : claims_) bytes += c->bytes;
    if (bytes > room_) {
      bytes_.reset(new std::byte[2 * bytes]);  // not cleared
      room_ = 2 * bytes;
    }
    std::byte* to = bytes_.get();
    for (block_claim const* const c : claims_) {
      std::memcpy(to, c->block, c->bytes);
      to += c->bytes;
    }
    saved_ = true;
  }
  [[nodiscard]] bool is_saved() const noexcept { return saved_; }
  /// Puts them back.  O(their bytes).
  void restore() noexcept {
    std::byte const* from = bytes_.get();
    for (block_claim* const c : claims_) {
      std::memcpy(c->block, from, c->bytes);
      from += c->bytes;
      c->alive = true;
    }
    for (prompt* const p : outer_) p->keep();
  }
  /// They are saved; there may be others in their place.
  void leave() noexcept {
    for (block_claim* const c : claims_) c->alive = false;
    for (prompt* const p : outer_) p->release();
  }

  /// Whether there are but frames in it.
  [[nodiscard]] bool is_of_frames() const noexcept { return only_frames_; }
  /// The innermost frame that is alive (Y2); the chain stands in its place, and has not ended.
  [[nodiscard]] std::coroutine_handle<> first_alive() const noexcept {
    return std::coroutine_handle<>::from_address(claims_[alive_from()]->block);
  }
  /// Behind that there is nothing that must be destroyed (Y2): forgets it.
  void forget_rest() noexcept {
    for (std::size_t i = claims_.size(); i != 0 && claims_[i - 1]->alive; --i)
      claims_[i - 1]->alive = false;
  }

  /// No longer of use.  The frames may be there, or not.
  void clear() noexcept {
    for (block_claim* const c : claims_)
      if (--c->copies == 0) frames.release(*c);
    claims_.clear();
    outer_.clear();
    saved_ = false;
    only_frames_ = true;
  }

 private:
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
  [[nodiscard]] char const* add_prompt(prompt* p, std::vector<prompt*>& inside);
  void add_rest_of(copied_chain const& earlier);
  void find_outer(std::vector<prompt*> const& inside);

  std::vector<block_claim*> claims_;  // Y1
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t room_ = 0;
  std::vector<prompt*> outer_;  // outside the chain: counted by prompts in it, once for each time
  bool saved_ = false;
  bool only_frames_ = true;
};

[[gnu::noinline]] inline char const* copied_chain::add_frame(std::coroutine_handle<> f) {
  auto const found = frames.watching().claim(f.address());
  if (!found.claim) return "it was not started by what is to be copied, on this thread";
  add(*found.claim);
  return found.owns ? "one of its parameters is not trivially copyable" : nullptr;
}

[[gnu::noinline]] inline char const* copied_chain::add_prompt(prompt* p,
                                                              std::vector<prompt*>& inside) {
  if (!p) return "it, or what it holds, is not trivially copyable";
  auto const found = frames.watching().claim(dynamic_cast<void*>(p));
  if (!found.claim) return "it was not installed by what is to be copied, on this thread";
  add(*found.claim);
  inside.push_back(p);
  only_frames_ = false;
  return nullptr;
}

inline void copied_chain::add_rest_of(copied_chain const& earlier) {
  for (std::size_t i = earlier.alive_from(); i != earlier.claims_.size(); ++i)
    add(*earlier.claims_[i]);
}

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_uncopyable(site const& at,
                                                                    std::string const& what,
                                                                    std::string const& why) {
  throw uncopyable("weft: " + at.text() + " cannot be resumed twice bitwise: " + what +
                   " stands between it and its handler, and " + why);
}

inline void copied_chain::claim(std::coroutine_handle<> leaf, ending const& last,
                                copied_chain const* earlier, site const& at) {
  void* const known = earlier && earlier->only_frames_ ? earlier->first_alive().address() : nullptr;
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
        if (char const* const why = add_prompt(e.as_copyable(), inside))
          throw_uncopyable(at, e.text(), why);
        next = e.outside();
      }
    }
    if (!inside.empty()) find_outer(inside);
  } catch (...) {
    clear();
    throw;
  }
}

[[gnu::noinline]] inline void copied_chain::find_outer(std::vector<prompt*> const& inside) {
  for (prompt const* const p : inside) p->add_outers(outer_);
  std::erase_if(outer_,
                [&inside](prompt* p) { return std::ranges::find(inside, p) != inside.end(); });
}

}  // namespace weft::detail
