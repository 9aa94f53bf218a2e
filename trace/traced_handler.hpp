// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <source_location>
#include <string_view>
#include <type_traits>
#include <utility>

#include "weft/effects/handle.hpp"
#include "weft/sched/base/detail/trace_buffer.hpp"
#include "weft/sched/base/trace_event.hpp"
#include "weft/trace/detail/tracing_hook.hpp"
#include "weft/trace/trace.hpp"

namespace weft {

namespace detail {

/// Whether a clause takes a `K` beside its operation: a resumption, or an outer<...>.  False for
/// the types that stand for an asking<...> in checks of clauses (stands_for_asking).
template <class K>
constexpr bool is_taken_by_clauses = false;
template <class... Ts>
constexpr bool is_taken_by_clauses<resumption<Ts...>> = true;
template <class... Ts>
constexpr bool is_taken_by_clauses<multi_resumption<Ts...>> = true;
template <class... Es>
constexpr bool is_taken_by_clauses<outer<Es...>> = true;
template <class Row>
constexpr bool is_taken_by_clauses<asking<Row>> = true;  // converts to an outer<...>
/// Whether `K` stands for an asking<...> (outer.hpp) in checks of clauses, which never call them.
template <class K>
constexpr bool stands_for_asking = false;
template <class Row>
constexpr bool stands_for_asking<asking_within<Row>> = true;
template <class Row>
constexpr bool stands_for_asking<asking_beyond<Row>> = true;

template <class H>
struct handles_the_same {};
template <says_what_it_handles H>
struct handles_the_same<H> {
  using handles = typename std::remove_cvref_t<H>::handles;
};

/// Adds an event of code that does not know its process, such as a handler.
void add_here(trace& t, trace_event e, answering const& by) noexcept;
template <class K>
[[nodiscard]] prompt const* captured_for([[maybe_unused]] K const& k) noexcept {
  if constexpr (is_resumption<K>)
    return k.prompt_here(internal());
  else
    return nullptr;  // `k` is an outer<...>
}

}  // namespace detail

/// A handler that does the same as `Handler`, and adds each operation that it answers to a trace.
/// `Handler` is `X` for an owned handler, `X&` for a borrowed one.  If `X` is a region
/// (region.hpp), the frames that its clauses suspend belong to the borrowed `X`.
template <class Handler>
class traced_handler : public detail::handles_the_same<Handler> {
  using H = std::remove_reference_t<Handler>;

 public:
  using stands_for = Handler;
  static constexpr bool is_told_where = true;
  static constexpr bool thread_safe = requires { requires H::thread_safe; };

  traced_handler(Handler h, trace& t) : handler_(std::forward<Handler>(h)), trace_(&t) {}

  template <operation O, class... Ks>
    requires(detail::has_clause<H, O, Ks...> && (detail::is_taken_by_clauses<Ks> && ...))
  decltype(auto) on(O o, Ks... ks) {
    return on_at(std::source_location(), std::move(o), std::move(ks)...);
  }
  /// Answers an operation that is performed at `where`.
  template <operation O, class... Ks>
  decltype(auto) on_at(std::source_location where, O o, Ks... ks) {
    detail::answering by{.handler = this};
    ((by.at = detail::captured_for(ks)), ...);
    by.has_captured = by.at != nullptr;
    add<O>(trace_kind::perform, where, detail::text_to_trace(o), by);
    auto const place = [where] { return where; };
    if constexpr (sizeof...(Ks) == 0) {
      answers<O> const after{*this, where, by};
      return detail::call_clause_at(handler_, place, std::move(o));
    } else {
      return detail::call_clause_at(handler_, place, std::move(o), std::move(ks)...);
    }
  }
  template <operation O, class K>
    requires(detail::stands_for_asking<K> && detail::has_clause<H, O, K>)
  void on(O, K);  // is never called
  /// The handler, for the library.
  [[nodiscard]] H& forwards_to() noexcept { return handler_; }

 protected:
  Handler handler_;

 private:
  /// Adds an `answer` event in its destructor, when the clause has returned.
  template <class O>
  struct answers {
    traced_handler& home;
    std::source_location where;
    detail::answering const& by;
    ~answers() { home.template add<O>(trace_kind::answer, where, {}, by); }
  };
  template <class O>
  void add(trace_kind what, std::source_location where, std::string_view text,
           detail::answering const& by) noexcept {
    detail::add_here(*trace_,
                     {.operation = detail::name_of<O>,
                      .handler = detail::name_of<H>,
                      .file = where.file_name(),
                      .text = text,
                      .line = where.line(),
                      .kind = what},
                     by);
  }

  trace* trace_;
};
/// A traced handler that has the return clause of `Handler`.
template <class Handler>
class traced_returning_handler : public traced_handler<Handler> {
  using H = std::remove_reference_t<Handler>;

 public:
  using traced_handler<Handler>::traced_handler;

  template <class... T>
    requires requires(H& h, T... result) { h.on_return(std::forward<T>(result)...); }
  decltype(auto) on_return(T&&... result) {
    return this->handler_.on_return(std::forward<T>(result)...);
  }
};

/// Makes a traced handler of `handler`, which is borrowed if it is named.  `t` must outlive the
/// traced handler:
///
///     handle(traced(state_of(0), t), counting());
///
/// A borrowed handler has its usual rules: if it is a region, it keeps resumptions until its own
/// end; if it keeps resumptions and is no region, `handle` throws not_a_region.
///
/// An event names the process that runs on the thread, if its scheduler is traced to `t`, too
/// (tracing.hpp).  Costs at most two events for each operation, as long as the trace has room.
template <class Handler>
auto traced(Handler&& handler, trace& t) {
  using kept = detail::kept_as<Handler>;
  if constexpr (!detail::is_lent_or_no_region<Handler>())
    return detail::refused();
  else if constexpr (detail::names_on_return<std::remove_reference_t<Handler>>)
    return traced_returning_handler<kept>(std::forward<Handler>(handler), t);
  else
    return traced_handler<kept>(std::forward<Handler>(handler), t);
}

}  // namespace weft
