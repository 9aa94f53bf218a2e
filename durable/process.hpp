// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/durable/codec.hpp"
#include "weft/durable/detail/answers.hpp"
#include "weft/durable/detail/request.hpp"
#include "weft/durable/errors.hpp"
#include "weft/durable/function.hpp"
#include "weft/durable/step.hpp"
#include "weft/effects/operation.hpp"
#include "weft/sched/base/backend.hpp"
#include "weft/sched/sync/timing.hpp"

/// The effects of a durable process, beside steps: messages, children, and its own history.  For
/// time it performs weft::timing, as any process does: `sleep_for`, `sleep_until`, `now`.
namespace weft::durable {

namespace detail {
/// The operation of `Effect`: asks the engine to answer a request.
template <class Effect>
struct [[nodiscard("weft: co_await it")]] ask_by : op<recorded, seals> {
  [[nodiscard("weft: co_await it")]] explicit ask_by(request& r) noexcept : what(&r) {}
  request* what;
  friend std::size_t hash_value(ask_by const&) { return 0; }
};
}  // namespace detail

/// The effect of sending and receiving messages, by the ids of processes.
struct mail {
  using ask = detail::ask_by<mail>;
  using operations = op_list<ask>;
};
/// The effect of starting other durable processes, waiting for their ends, and cancelling them.
struct children {
  using ask = detail::ask_by<children>;
  using operations = op_list<ask>;
};
/// The effect of changed(), continue_as_new() and publish().
struct history {
  using ask = detail::ask_by<history>;
  using operations = op_list<ask>;
};

/// The row of a durable process with all of these effects, whose steps perform `Effects...`.
template <class... Effects>
using all = row<steps<Effects...>, mail, children, history, timing>;

/// A message, and the process that sent it.
template <class M>
struct letter {
  std::string sender{};  ///< The id of the sender; empty: the message came from outside.
  M message;             ///< The message, read back from its bytes.
};

namespace detail {

/// An awaitable that performs a request by the effect `E`; `Finish` turns the answer into the
/// result.
template <class E, class Request, class Finish>
class asking {
 public:
  static constexpr bool row_aware_operation = true;
  using result = std::invoke_result_t<Finish const&, recorded>;
  asking(Request r, Finish f) : request_(std::move(r)), finish_(std::move(f)) {}
  template <class Row>
  auto operation_in() {
    return typename E::ask(request_);
  }
  result finish(recorded r) const { return finish_(r); }

