// SPDX-License-Identifier: MIT
#pragma once

#include <stdexec/execution.hpp>

#include "weft/adapters/execution.hpp"  // IWYU pragma: export

namespace weft {

/// The names of stdexec (NVIDIA's std::execution for C++20), for as_sender and await_sender.
struct in_stdexec {
  using sender_t = stdexec::sender_t;
  using receiver_t = stdexec::receiver_t;
  using operation_state_t = stdexec::operation_state_t;
  using set_value_t = stdexec::set_value_t;
  using set_error_t = stdexec::set_error_t;
  using set_stopped_t = stdexec::set_stopped_t;
  using get_stop_token_t = stdexec::get_stop_token_t;
  using stop_source = stdexec::inplace_stop_source;
  template <class... Signatures>
  using completion_signatures = stdexec::completion_signatures<Signatures...>;
  template <class Sender, class Environment, template <class...> class Tuple,
            template <class...> class Variant>
  using value_types_of = stdexec::value_types_of_t<Sender, Environment, Tuple, Variant>;
  template <class Token, class F>
  using stop_callback = stdexec::stop_callback_for_t<Token, F>;
  static constexpr auto& connect = stdexec::connect;
  static constexpr auto& start = stdexec::start;
  static constexpr auto& set_value = stdexec::set_value;
  static constexpr auto& set_error = stdexec::set_error;
  static constexpr auto& set_stopped = stdexec::set_stopped;
  static constexpr auto& get_env = stdexec::get_env;
  static constexpr auto& get_stop_token = stdexec::get_stop_token;
};

}  // namespace weft
