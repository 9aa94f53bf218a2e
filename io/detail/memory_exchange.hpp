// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include "weft/io/socket.hpp"

/// The operations at one end of a connection in memory.
namespace weft::detail {

class fault_budgets;
struct memory_end;

/// Throws the io_error of an operation that has failed; `what` is the operation: "read from ", say.
[[noreturn, gnu::cold]] void throw_failed(std::errc why, std::string_view what,
                                          endpoint const& peer);

[[nodiscard]] std::optional<std::size_t> read_from(memory_end& e, fault_budgets& budgets,
                                                   std::span<std::byte> into);
[[nodiscard]] std::optional<std::size_t> write_to(memory_end& e, fault_budgets& budgets,
                                                  std::span<std::byte const> from);
void finish_writing_to(memory_end const& e);
/// Whether another attempt in direction `d` may succeed.  The first call after a delayed attempt
/// returns true, and forgets the delay.
[[nodiscard]] bool check_retry(memory_end& e, direction d) noexcept;

}  // namespace weft::detail