 private:
  Request request_;
  Finish finish_;
};
struct no_result {
  void operator()(recorded) const noexcept {}
};

[[nodiscard]] inline timestamp stamp(instant t) noexcept { return t.time_since_epoch().count(); }

/// The message in the answer to a receive.  Throws not_readable if there is none, or if it is no
/// `M`.
template <class M>
letter<M> letter_of(recorded r) {
  auto const m = read_some_message(r.answer);
  return {std::string(m.sender), decode<M>(m.data)};
}

}  // namespace detail

/// Sends a message to the process of that id.  When the sender's next commit is stored, the message
/// is in the inbox exactly once, after those that the sender has sent before.  A process that is
/// not started yet finds the message when it is started; a process that has ended never reads it.
/// Allocates the bytes of the message.  Row: `durable::mail`.
template <class M>
[[nodiscard]] auto send(std::string to, M const& message) {
  struct keeping : detail::send_request {
    explicit keeping(std::string t, std::string d)
        : detail::send_request({}, stored_name<M>(), std::move(d)), id(std::move(t)) {
      what = id;
    }
    keeping(keeping const& other) : detail::send_request(other), id(other.id) { what = id; }
    std::string id;
  };
  return detail::asking<mail, keeping, detail::no_result>(keeping(std::move(to), encode(message)),
                                                          {});
}
/// Waits for a message of type `M`; `co_await` yields a letter<M>.  Messages of one sender come in
/// the order in which they were sent; messages of other types stay in the inbox.  Throws
/// weft::cancelled if this process is cancelled.  Row: `durable::mail`.
template <class M>
[[nodiscard]] auto receive() {
  auto const finish = [](detail::recorded r) { return detail::letter_of<M>(r); };
  return detail::asking<mail, detail::receive_request, decltype(finish)>(
      {detail::request_kind::receive, stored_name<M>(), false, 0}, finish);
}
/// Waits for a message of type `M`, until `t` at the latest; `co_await` yields a
/// std::optional<letter<M>>, which is empty if no message has come.  Throws weft::cancelled if this
/// process is cancelled.  Row: `durable::mail`.
template <class M>
[[nodiscard]] auto receive_until(instant t) {
  auto const finish = [](detail::recorded r) -> std::optional<letter<M>> {
    if (!detail::read_message(r.answer)) return std::nullopt;
    return detail::letter_of<M>(r);
  };
  return detail::asking<mail, detail::receive_request, decltype(finish)>(
      {detail::request_kind::receive, stored_name<M>(), true, detail::stamp(t)}, finish);
}

/// Asks whether the part `name` of the code, which has changed, is to run in the new form.
/// `co_await` yields true, and records that, if the log has ended before this operation; true if
/// the log has that record as its next entry; false if its next entry is another one.  So a process
/// goes on in the form in which it began.  Row: `durable::history`.
[[nodiscard]] inline auto changed(char const* name) {
  auto const finish = [](detail::recorded r) { return decode<bool>(r.answer); };
  return detail::asking<history, detail::simple_request, decltype(finish)>(
      {detail::request_kind::changed, name}, finish);
}
/// Sets the value that a query of this process returns.  Row: `durable::history`.
template <class T>
[[nodiscard]] auto publish(T const& value) {
  return detail::asking<history, detail::data_request, detail::no_result>(
      {detail::request_kind::publish, encode(value)}, {});
}
/// Ends this run, and begins the function again with these arguments and an empty log: for a
/// process that lives long.  Its inbox stays.  Never returns.  Row: `durable::history`.
template <class... Args>
[[nodiscard]] auto continue_as_new(Args const&... args) {
  return detail::asking<history, detail::data_request, detail::no_result>(
      {detail::request_kind::continues, encode(std::tuple<Args...>(args...))}, {});
}

/// A child: a durable process that start() has started or found.
template <class R>
class child {
 public:
  explicit child(std::string id) noexcept : id_(std::move(id)) {}
  /// The id by which the store knows it.
  [[nodiscard]] std::string const& id() const noexcept { return id_; }

  /// Waits for the end of the child; `co_await` yields the child's result.  Await it once.  Throws
  /// child_failed if the child has failed, or was cancelled; weft::cancelled if this process was.
  /// Row: `durable::children`.
  [[nodiscard]] auto outcome() const {
    auto const finish = [id = id_](detail::recorded r) -> R {
      auto const end = detail::read_outcome(detail::read_some_message(r.answer).data);
      if (end.status != process_status::completed)
        throw child_failed(id, decode<std::string>(end.data));
      if constexpr (!std::is_void_v<R>) return decode<R>(end.data);
    };
    return detail::asking<children, detail::receive_request, decltype(finish)>(
        {detail::request_kind::outcome, id_, false, 0}, finish);
  }
  /// Asks the child to end: the operation at which the child waits, or else its next one, throws
  /// weft::cancelled.  Row: `durable::children`.
  [[nodiscard]] auto cancel() const {
    return detail::asking<children, detail::simple_request, detail::no_result>(
        {detail::request_kind::cancel, id_}, {});
  }

 private:
  std::string id_;
};

/// Starts a durable process with the id `id`; `co_await` yields a child<R>.  If a process with this
/// id exists already, nothing is started, and the child<R> refers to that process.  The caller can
/// then await an outcome only if that process has ended by now, or if the caller has started it.
/// Row: `durable::children`.
template <class R, class... Es, class... Params, class... Args>
[[nodiscard]] auto start(std::string id, function<eff<R, Es...>(Params...)> const& f,
                         Args&&... args) {
  auto const finish = [id](detail::recorded) { return child<R>(id); };
  struct keeping : detail::start_request {
    explicit keeping(process_start s) : detail::start_request(std::move(s)) {}
    keeping(keeping const& other) : detail::start_request(other.child) {}
  };
  return detail::asking<children, keeping, decltype(finish)>(
      keeping(f.start(std::move(id), std::forward<Args>(args)...)), finish);
}

/// Waits for all of the children; `co_await` yields a tuple of their results.  Throws as
/// child::outcome() does; for a child that has failed, when those before it in the list have ended.
/// Row: `durable::children`.
template <class... Rs>
[[nodiscard]] eff<std::tuple<Rs...>, children> when_all(child<Rs>... all) {
  co_return std::tuple<Rs...>{co_await all.outcome()...};
}

}  // namespace weft::durable
