// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/effects/awaits_to.hpp"
#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/direct_spawn.hpp"
#include "weft/sched/base/detail/parameters.hpp"
#include "weft/sched/base/detail/program.hpp"
#include "weft/sched/base/process_id.hpp"
#include "weft/sched/base/scheduled.hpp"

namespace weft {

namespace detail {

/// The function and the arguments of a spawn, of which the scheduler makes a process.  If the
/// spawning process is run again, the scheduler makes no process, and takes the id from the log.
class spawn_request {
 public:
  spawn_request(spawn_request const&) = delete;
  spawn_request& operator=(spawn_request const&) = delete;

  /// For a process that is to be forkable: its program, of which the caller then owns one count.
  /// Else null.
  virtual program* forkable_program() { return nullptr; }
  virtual first_frame frame() = 0;
  [[nodiscard]] bool is_forkable() const noexcept { return forkable_; }

  std::source_location where;  // the place of the spawn; set where schedules are explored

 protected:
  explicit spawn_request(bool keeps_log) noexcept : forkable_(keeps_log) {}
  ~spawn_request() = default;

 private:
  bool forkable_;
};

}  // namespace detail

/// The effect of starting processes; `spawn` performs it.  A spawned process may perform
/// `Effects...`, and spawning<Effects...> itself.
///
/// So `spawning<A>` allows the effects A and `spawning<A>`, not `spawning<B>`.  To spawn a function
/// whose row has `spawning<B>`, name that effect too: `spawning<A, spawning<B>>`.
template <class... Effects>
struct spawning;
template <>
struct spawning<> {
  static constexpr bool performed_by_processes = true;  // only a process performs it (tasking.hpp)
  /// Starts a process; answered with its id.
  struct [[nodiscard("weft: co_await it")]] start : op<process_id> {
    static constexpr detail::scheduling_rule scheduling{.step = detail::step_kind::spawns};
    [[nodiscard("weft: co_await it")]] explicit start(detail::spawn_request& b) noexcept
        : what(&b) {}
    detail::spawn_request* what;  // lies in the frame that awaits the spawn
    /// All requests hash alike: functions and arguments cannot be compared.
    friend std::size_t hash_value(start const&) { return 0; }
  };
  using operations = op_list<start>;
};
template <class... Effects>
struct spawning {
  using general = spawning<>;
  static constexpr bool performed_by_processes = true;
  using start = detail::operation_with_row<spawning, general::start>;
  using operations = op_list<start>;
};

namespace detail {

template <class... Es>
struct effects_named_by<spawning<Es...>> : identity<row_set<Es...>> {};

template <class Row>
struct spawning_in {
  static constexpr int count = 0;
};
template <class E, class... Es>
struct spawning_in<row<E, Es...>> : spawning_in<row<Es...>> {};
template <class... Fs, class... Es>
struct spawning_in<row<spawning<Fs...>, Es...>> {
  static constexpr int count = 1 + spawning_in<row<Es...>>::count;
  using type = spawning<Fs...>;
  using for_children = row_set<Fs..., type>;
};

/// The awaitable that spawn returns, for a child with the row `Child`.
template <class Child>
class spawns : public spawn_request {
 public:
  static constexpr bool row_aware_operation = true;
  using result = process_id;
  using effects = Child;

  explicit spawns(bool keeps_log) noexcept : spawn_request(keeps_log) {}

  /// The operation that a coroutine with the row `Row` performs.
  template <class Row>
  auto operation_in() {
    using found = spawning_in<Row>;
    constexpr bool has_one = found::count == 1;
    static_assert(has_one || found::count > 1 || !is_well<row_mistake<Row>>,
                  "weft: spawn in a coroutine whose row has no spawning<...>: name it in eff<...>, "
                  "with the effects that the spawned process may perform");
    static_assert(has_one || found::count == 0,
                  "weft: spawn in a coroutine whose row has two spawning<...>: keep one");
    if constexpr (!has_one || !is_well<row_mistake<Row>>) {
      return refused<void>();
    } else {
      using missing = row_difference<Child, typename found::for_children>;
      static_assert(is_empty_row<missing>,
                    "weft: the spawned process may perform an effect that spawning<...> of the "
                    "coroutine that spawns it does not name");
      if constexpr (is_empty_row<missing>)
        return typename found::type::start(*this);
      else
        return refused<void>();
    }
  }
};

/// The awaitable of a spawn without a log.  It calls the function itself if the spawn may be direct
/// (direct_spawn.hpp).
template <class F, class... Args>
class spawns_frame {
 public:
  static constexpr bool row_aware_operation = true;
  using result = process_id;
  using effects = typename std::invoke_result_t<F, Args...>::effects;

  template <class... As>
  explicit spawns_frame(F f, As&&... args) : f_(f), args_(std::forward<As>(args)...) {}
  spawns_frame(spawns_frame const&) = delete;
  spawns_frame& operator=(spawns_frame const&) = delete;

