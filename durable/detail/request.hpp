// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weft/durable/store.hpp"

/// The requests of a durable process to its engine: each kind has an entry in the log.
namespace weft::durable::detail {

enum class request_kind : unsigned char {
  step,      ///< Call a function outside.
  now,       ///< Read the clock.
  sleep,     ///< Wait for a time.
  send,      ///< Put a message into an inbox.
  receive,   ///< Take a message out of the own inbox.
  start,     ///< Start a child.
  outcome,   ///< Wait for the end of a child.
  cancel,    ///< Cancel another process.
  changed,   ///< Ask in which form a part of the code that has changed is to run.
  publish,   ///< Set the answer to queries.
  continues  ///< End this run, and begin the next one.
};
/// The word that begins the name of an entry.
[[nodiscard]] std::string_view word_of(request_kind k) noexcept;

/// The name of an entry: a word, and the name of the step, the receiver and the like, if there is
/// one.
[[nodiscard]] std::string entry_of(std::string_view word, std::string_view what);

/// The entry of a cancellation, for which no request asks: it stands in the log at the request that
/// the cancellation has ended.
inline constexpr std::string_view cancelled_entry = "cancelled";

/// Types of messages that users do not send.
inline constexpr std::string_view cancel_message = "weft.cancel";
inline constexpr std::string_view ended_message = "weft.ended";

/// A request.  It lies in the awaiting frame.
struct request {
  request(request_kind k, std::string_view w) noexcept : kind(k), what(w) {}
  request(request const&) = default;
  request& operator=(request const&) = delete;

  request_kind kind;
  std::string_view what;  ///< The name of the step, the receiver, the type of the message...

 protected:
  ~request() = default;
};
struct simple_request : request {
  using request::request;
};
struct send_request : request {
  send_request(std::string_view to, std::string_view t, std::string d)
      : request(request_kind::send, to), type(t), data(std::move(d)) {}
  std::string_view type;
  std::string data;
};
struct receive_request : request {
  receive_request(request_kind k, std::string_view w, bool has, timestamp t) noexcept
      : request(k, w), has_deadline(has), deadline(t) {}
  bool has_deadline;
  timestamp deadline;
  /// For an outcome: the ids of children, of which the first one to end answers the request; null:
  /// `what` is the id of the only child.
  std::vector<std::string> const* among = nullptr;
};
struct start_request : request {
  explicit start_request(process_start s) : request(request_kind::start, {}), child(std::move(s)) {
    what = child.id;
  }
  process_start child;
};
/// A request with data: publish or continues.
struct data_request : request {
  data_request(request_kind k, std::string d) : request(k, {}), data(std::move(d)) {}
  std::string data;
};

/// The answer to a request, as it stands in the log; valid until the next request.
struct recorded {
  std::string_view answer{};
};

}  // namespace weft::durable::detail
