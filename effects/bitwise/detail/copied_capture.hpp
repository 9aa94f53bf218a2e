// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/effects/detail/capture.hpp"
#include "weft/effects/detail/frame.hpp"
#include "weft/effects/detail/operation_info.hpp"
#include "weft/effects/detail/prompt.hpp"
#include "weft/effects/errors.hpp"
#include "weft/effects/memory/frame_arena.hpp"

namespace weft::detail {

class copying_prompt;

// These functions are cold and out of line: inlined, their strings would enlarge the native frames
// of the functions that check.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_uncopyable(site const& at,
                                                                    std::string_view why) {
  throw uncopyable("weft: " + at.text() + " cannot be captured bitwise: " + std::string(why));
}
/// Throws uncopyable because of `in_chain`, a frame or a frame_end, which the message names.
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_uncopyable(site const& at,
                                                                    continuation in_chain,
                                                                    std::string_view why) {
  throw_uncopyable(at, (in_chain.is_frame() ? "the coroutine awaited at " +
                                                  detail::text(frame_of(in_chain.frame()).to->where)
                                            : in_chain.end().text()) +
                           std::string(why));
}
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_other_owners(site const& at,
                                                                      prompt const& p) {
  throw_uncopyable(at, "an object outside the copied frames refers to " + p.text());
}

/// A list of the prompts in a captured chain.  Captures whose chains have the same prompts share
/// it, and are counted.  Used by one thread.
class prompts_in_chain {
 public:
  struct entry {
    prompt* is;
    unsigned owners;  // the number of owners that the prompt must have (COPY-2)
  };
  std::vector<entry> inside;     // sorted by address
  std::vector<prompt*> outside;  // prompts further out that those inside keep; with repetition
  std::uint32_t number = 0;      // the number of the block of the innermost prompt (ARENA-1)
  unsigned captures = 1;         // the number of captures that share this

  /// The first prompt of `inside` that has an owner besides its body and the prompts in this chain
  /// (COPY-2); null if there is none.
  [[nodiscard]] prompt const* first_with_other_owners() const noexcept {
    for (entry const& e : inside)
      if (e.is->owners() != e.owners) return e.is;
    return nullptr;
  }
  /// Called when `inside` has all prompts: sorts them, counts their owners, and finds `outside`.
  void complete() {
    for (entry const& e : inside) e.is->add_outers(outside);
    std::ranges::sort(inside, {}, &entry::is);
    std::ranges::sort(outside);
    for (entry& e : inside)
      e.owners = 1 + static_cast<unsigned>(std::ranges::equal_range(outside, e.is).size());
    std::erase_if(outside, [this](prompt* p) {
      return std::ranges::binary_search(inside, p, {}, &entry::is);
    });
  }
};

/// A capture of a prompt that copies its frames back (copying_prompt.hpp): the waiting chain, and,
/// once it is saved, an image: a copy of all bytes of the arena.
///
///   COPY-1  At a capture, the live blocks in the arena (frame_arena.hpp) are the frames and
///       prompts of the chain, and nothing else.
///   COPY-2  The owners of a prompt in the chain (PROMPT-1) are its body and other prompts in the
///       chain.  An owner outside the chain would not be copied back with the prompt.
///
/// Used by one thread.  A capture object is reused for later captures, which saves allocations.
class copied_capture final : public capture {
 public:
  explicit copied_capture(copying_prompt& p) noexcept : prompt_(p) {}
  ~copied_capture() override { share_prompts(nullptr); }

  /// Called before the operation `at` is captured from `leaf`: notes the prompts in the chain up to
  /// `outermost`, and throws uncopyable unless the whole chain can be copied.  `origin`: the
  /// capture from which this run continued, or null.  O(p + frames that have run since the origin)
  /// for p prompts; O(p log p) if one of these is new.
  void look_at_chain(std::coroutine_handle<> leaf, frame_end const& outermost,
                     frame_arena const& place, copied_capture const* origin, site const& at);
  /// Whether all prompts that were in the chain at this capture are still there, untouched.
  [[nodiscard]] bool has_its_prompts(frame_arena const& place) const noexcept {
    return !prompts_ || place.is_as_marked(prompts_->number);
  }
  /// Whether the chain from `leaf` consists of the frames from which the run continued at this
  /// capture, and nothing else is in the arena.
  [[nodiscard]] bool is_again_at(std::coroutine_handle<> leaf,
                                 frame_arena const& place) const noexcept {
    return leaf == leaf_ && place.is_as_marked();
  }

  [[nodiscard]] captured_frames frames_here(bool last) override;
  [[nodiscard]] prompt const* prompt_here() const noexcept override;