  [[nodiscard, gnu::always_inline]] attempted attempt(void const* by) {
    direct_spawn const& here = direct_spawn::of_thread;
    process* const parent = here.spawner(by);
    if (!parent) [[unlikely]]
      return attempted::not_done;
    // The number is used up even if the call of `f_` throws (DIRECT-4).
    std::uint32_t const n = parent->next_child_number();
    first_frame const f = frame();
    id_ = std::bit_cast<std::uint64_t>(here.begin(*here.worker, n, f.handle, *f.row));
    return attempted::done;
  }
  [[nodiscard]] process_id take() const noexcept { return std::bit_cast<process_id>(id_); }
  /// Calls the function.
  [[nodiscard, gnu::always_inline]] first_frame frame() {
    return call(std::index_sequence_for<Args...>());
  }

  /// The operation that spawns if attempt() has not spawned.
  class performed final : public spawns<effects> {
   public:
    explicit performed(spawns_frame& s) noexcept : spawns<effects>(false), what_(s) {}
    first_frame frame() override { return what_.frame(); }
    [[nodiscard]] process_id finish(process_id id) const noexcept { return id; }

   private:
    spawns_frame& what_;
  };

 private:
  // std::apply would add two frames with long names to a backtrace.
  template <std::size_t... I>
  first_frame call(std::index_sequence<I...>) {
    return first_frame_of(std::invoke(f_, std::move(std::get<I>(args_))...));
  }

  [[no_unique_address]] F f_;
  std::tuple<Args...> args_;
  std::uint64_t id_;  // the child's id as a word; unset before attempt()
};

template <class F>
class spawns_program final : public spawns<typename std::invoke_result_t<F const&>::effects> {
 public:
  explicit spawns_program(F f)
      : spawns<typename std::invoke_result_t<F const&>::effects>(true), f_(std::move(f)) {}
  program* forkable_program() override { return new program_of<F>(std::move(f_)); }
  first_frame frame() override { return first_frame_of(std::as_const(f_)()); }

 private:
  F f_;
};

}  // namespace detail

/// The type of the tag `forkable`, by which spawn starts a process that may fork, and be run again.
struct forkable_t {};
inline constexpr forkable_t forkable{};

/// Starts a process that runs `f(args...)`.  co_await yields the id of the process at once; the
/// process runs in its turn.
///
///     process_id const child = co_await spawn(f, args...);
///
/// `f` is a function, or a closure without captures, that returns an eff<void, ...> whose row is
/// within the spawning<...> of the coroutine that spawns.  The arguments are copied or moved into
/// the frame; move-only arguments are allowed.  For a reference pass std::ref, to an object that
/// outlives the process.  The process cannot fork: it keeps no log, and so costs about its frame
/// and 64 bytes.  The handlers outside the scheduler handle its effects; handlers inside the
/// spawning process do not.
///
/// Row: `spawning<...>` with the effects of the process.
///
/// O(1); two allocations, from a pool.  Throws bad_alloc; too_many_processes, if `.max_processes`
/// and `.when_full` say so; what calling `f` throws.  When the spawning process is run again, `f`
/// is not called, and the ids are those of the first run.  If the spawning process is forkable, its
/// log takes one entry for consecutive spawns at one place; or one for each spawn, if their ids are
/// hashes.  On several threads, a spawn at which that process lets others run first has an entry of
/// its own.
template <class F, class... Args>
[[nodiscard("weft: co_await it")]] awaits_to<process_id> auto spawn(F f, Args&&... args) {
  constexpr bool is_a_process = [] {
    if constexpr (std::invocable<F, std::decay_t<Args>...>)
      return detail::is_computation<std::invoke_result_t<F, std::decay_t<Args>...>>;
    else
      return false;
  }();
  static_assert(is_a_process,
                "weft: spawn takes a function that returns an eff<void, ...>, and its arguments: "
                "not its result; a reference goes as std::ref(x)");
  constexpr bool captures_nothing = !is_a_process || std::is_pointer_v<F> || std::is_empty_v<F>;
  static_assert(captures_nothing,
                "weft: spawn takes no closure with captures, which would be gone when the process "
                "runs: pass what it captures as arguments, or write spawn(forkable, f)");
  if constexpr (!is_a_process || !captures_nothing)
    return detail::refused<void>();
  else if constexpr (detail::require_kept<Args...>() &&
                     detail::require_no_temporaries<F, std::decay_t<Args>...>())
    return detail::spawns_frame<F, std::decay_t<Args>...>(f, std::forward<Args>(args)...);
  else
    return detail::refused<void>();
}

/// Starts a process that may fork, and so keeps a log.  co_await yields its id at once.  `program`
/// is a function without parameters; it is kept, and called as const.  O(1); allocates the program,
/// the process, its frame and its log.  Throws as spawn(f, args...) does.
template <class Program>
[[nodiscard("weft: co_await it")]] awaits_to<process_id> auto spawn(forkable_t, Program program) {
  constexpr bool is_a_program = detail::is_program<Program>;
  static_assert(is_a_program,
                "weft: spawn(forkable, f) takes a function without parameters that can be copied, "
                "called as const, and returns an eff<void, ...>");
  if constexpr (is_a_program)
    return detail::spawns_program<Program>(std::move(program));
  else
    return detail::refused<void>();
}

}  // namespace weft
