// SPDX-License-Identifier: MIT
#pragma once

#include <version>

#if defined(__cpp_lib_senders)
#include <execution>
#include <stop_token>
#endif

#include "weft/adapters/as_sender.hpp"     // IWYU pragma: export
#include "weft/adapters/await_sender.hpp"  // IWYU pragma: export

/// Senders and receivers, of std::execution (P2300) or of a library with the same interface: a
/// program as a sender, and a process that awaits a sender.
///
///     auto answer = as_sender<in_stdexec>(program, console_to_stream(std::cout));
///     int const n = co_await await_sender<in_stdexec>(stdexec::just(42));
///
/// The first template argument, `X`, is a struct with the names of the library: in_stdexec
/// (stdexec.hpp), or in_std, if the standard library has senders.  as_sender and await_sender use
/// either library by these names only.
///
/// | weft | senders |
/// |---|---|
/// | a result | set_value |
/// | an exception | set_error, with a std::exception_ptr |
/// | std::system_error, thrown | set_error, with a std::error_code |
/// | the error itself, thrown | set_error, with another error |
/// | `cancelled`, sender_stopped | set_stopped |
/// | a wait that is cancelled, or too late | a stop request to the receiver's stop token |
/// | `.stop` of the scheduler | the stop token in the receiver's environment |
namespace weft {

#if defined(__cpp_lib_senders)
/// The names of std::execution, for as_sender and await_sender.
struct in_std {
  using sender_t = std::execution::sender_t;
  using receiver_t = std::execution::receiver_t;
  using operation_state_t = std::execution::operation_state_t;
  using set_value_t = std::execution::set_value_t;
  using set_error_t = std::execution::set_error_t;
  using set_stopped_t = std::execution::set_stopped_t;
  using get_stop_token_t = std::get_stop_token_t;
  using stop_source = std::inplace_stop_source;
  template <class... Signatures>
  using completion_signatures = std::execution::completion_signatures<Signatures...>;
  template <class Sender, class Environment, template <class...> class Tuple,
            template <class...> class Variant>
  using value_types_of = std::execution::value_types_of_t<Sender, Environment, Tuple, Variant>;
  template <class Token, class F>
  using stop_callback = std::stop_callback_for_t<Token, F>;
  static constexpr auto& connect = std::execution::connect;
  static constexpr auto& start = std::execution::start;
  static constexpr auto& set_value = std::execution::set_value;
  static constexpr auto& set_error = std::execution::set_error;
  static constexpr auto& set_stopped = std::execution::set_stopped;
  static constexpr auto& get_env = std::execution::get_env;
  static constexpr auto& get_stop_token = std::get_stop_token;
};
#endif

}  // namespace weft
