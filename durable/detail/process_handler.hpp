// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "weft/durable/codec.hpp"
#include "weft/durable/detail/instance.hpp"
#include "weft/durable/process.hpp"
#include "weft/durable/step.hpp"
#include "weft/effects/region.hpp"
#include "weft/effects/resumption.hpp"
#include "weft/sched/sync/timing.hpp"

namespace weft::durable {

/// The clock of durable processes.
enum class clock_source : unsigned char {
  wall,      ///< The time of day, which goes on while no engine runs.
  scheduler  ///< The scheduler's clock: for tests, with .virtual_time.
};

namespace detail {

/// The answer of a body under a process_handler: it has returned, or waits for the engine.
enum class pause : unsigned char { returned, waits };

/// The handler of a durable process.  It answers a request from the log, or at once, or keeps the
/// rest of the process and answers `waits`: then the engine carries out the request, and resumes
/// the rest.
class process_handler : public region {
 public:
  process_handler(instance& it, clock_source c) noexcept : it_(it), clock_(c) { allow_dropping(); }

  outcome<pause> on(mail::ask a, resumption<recorded, pause> k) {
    return ask(*a.what, std::move(k));
  }
  outcome<pause> on(children::ask a, resumption<recorded, pause> k) {
    return ask(*a.what, std::move(k));
  }
  outcome<pause> on(history::ask a, resumption<recorded, pause> k) {
    return ask(*a.what, std::move(k));
  }
  template <class... Es>
  outcome<pause> on(perform_step<Es...> s, resumption<recorded, pause> k) {
    return ask(*s.what, std::move(k));
  }
  outcome<pause> on(timing::now, resumption<instant, pause> k) {
    simple_request r(request_kind::now, {});
    try {
      auto const found = it_.begin(r, [this] { return time(); });
      return std::move(k).last(instant(std::chrono::nanoseconds(read_number(found->answer))));
    } catch (...) {
      return std::move(k).last(raising{std::current_exception()});
    }
  }
  outcome<pause> on(timing::sleep_until s, resumption<void, pause> k) {
    return sleep(stamp(s.until.at()), std::move(k));
  }
  outcome<pause> on(timing::sleep_for s, resumption<void, pause> k) {
    // The entry of the log says when a replayed sleep ends: the time is not read.
    return sleep(it_.is_replaying() ? 0 : time() + s.time.count(), std::move(k));
  }

  template <class T>
  pause on_return(T value) {
    result = encode(value);
    return pause::returned;
  }
  pause on_return() {
    result = nothing_answer();
    return pause::returned;
  }

  /// The result of a process that has returned, serialised.
  std::string result{};
  /// The answer to the request that the process waits for, or the exception that it is to find.
  recorded answer{};
  std::exception_ptr error = nullptr;

  /// The rest of the process, which waits for an answer, or for the end of a sleep.
  resumption<recorded, pause> rest{};
  resumption<void, pause> rest_of_sleep{};

  /// The time, as the process sees it.
  [[nodiscard]] timestamp time() const {
    if (clock_ == clock_source::scheduler) return it_.resumed_at;
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }

 private:
  outcome<pause> ask(request& r, resumption<recorded, pause> k) {
    try {
      if (auto const found = it_.begin(r, [this] { return time(); }))
        return std::move(k).last(*found);
    } catch (...) {
      return std::move(k).last(raising{std::current_exception()});
    }
    rest = std::move(k);
    return pause::waits;
  }
  outcome<pause> sleep(timestamp until, resumption<void, pause> k) {
    sleep_.emplace(request_kind::sleep, std::string_view(), true, until);
    try {
      if (it_.begin(*sleep_, [this] { return time(); })) return std::move(k).last();
    } catch (...) {
      return std::move(k).last(raising{std::current_exception()});
    }
    rest_of_sleep = std::move(k);
    return pause::waits;
  }

  instance& it_;
  clock_source clock_;
  std::optional<receive_request> sleep_;
};

}  // namespace detail
}  // namespace weft::durable
