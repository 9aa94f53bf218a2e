// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "weft/effects/detail/binding.hpp"
#include "weft/effects/detail/capture.hpp"
#include "weft/effects/detail/frame.hpp"
#include "weft/effects/detail/operation_info.hpp"
#include "weft/effects/detail/prompt.hpp"
#include "weft/effects/errors.hpp"
#include "weft/effects/memory/frame_arena.hpp"

namespace weft::detail {

class copying_prompt;

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_uncopyable(site const& at,
                                                                    std::string const& why) {
  throw uncopyable("weft: " + at.text() + " cannot be captured bitwise: " + why);
}

/// A capture of a prompt that copies its frames back (copying_prompt.hpp): the waiting chain, and,
/// once it is saved, an image of it.
///
///   COPY-1  At a capture, the live blocks in the arena are the chain, and nothing else.
///   COPY-2  The owners of a prompt in the chain (PROMPT-1) are its body and other prompts in the
///       chain.  An owner elsewhere would not be copied back with the prompt.
///
/// Used by one thread.  A capture object is reused for later captures, which saves allocations.
class copied_capture final : public capture {
 public:
  explicit copied_capture(copying_prompt& p) noexcept : prompt_(p) {}

  /// Called before the operation `at` is captured from `leaf`: notes the prompts in the chain up to
  /// `outermost`, and throws uncopyable unless the whole chain can be copied.  `origin`: the
  /// capture from which this run continued, or null.  O(frames that have run since the origin), and
  /// O(p log p) for p prompts.
  void look_at_chain(std::coroutine_handle<> leaf, frame_end const& outermost,
                     frame_arena const& place, copied_capture const* origin, site const& at);
  /// Whether all prompts that were in the chain are still there, untouched.
  [[nodiscard]] bool has_its_prompts(frame_arena const& place) const noexcept {
    return inside_.empty() || place.is_as_marked(prompt_number_);
  }

  [[nodiscard]] captured_frames frames_here(bool last, bool by_place) override;
  [[nodiscard]] prompt const* prompt_here() const noexcept override;

 private:
  friend class copying_prompt;
  void spent() noexcept override;
  void find_outside();

  copying_prompt& prompt_;
  frame_arena::image image_;
  std::coroutine_handle<> leaf_;
  result_slot_base* waiting_ = nullptr;
  site at_{};
  prompt* inner_ = nullptr;
  shared_binding bound_;
  std::uint32_t prompt_number_ = 0;  // of the block of the innermost prompt in the chain
  std::vector<prompt*> inside_;      // the prompts in the chain
  std::vector<prompt*> outside_;     // prompts further out that those inside keep; with repetition
  bool is_owner_ = true;             // owns a count of the prompt (BITWISE-2)
  copied_capture* next_spare_ = nullptr;
};

inline void copied_capture::look_at_chain(std::coroutine_handle<> leaf, frame_end const& outermost,
                                          frame_arena const& place, copied_capture const* origin,
                                          site const& at) {
  at_ = at;
  inside_.clear();
  outside_.clear();
  bool const knows_remaining = origin && origin->has_its_prompts(place);
  std::size_t blocks = 0;
  for (continuation next = leaf; next.is_frame() || &next.end() != &outermost;) {
    prompt* const p = next.is_frame() ? nullptr : next.end().as_copyable();
    if (!p && !next.is_frame())
      throw_uncopyable(at_, next.end().text() +
                                " stands between it and its handler, and it or what it holds is "
                                "not trivially copyable");
    void* const block = p ? dynamic_cast<void*>(p) : next.frame().address();
    auto const where = [&] {
      return p ? p->text()
               : "the coroutine awaited at " + detail::text(frame_of(next.frame()).to->where);
    };
    if (!place.contains(block))
      throw_uncopyable(at_, where() + " was started outside its body, or before it");
    frame_arena::header const& h = frame_arena::header_of(block);
    if (knows_remaining && place.is_as_marked(h.number)) {
      blocks += place.as_marked();  // this one and all below it
      if (inside_.empty()) prompt_number_ = origin->prompt_number_;
      inside_.insert(inside_.end(), origin->inside_.begin(), origin->inside_.end());
      break;
    }
    if (h.owns) throw_uncopyable(at_, where() + " has a parameter that is not trivially copyable");
    ++blocks;
    if (p) {
      if (inside_.empty()) prompt_number_ = h.number;
      inside_.push_back(p);
      next = p->outside();
    } else {
      next = frame_of(next.frame()).parent;
    }
  }
  if (blocks != place.alive())
    throw_uncopyable(at_,
                     "its body has begun something else that waits, a computation that was not "
                     "awaited or a resumption");
  if (!inside_.empty()) find_outside();
}

inline void copied_capture::find_outside() {
  for (prompt const* const p : inside_) p->add_outers(outside_);
  std::ranges::sort(inside_);
  std::ranges::sort(outside_);
  for (prompt* const p : inside_)
    if (p->owners() != 1 + std::ranges::equal_range(outside_, p).size())
      throw_uncopyable(at_, "an object outside the copied frames refers to " + p->text());
  std::erase_if(outside_, [this](prompt* p) { return std::ranges::binary_search(inside_, p); });
}

}  // namespace weft::detail