 private:
  friend class copying_prompt;
  void spent() noexcept override;
  void look_at_frames(std::coroutine_handle<> leaf, frame_end const& outermost,
                      frame_arena const& place, copied_capture const* origin);
  void require_no_other_owners() const {
    if (!prompts_) return;
    if (prompt const* const p = prompts_->first_with_other_owners()) [[unlikely]]
      throw_other_owners(at_, *p);
  }
  [[nodiscard]] prompts_in_chain& own_prompts();
  void share_prompts(prompts_in_chain* p) noexcept {
    if (p != prompts_) [[unlikely]]
      share_others(p);
  }
  void share_others(prompts_in_chain* p) noexcept;
  /// Calls f with each prompt further out that a prompt in the chain keeps.
  template <class F>
  void for_each_outside(F f) const {
    if (!prompts_) return;
    for (prompt* const p : prompts_->outside) f(*p);
  }

  copying_prompt& prompt_;
  frame_arena::image image_;
  std::coroutine_handle<> leaf_;
  result_slot_base* waiting_ = nullptr;
  site at_{};
  prompt* inner_ = nullptr;
  prompts_in_chain* prompts_ = nullptr;  // counted; null if there is no prompt in the chain
  bool is_owner_ = true;                 // owns a count of the prompt (BITWISE-2)
  copied_capture* next_spare_ = nullptr;
};

/// Returns an empty list for this capture alone: a new one; or the list that it has, cleared, if no
/// other capture shares that list.
inline prompts_in_chain& copied_capture::own_prompts() {
  if (!prompts_ || prompts_->captures != 1) {
    auto* const made = new prompts_in_chain;
    share_prompts(nullptr);
    prompts_ = made;
  }
  prompts_->inside.clear();
  prompts_->outside.clear();
  return *prompts_;
}
[[gnu::noinline]] inline void copied_capture::share_others(prompts_in_chain* p) noexcept {
  if (p) ++p->captures;
  if (prompts_ && --prompts_->captures == 0) delete prompts_;
  prompts_ = p;
}

inline void copied_capture::look_at_chain(std::coroutine_handle<> leaf, frame_end const& outermost,
                                          frame_arena const& place, copied_capture const* origin,
                                          site const& at) {
  at_ = at;
  if (!origin || !origin->is_again_at(leaf, place))
    return look_at_frames(leaf, outermost, place, origin);
  share_prompts(origin->prompts_);
  require_no_other_owners();
}

[[gnu::noinline]] inline void copied_capture::look_at_frames(std::coroutine_handle<> leaf,
                                                             frame_end const& outermost,
                                                             frame_arena const& place,
                                                             copied_capture const* origin) {
  bool const knows_remaining = origin && origin->has_its_prompts(place);
  prompts_in_chain* found = nullptr;
  prompts_in_chain* remaining = nullptr;
  std::size_t blocks = 0;
  for (continuation next = leaf; next.is_frame() || &next.end() != &outermost;) {
    auto* const p = next.is_frame() ? nullptr : static_cast<prompt*>(next.end().as_suspension());
    if (!next.is_frame() && !(p && p->is_copyable())) [[unlikely]]
      throw_uncopyable(at_, next,
                       " stands between it and its handler, and it or what it holds is not "
                       "trivially copyable");
    void* const block = p ? dynamic_cast<void*>(p) : next.frame().address();
    if (!place.contains(block)) [[unlikely]]
      throw_uncopyable(at_, next, " was started outside its body, or before it");
    frame_arena::header const& h = frame_arena::header_of(block);
    if (knows_remaining && place.is_as_marked(h.number)) {
      blocks += place.as_marked();  // this block and all blocks below it
      remaining = origin->prompts_;
      break;
    }
    if (h.owns) [[unlikely]]
      throw_uncopyable(at_, next, " has a parameter that is not trivially copyable");
    ++blocks;
    if (p) {
      if (!found) {
        found = &own_prompts();
        found->number = h.number;
      }
      found->inside.push_back({p, 0});
      next = p->outside();
    } else {
      next = frame_of(next.frame()).parent;
    }
  }
  if (blocks != place.alive()) [[unlikely]]
    throw_uncopyable(at_,
                     "its body has begun something else that waits, a computation that was not "
                     "awaited or a resumption");
  if (found) {
    if (remaining)
      found->inside.insert(found->inside.end(), remaining->inside.begin(), remaining->inside.end());
    found->complete();
  } else {
    share_prompts(remaining);
  }
  require_no_other_owners();
}

}  // namespace weft::detail
