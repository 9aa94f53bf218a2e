// SPDX-License-Identifier: MIT
// A backend of one's own: the process that became ready last runs first.
#include <iostream>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sharing.hpp>
#include <weft/trace/tracing.hpp>
using namespace weft;

class newest_first {
 public:
  static constexpr unsigned wakes = 1;
  class worker {
   public:
    worker(newest_first& home, unsigned) : home_(home) {}
    void put(thunk&& t, put_reason why) { home_.put(std::move(t), why); }
    thunk take(instant, quiescence_test quiescent) {
      if (!home_.ready_.empty()) {
        thunk t = std::move(home_.ready_.back());
        home_.ready_.pop_back();
        return t;
      }
      return quiescent() ? thunk::reason::quiescent : thunk::reason::deadline;
    }

   private:
    newest_first& home_;
  };
  void put(thunk&& t, put_reason) { ready_.push_back(std::move(t)); }
  thunk claim(process*) { return thunk::reason::quiescent; }
  void stop() {}

 private:
  std::vector<thunk> ready_;
};
static_assert(backend<newest_first> && !reserving_backend<newest_first>);
static_assert(!exchanging_backend<newest_first> && !lazy_backend<newest_first>);
static_assert(!concurrent_backend<newest_first> && !observed_backend<newest_first>);
static_assert(concurrent_backend<sharing> && configurable_backend<sharing>);
static_assert(observed_backend<tracing<newest_first>> &&
              std::same_as<tracing<newest_first>::options, schedule_options>);

eff<void, console> prints(int n) { co_await console::print{std::to_string(n) + " "}; }
eff<void, spawning<console>> program() {
  for (int i = 1; i <= 4; ++i) co_await spawn(prints, i);
}

int main() {
  schedule<newest_first>(program, console_to_stream(std::cout));
  std::cout << '\n';
}
