// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/ending/cancellation_state.hpp"

#include "tests/prelude.hpp"
#include "tests/support/parts.hpp"

using weft::detail::cancellation_state;

TEST_CASE("a note that a process has found the cancellation lasts until all of it has ended") {
  cancellation_state s;
  CHECK(s.begin_of_all());
  CHECK_FALSE(s.was_found());
  s.note_found();
  s.note_found();
  CHECK(s.was_found());
  s.end_of_all();
  CHECK_FALSE(s.was_found());
}

using weft::detail::continuation;

/// The place of a group of tasks in the chain of a process, between its frame and its end.
class group final : public weft::detail::frame_end {
 public:
  explicit group(thunk const& of) noexcept : process_(*of.get()) {
    weft::detail::frame_of(process_.leaf()).parent = *this;
  }
  group(group const&) = delete;
  group& operator=(group const&) = delete;

  cancel_state says = cancel_state::unknown;
  [[nodiscard]] int times_asked() const noexcept { return asked_; }

 private:
  continuation ended() noexcept override { std::terminate(); }
  continuation dropped() noexcept override { return outside(); }
  [[nodiscard]] std::string text() const override { return "group"; }
  [[nodiscard]] continuation outside() const noexcept override { return process_; }
  [[nodiscard]] bool lost() const noexcept override { return false; }
  [[nodiscard]] cancel_state query_cancellation(continuation& outwards) const noexcept override {
    ++asked_;
    outwards = outside();
    return says;
  }

  process& process_;
  int mutable asked_ = 0;
};
using says = group::cancel_state;

/// A process with a group of tasks around its frame.
struct member {
  thunk is = suspended_process();
  group in{is};
  [[nodiscard]] process& get() const noexcept { return *is.get(); }
  // The frames end first.
  ~member() { is = thunk::reason::quiescent; }
};

TEST_CASE("a new state cancels no process and needs no attention") {
  every_frame_dies const check;
  cancellation_state const s;
  member m;
  m.in.says = says::cancelled;
  CHECK_FALSE(s.needs_attention());
  CHECK_FALSE(s.is_of_all());
  CHECK_FALSE(s.is_of_some_group());
  CHECK_FALSE(s.was_found());
  CHECK_FALSE(s.is_last_step());
  CHECK_FALSE(s.includes(m.get().leaf()));
  CHECK_FALSE(s.includes_by_group(m.get()));
  CHECK_FALSE(s.refuses()(m.get()));
  CHECK(m.in.times_asked() == 0);  // no chain is walked for nothing
}

TEST_CASE("the cancellation of all processes begins once, until it has ended") {
  every_frame_dies const check;
  cancellation_state s;
  member const m;
  for (int round = 0; round != 2; ++round) {
    CHECK(s.begin_of_all());
    CHECK_FALSE(s.begin_of_all());
    CHECK(s.is_of_all());
    CHECK(s.needs_attention());
    CHECK_FALSE(s.is_of_some_group());
    CHECK(s.includes(m.get().leaf()));
    CHECK(s.refuses()(m.get()));
    CHECK_FALSE(s.includes_by_group(m.get()));
    s.end_of_all();
    CHECK_FALSE(s.is_of_all());
    CHECK_FALSE(s.needs_attention());
    CHECK_FALSE(s.includes(m.get().leaf()));
    CHECK_FALSE(s.refuses()(m.get()));
    s.end_of_all();  // has no effect
    CHECK_FALSE(s.needs_attention());
  }
  CHECK(m.in.times_asked() == 0);
}

