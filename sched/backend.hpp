// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <optional>
#include <utility>

#include "sched/thunk.hpp"

namespace weft {

/// Where boxed resumptions wait, and who says which runs next.
///
///   B1  Each thunk that is put is taken once, or destroyed with the backend.
///   B2  take() comes back empty only if nothing waits.
template <class B>
concept backend = std::default_initializable<B> && requires(B b, thunk t) {
  { b.put(std::move(t)) } -> std::same_as<void>;
  { b.take() } -> std::same_as<std::optional<thunk>>;
};

}  // namespace weft
