// SPDX-License-Identifier: MIT
#pragma once

#include <any>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "effects/detail/answer.hpp"
#include "effects/detail/names.hpp"

namespace weft {

/// A program, run again to be resumed a second time, did not do what it did the first time.
struct replay_divergence : std::logic_error {
  using std::logic_error::logic_error;
};

namespace detail {

/// Which operation, and where it was performed.
struct site {
  std::string_view const* operation;  // &name_of<O>
  std::source_location where;

  friend bool operator==(site const& a, site const& b) noexcept {
    return a.operation == b.operation && a.where.line() == b.where.line() &&
           std::strcmp(a.where.file_name(), b.where.file_name()) == 0;
  }
  [[nodiscard]] std::string text() const {
    return std::string(*operation) + " at " + detail::text(where);
  }
};

/// What a program was answered, in order, so that a second run of it comes to the same place.
/// Clones share their past: segments that no longer change, each pointing at what came before.
/// One thread.
class replay_log {
 public:
  [[nodiscard]] bool replaying() const noexcept { return !ahead_.empty(); }

  /// An answer that cannot be copied into the log, because its copy throws, is that exception.
  template <class R>
  void record(site const& at, answer<R>& a) {
    entry e{at, 1, {}, a.error()};
    if (a.value()) {
      if constexpr (std::is_void_v<R>) {  // runs of void answers of one site are one entry
        if (!recent_.empty() && recent_.back().at == at && !recent_.back().error) {
          ++recent_.back().count;
          return;
        }
      } else {
        try {
          e.value.emplace<kept<R>>(*a.value());
        } catch (...) {
          e.error = std::current_exception();
          a.fail(e.error);
        }
      }
    }
    recent_.push_back(std::move(e));
  }

  /// Answers an operation with what it was answered the first time.  False if it was another
  /// operation then, or elsewhere.
  template <class R>
  [[nodiscard]] bool replay(site const& at, answer<R>& a) {
    entry const& e = *ahead_.back();
    if (e.at != at) return false;
    if (++replayed_ == e.count) {
      replayed_ = 0;
      ahead_.pop_back();
    }
    if (e.error)
      a.fail(e.error);
    else if constexpr (std::is_void_v<R> || std::is_same_v<R, never>)
      a.set();
    else
      a.set(*std::any_cast<kept<R>>(&e.value));
    return true;
  }
  /// What is to be said if `at` is performed instead of what comes next.
  [[nodiscard]] replay_divergence divergence(site const& at) const {
    return replay_divergence("weft: a program was run again and performed " + at.text() +
                             ", where the first time it performed " + ahead_.back()->at.text() +
                             "; what it does may depend on its effects' answers only");
  }
  /// What is to be said if the program ends instead.
  [[nodiscard]] replay_divergence divergence() const {
    return replay_divergence(
        "weft: a program was run again and ended, where the first time it "
        "performed " +
        ahead_.back()->at.text() + "; what it does may depend on its effects' answers only");
  }

  /// Ends the segment: what is in the log now is shared by the copies made from here on.
  void freeze() {
    if (recent_.empty()) return;
    past_ = std::make_shared<segment>(std::move(past_), std::exchange(recent_, {}));
  }

  /// To be replayed from the beginning, by a run that has just started.
  void rewind() {
    freeze();
    std::vector<segment const*> newest_first;
    for (auto const* s = past_.get(); s; s = s->before.get()) newest_first.push_back(s);
    for (auto const* s : newest_first)
      for (auto e = s->entries.rbegin(); e != s->entries.rend(); ++e) ahead_.push_back(&*e);
  }

 private:
  struct entry {
    site at;
    std::size_t count;
    std::any value;
    std::exception_ptr error;
  };
  struct segment {
    std::shared_ptr<segment> before;
    std::vector<entry> entries;

    segment(std::shared_ptr<segment> b, std::vector<entry> e)
        : before(std::move(b)), entries(std::move(e)) {}
    segment(segment const&) = delete;
    segment& operator=(segment const&) = delete;
    ~segment() {  // a long past takes no stack
      while (before && before.use_count() == 1) before = std::move(before->before);
    }
  };

  std::shared_ptr<segment> past_;
  std::vector<entry> recent_;
  std::vector<entry const*> ahead_;  // still to be replayed, the next one last; points into past_
  std::size_t replayed_ = 0;         // of the next one's count
};

}  // namespace detail
}  // namespace weft
