// SPDX-License-Identifier: MIT
#include "weft/sched/base/detail/deferred_events.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

namespace weft::detail {

// ---- causing events

deferred_event::~deferred_event() = default;

void defer_event(deferred_event* made) noexcept {
  std::unique_ptr<deferred_event> e(made);
  event_deferrer& keeper = *event_deferrer::of_thread;
  try {
    return keeper.defer(e);
  } catch (...) {  // no memory: the event takes effect now (EVENT-4)
    keeper.apply_own();
  }
  e->apply();
}
void apply_events_without_memory() noexcept { event_deferrer::of_thread->apply_own(); }

// ---- the deferred events of a run

deferred_events::~deferred_events() {
  for (entry const& e : events_) delete e.what;
}

void deferred_events::put(process const& by, std::unique_ptr<deferred_event>& e) {
  auto const at = is_applying_ ? static_cast<std::ptrdiff_t>(next_) : std::ssize(events_);
  events_.insert(events_.begin() + at, {&by, e.get()});
  (void)e.release();
  if (is_applying_) ++next_;
}
std::string_view deferred_events::first_of(process const& p) const noexcept {
  auto const it = std::ranges::find(events_, &p, &entry::by);
  return it == events_.end() ? std::string_view() : it->what->name;
}
void deferred_events::apply_first_of(process const& p) noexcept {
  apply(static_cast<std::size_t>(std::ranges::find(events_, &p, &entry::by) - events_.begin()));
}
process const* deferred_events::owner_of_event_at(void const* at,
                                                  process const* only) const noexcept {
  auto const it = std::ranges::find_if(
      events_, [=](entry const& e) { return e.what->at == at && (!only || e.by == only); });
  return it == events_.end() ? nullptr : it->by;
}
bool deferred_events::is_among_them(process const& p) const noexcept {
  return std::ranges::find(events_, &p, &entry::by) != events_.end();
}
void deferred_events::apply(std::size_t i) noexcept {
  std::unique_ptr<deferred_event> const now(events_[i].what);
  events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(i));
  bool const is_inside = std::exchange(is_applying_, true);
  std::size_t outer = std::exchange(next_, i);
  now->apply();
  if (i < outer) outer += next_ - i - 1;  // less the event, plus those that it caused
  next_ = outer;
  is_applying_ = is_inside;
}

void deferred_events::put(end e) { ends_.push_back(std::move(e)); }
deferred_events::end const* deferred_events::end_of(process const& p) const noexcept {
  auto const it = std::ranges::find(ends_, &p, &end::owner);
  return it == ends_.end() ? nullptr : &*it;
}
deferred_events::end deferred_events::take_end(process const* p) noexcept {
  auto const it = p ? std::ranges::find(ends_, p, &end::owner) : ends_.begin();
  if (it == ends_.end()) return {};
  end e = std::move(*it);
  ends_.erase(it);
  return e;
}

}  // namespace weft::detail