TEST_CASE("a process is included by the innermost group that knows, if some group is cancelled") {
  every_frame_dies const check;
  cancellation_state s;
  member m;
  auto const is_included = [&] {
    bool const is = s.includes(m.get().leaf());
    CHECK(s.includes_by_group(m.get()) == is);
    CHECK(s.refuses()(m.get()) == is);
    return is;
  };
  s.count_group(true);
  CHECK(s.is_of_some_group());
  CHECK_FALSE(s.is_of_all());
  CHECK(s.needs_attention());
  CHECK_FALSE(is_included());  // unknown: asks further out, where nothing is cancelled
  m.in.says = says::cancelled;
  CHECK(is_included());
  m.in.says = says::shielded;
  CHECK_FALSE(is_included());
  m.in.says = says::elsewhere;
  CHECK_FALSE(is_included());
  CHECK(m.in.times_asked() == 4 * 3);
  // A shield protects from groups, and not from the cancellation of all.
  m.in.says = says::shielded;
  CHECK(s.begin_of_all());
  CHECK(s.includes(m.get().leaf()));
  CHECK(s.refuses()(m.get()));
  CHECK_FALSE(s.includes_by_group(m.get()));
}

TEST_CASE("a process that runs is not included by a group") {
  every_frame_dies const check;
  cancellation_state s;
  member m;
  m.in.says = says::cancelled;
  s.count_group(true);
  CHECK(s.includes_by_group(m.get()));
  auto const& operation = m.get().operation();
  auto& slot = m.get().waiting();
  std::coroutine_handle<> const leaf = m.get().resume(0);
  CHECK_FALSE(s.includes_by_group(m.get()));
  CHECK_FALSE(s.refuses()(m.get()));
  m.get().suspend_here(operation, leaf, slot);
  CHECK(s.includes_by_group(m.get()));
}

TEST_CASE("groups are cancelled until the last cancelled one has ended") {
  cancellation_state s;
  s.count_group(true);
  s.count_group(true);
  s.count_group(false);
  CHECK(s.is_of_some_group());
  CHECK(s.needs_attention());
  s.count_group(true);
  s.count_group(false);
  s.count_group(false);
  CHECK_FALSE(s.is_of_some_group());
  CHECK_FALSE(s.needs_attention());
}

TEST_CASE("the last step needs attention while it is set, and cancels nothing") {
  every_frame_dies const check;
  cancellation_state s;
  member m;
  m.in.says = says::cancelled;
  s.set_last_step(false);  // has no effect
  CHECK_FALSE(s.needs_attention());
  s.set_last_step(true);
  s.set_last_step(true);  // has no effect
  CHECK(s.is_last_step());
  CHECK(s.needs_attention());
  CHECK_FALSE(s.refuses()(m.get()));
  CHECK_FALSE(s.includes(m.get().leaf()));
  s.set_last_step(false);
  CHECK_FALSE(s.is_last_step());
  CHECK_FALSE(s.needs_attention());
}

TEST_CASE("attention is needed until the last reason for it has gone, in any order") {
  for (int first = 0; first != 3; ++first) {
    CAPTURE(first);
    cancellation_state s;
    CHECK(s.begin_of_all());
    s.count_group(true);
    s.set_last_step(true);
    for (int i = 0; i != 3; ++i) {
      CHECK(s.needs_attention());
      switch ((first + i) % 3) {
        case 0:
          s.end_of_all();
          break;
        case 1:
          s.count_group(false);
          break;
        default:
          s.set_last_step(false);
      }
    }
    CHECK_FALSE(s.needs_attention());
  }
}

TEST_CASE("of several threads that cancel all processes one begins, and no count is lost") {
  constexpr int threads = 3;
  for (int round = 0; round != rounds(200); ++round) {
    cancellation_state s;
    counter come = 0, begun = 0, wrong = 0;
    std::vector<std::thread> all;
    for (int i = 0; i != threads; ++i)
      all.emplace_back([&] {
        ++come;
        until([&] { return come == threads; });
        if (s.begin_of_all()) ++begun;
        if (!s.is_of_all() || !s.needs_attention()) ++wrong;
        for (int n = 0; n != 20; ++n) {
          s.count_group(true);
          if (!s.is_of_some_group() || !s.needs_attention()) ++wrong;
          s.count_group(false);
        }
        s.note_found();
      });
    for (auto& t : all) t.join();
    CHECK(begun == 1);
    CHECK(wrong == 0);
    CHECK(s.was_found());
    CHECK_FALSE(s.is_of_some_group());
    s.end_of_all();
    CHECK_FALSE(s.needs_attention());
  }
}
