// SPDX-License-Identifier: MIT

/// Objects that several threads own, with one order of the reference count weakened, which the
/// argument selects.  ThreadSanitizer must report a race for each, and none for 0, which weakens no
/// order.  For weaken.py:

// weakens 1 in sched/base/process.hpp to acquire: owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 2 in sched/base/process.hpp to release: owners_.fetch_sub(1, std::memory_order_acq_rel
// skips for 2 in sched/base/process.hpp: owners_.load(std::memory_order_acquire) == 1 ||
// weakens 3 in sched/base/process.hpp to relaxed: owners_.load(std::memory_order_acquire) == 1
// weakens 4 in sched/base/process.hpp to relaxed: owners_.load(std::memory_order_acquire) != 1
// weakens 5 in sched/base/detail/program.hpp to acquire: owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 6 in sched/base/detail/program.hpp to release: owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 7 in sched/sync/completion.hpp to acquire: owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 8 in sched/sync/completion.hpp to release: owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 9 in sched/base/detail/forkable_process.hpp to acquire:
//    owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 10 in sched/base/detail/forkable_process.hpp to release:
//    owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 11 in effects/detail/capture.hpp to acquire:
//    owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 12 in effects/detail/capture.hpp to release:
//    owners_.fetch_sub(1, std::memory_order_acq_rel
// skips for 12 in effects/detail/capture.hpp: is_last() ||
// weakens 13 in effects/detail/capture.hpp to relaxed: owners_.load(std::memory_order_acquire
// weakens 14 in effects/detail/replay/log_segment.hpp to acquire:
//    owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 15 in effects/detail/replay/log_segment.hpp to release:
//    owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 16 in effects/detail/prompt.hpp to acquire:
//    owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 17 in effects/detail/prompt.hpp to release:
//    owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 18 in sched/mail/detail/mailbox.hpp to acquire:
//    owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 19 in sched/mail/detail/mailbox.hpp to release:
//    owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 20 in sched/mail/detail/mailbox_registry.hpp to acquire:
//    owners_.fetch_sub(1, std::memory_order_acq_rel
// weakens 21 in sched/mail/detail/mailbox_registry.hpp to release:
//    owners_.fetch_sub(1, std::memory_order_acq_rel

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <vector>

#include "tests/support/queue_threads.hpp"
#include "tests/support/thunks.hpp"
#include "tests/weakened/weakened.hpp"
#include "weft/effects/detail/capture.hpp"
#include "weft/effects/detail/replay/log_segment.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/base/detail/forkable_process.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/base/detail/relax.hpp"
#include "weft/sched/base/process.hpp"
#include "weft/sched/mail/detail/mailbox.hpp"
#include "weft/sched/mail/detail/mailbox_registry.hpp"
#include "weft/sched/mail/detail/typed_mailbox.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/detail/group_tree.hpp"

