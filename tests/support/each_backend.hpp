// SPDX-License-Identifier: MIT
#pragma once

#include <catch2/catch.hpp>
#include <concepts>
#include <initializer_list>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

#include "tests/support/threads.hpp"

/// Test cases on several backends, with a body that is compiled once:
///
///     BACKENDS_TEST_CASE("a process ends", "", on_one_thread, on_sharing<2>) {
///       run_on(chosen, []() -> eff<void, proc> { ... });
///     }
///
/// A TEMPLATE_TEST_CASE compiles each coroutine of its body once for each backend, although most
/// depend on none.  It is for bodies with a type that depends on the backend.
namespace weft::tests {

/// The backend of a test case, known when it runs.
struct chosen_backend {
  void const* backend;  ///< The address of identity<Backend>.
  unsigned threads;

  template <class Backend>
  static constexpr char identity = 0;

  template <class Where>
  static chosen_backend of() {
    return {&identity<typename Where::backend>, Where::threads};
  }
  template <class Backend>
  [[nodiscard]] bool is() const {
    return backend == &identity<Backend>;
  }
};

/// A program without the type of its closure, which outlives it: one scheduler is instantiated for
/// all programs that return a Computation.
template <class Computation>
class any_program {
 public:
  template <class Program>
    requires(!std::same_as<Program, any_program>)
  explicit any_program(Program& p)
      : program_(&p), call_([](void* of) { return (*static_cast<Program*>(of))(); }) {}
  Computation operator()() const { return call_(program_); }

 private:
  void* program_;
  Computation (*call_)(void*);
};

inline schedule_options options(bool log = false, std::stop_token stop = {}) {
  return on_one_thread::how(log, std::move(stop));
}
inline schedule_options virtual_time(bool log = false, std::stop_token stop = {}) {
  return virtual_time<on_one_thread>(log, std::move(stop));
}

template <class Backend, class Computation, class... Handlers>
void run_on(chosen_backend chosen, schedule_options const& how, any_program<Computation> p,
            Handlers&&... handlers) {
  typename scheduler<Backend>::options o;
  if constexpr (requires { o.threads; }) o.threads = chosen.threads;
  if constexpr (requires { o.seed; }) o.seed = next_seed();
  o.forkable = how.forkable;
  o.log_limit = how.log_limit;
  o.stop = how.stop;
  o.virtual_time = how.virtual_time;
  o.max_processes = how.max_processes;
  o.when_full = how.when_full;
  o.trace = how.trace;
  schedule<Backend>(std::move(o), p, std::forward<Handlers>(handlers)...);
}
template <class... Backends, class Computation, class... Handlers>
void run_on_one_of(chosen_backend chosen, schedule_options const& how, any_program<Computation> p,
                   Handlers&&... handlers) {
  auto const run_on_it = [&]<class Backend>(std::type_identity<Backend>) {
    if (chosen.is<Backend>()) run_on<Backend>(chosen, how, p, std::forward<Handlers>(handlers)...);
  };
  (run_on_it(std::type_identity<Backends>()), ...);
}

/// Runs a program on the chosen backend, to its end.
template <class Program, class... Handlers>
void run_on(chosen_backend chosen, schedule_options const& how, Program p, Handlers&&... handlers) {
  run_on_one_of<one_thread, locked_queue, locked_stack, random_order, sharing, stealing>(
      chosen, how, any_program<std::invoke_result_t<Program&>>(p),
      std::forward<Handlers>(handlers)...);
}
/// The same, for a program that does not fork.
template <class Program, class... Handlers>
void run_on(chosen_backend chosen, Program p, Handlers&&... handlers) {
  run_on(chosen, options(), std::move(p), std::forward<Handlers>(handlers)...);
}
/// The same, for a program that forks.
template <class Program, class... Handlers>
void fork_on(chosen_backend chosen, Program p, Handlers&&... handlers) {
  run_on(chosen, options(true), std::move(p), std::forward<Handlers>(handlers)...);
}

class on_chosen : public Catch::ITestInvoker {
 public:
  on_chosen(void (*body)(chosen_backend), chosen_backend chosen) : body_(body), chosen_(chosen) {}
  void invoke() const override { body_(chosen_); }

 private:
  void (*body_)(chosen_backend);
  chosen_backend chosen_;
};

/// Registers a test case for each backend.
template <class... Where>
bool register_on(void (*body)(chosen_backend), Catch::SourceLineInfo const& line,
                 std::string const& name, char const* tags,
                 std::initializer_list<char const*> names) {
  auto const* n = names.begin();
  (Catch::AutoReg(new on_chosen(body, chosen_backend::of<Where>()), line, "",
                  {name + " - " + *n++, tags}),
   ...);
  return true;
}

}  // namespace weft::tests

#define BACKENDS_TEST_CASE_OF(BODY, NAME, TAGS, ...)                               \
  static void BODY(weft::tests::chosen_backend);                                   \
  static bool const INTERNAL_CATCH_UNIQUE_NAME(registered) =                       \
      weft::tests::register_on<__VA_ARGS__>(                                       \
          BODY, CATCH_INTERNAL_LINEINFO, NAME, TAGS,                               \
          {CATCH_REC_LIST(INTERNAL_CATCH_STRINGIZE_WITHOUT_PARENS, __VA_ARGS__)}); \
  static void BODY([[maybe_unused]] weft::tests::chosen_backend chosen)

/// As TEMPLATE_TEST_CASE, with `chosen` in place of TestType.
#define BACKENDS_TEST_CASE(NAME, TAGS, ...) \
  BACKENDS_TEST_CASE_OF(INTERNAL_CATCH_UNIQUE_NAME(on_backends), NAME, TAGS, __VA_ARGS__)
