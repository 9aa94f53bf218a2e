// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weft/durable/store.hpp"

/// The library's own answers, as they stand in logs.  All are MessagePack, so that a tool can print
/// them; a value of a user's type is the last element of an array.
namespace weft::durable::detail {

/// The answer to a step: [0, value]; [1, attempts, why] if it failed; [2] if it was interrupted.
[[nodiscard]] std::string step_answer(std::string_view value);
[[nodiscard]] std::string step_failure(unsigned attempts, std::string_view why);
[[nodiscard]] std::string step_interruption();
/// The bytes of the value.  If the step failed or was interrupted, throws step_failed or
/// step_interrupted, which name `step`.
[[nodiscard]] std::string_view value_of_step(std::string_view answer, std::string_view step);

/// An attempt that failed: [attempts so far, why, when the next one is due].
struct failed_attempt {
  unsigned attempts = 0;
  std::string why{};
  timestamp again = 0;
};
[[nodiscard]] std::string attempt_answer(failed_attempt const& a);
[[nodiscard]] failed_attempt read_attempt(std::string_view answer);

/// The message that answers a receive: [sequence, sender, value]; nil if nothing came in time.
struct received_message {
  std::uint64_t sequence = 0;
  std::string_view sender{};
  std::string_view data{};
};
[[nodiscard]] std::string message_answer(std::uint64_t sequence, std::string_view sender,
                                         std::string_view data);
[[nodiscard]] std::string nothing_answer();
[[nodiscard]] std::optional<received_message> read_message(std::string_view answer);
/// read_message() for a wait without a deadline.  Throws not_readable if nothing came.
[[nodiscard]] received_message read_some_message(std::string_view answer);

/// How a process has ended: [status, value], or [status, text].
struct process_outcome {
  process_status status = process_status::completed;
  std::string_view data{};  ///< The value's bytes; or the text as MessagePack.
};
[[nodiscard]] std::string outcome_message(process_status s, std::string_view result);
/// The message by which the parent `to` learns how its child has ended.
[[nodiscard]] outgoing_message message_of_end(std::string to, process_status s,
                                              std::string_view result);
[[nodiscard]] process_outcome read_outcome(std::string_view bytes);

[[nodiscard]] std::string number_answer(std::int64_t n);
[[nodiscard]] std::int64_t read_number(std::string_view answer);

}  // namespace weft::durable::detail