namespace {

using namespace weft;

constexpr std::size_t rounds = 500;

/// Two threads call `with(i, me)` at about the same time, for i from 0.  They tell each other only
/// their progress, by relaxed operations, which order nothing.
template <class F>
void in_step(F with) {
  std::array<std::atomic<std::size_t>, 2> at{};
  tests::on_threads(2, [&](unsigned me) {
    for (std::size_t i = 0; i != rounds; ++i) {
      at[me].store(i + 1, std::memory_order_relaxed);
      for (detail::relax wait; at[1 - me].load(std::memory_order_relaxed) <= i;) wait();
      with(i, me);
    }
  });
}

/// Two threads each own a reference to each object, look at it, and drop the reference.
template <class Make, class Use, class Drop>
void owned_by_two(Make make, Use use, Drop drop) {
  std::vector<decltype(make())> all;
  for (std::size_t i = 0; i != rounds; ++i) all.push_back(make());
  in_step([&](std::size_t i, unsigned) {
    use(*all[i]);
    drop(*all[i]);
  });
}
void release(auto& owned) { owned.release(); }

/// Reads a value without using it.
template <class T>
void look(T const& value) {
  asm volatile("" : : "r"(&value) : "memory");
}

process* made_process() {
  process* const p = tests::numbered(0).release();
  p->keep();
  return p;
}
void processes() {
  owned_by_two(made_process, [](process& p) { look(p.is_suspended()); }, release<process>);
}
/// A thread that finds itself the only owner may write data that another owner wrote.
void processes_alone() {
  std::vector<process*> all;
  for (std::size_t i = 0; i != rounds; ++i) all.push_back(made_process());
  in_step([&](std::size_t i, unsigned me) {
    process& p = *all[i];
    if (me == 0)
      for (detail::relax wait; p.is_shared();) wait();
    look(p.note_cancellation());
    p.release();
  });
}

void programs() {
  auto const body = []() -> eff<void> { co_return; };
  owned_by_two(
      [&]() -> detail::program* {
        auto* const p = new detail::program_of(body);
        p->keep();
        return p;
      },
      [](detail::program& p) { p.start().handle.destroy(); }, release<detail::program>);
}

void completion_states() {
  std::vector<completer<int>> sources(rounds);
  std::vector<completion<int>> results;
  for (auto& s : sources) results.push_back(s.get_completion());
  in_step([&](std::size_t i, unsigned me) {
    if (me == 0)
      sources[i].complete(1);
    else
      (void)completion<int>(std::move(results[i]));
  });
}

void rests() {
  tests::nowhere ground;
  owned_by_two(
      [] {
        auto* const r = new detail::shared_continuation();
        r->keep();
        return r;
      },
      [&ground](detail::shared_continuation& r) {
        if (!r.claim()) return;
        auto* const mine = new detail::shared_continuation();
        mine->take_from(r, ground);
        mine->release();
      },
      release<detail::shared_continuation>);
}

class nothing_captured final : public detail::capture {
 public:
  detail::captured_frames frames_here(bool) override { return {}; }
  [[nodiscard]] detail::prompt const* prompt_here() const noexcept override { return nullptr; }
};
void captures() {
  owned_by_two(
      []() -> detail::capture* {
        auto* const c = new nothing_captured();
        c->keep();
        return c;
      },
      [](detail::capture& c) { look(c.frames_here(false)); }, release<detail::capture>);
}

void segments() {
  owned_by_two(
      [] {
        auto* const s = detail::log_segment::make(nullptr, 0, false);
        if (!s) std::abort();
        s->put(0, detail::log_entry(detail::site{}));
        s->keep();
        return s;
      },
      [](detail::log_segment& s) { look(s.at(0).count()); },
      [](detail::log_segment& s) { detail::log_segment::drop(&s); });
}

void prompts() {
  owned_by_two(
      []() -> detail::prompt* {
        auto* const p = new tests::nowhere();
        p->become_shared();
        p->keep();
        return p;
      },
      [](detail::prompt& p) { look(p.handler_name()); }, release<detail::prompt>);
}

/// A ready_sink that no process becomes ready in.
class room final : public detail::ready_sink {
 private:
  void make_ready(thunk) noexcept override {}
  void put_from_outside(thunk&) override {}
  void put_from_outside(thunk& t, detail::spare_node) override { put_from_outside(t); }
  detail::spare_node reserve_put() override { return {}; }
};
/// A sender, which takes the lock, and a receiver, which does not, release a mailbox.
void mailboxes() {
  room here;
  auto* const office = new detail::mailbox_registry(here, true);
  std::vector<detail::mailbox*> all;
  for (std::size_t i = 0; i != rounds; ++i) {
    all.push_back(new detail::typed_mailbox<int>(*office, 1));
    all.back()->add_address();
  }
  in_step([&](std::size_t i, unsigned me) {
    int message = 1;
    detail::mailbox::woken_receiver nobody{};
    if (me == 0) (void)all[i]->send<true>(&message, false, nobody);
    all[i]->release();
  });
  office->close();
}
/// The scheduler, which takes no lock, and a mailbox release a registry.
void offices() {
  room here;
  std::vector<detail::mailbox_registry*> all;
  std::vector<detail::mailbox*> boxes;
  for (std::size_t i = 0; i != rounds; ++i) {
    all.push_back(new detail::mailbox_registry(here, true));
    boxes.push_back(new detail::typed_mailbox<int>(*all.back(), 1));
  }
  in_step([&](std::size_t i, unsigned me) {
    if (me == 0)
      all[i]->release();
    else
      boxes[i]->release();
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) tests::weakened_order = std::atoi(argv[1]);
  processes();
  processes_alone();
  programs();
  completion_states();
  rests();
  captures();
  segments();
  prompts();
  mailboxes();
  offices();
}
