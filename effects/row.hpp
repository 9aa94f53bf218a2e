// SPDX-License-Identifier: MIT
#pragma once

#include <type_traits>

#include "effects/operation.hpp"

/// Rows: the set of effects that a computation may perform.
///
///     using processes = row<proc, console>;   // a name for a row
///     eff<void, processes, state<int>> f();   // may stand inside another
///
/// Neither order nor repetition matters to anything that is asked of a row.
namespace weft {

template <class... Effects>
struct row {};

namespace detail {

// ---- membership

template <class T, class List>
constexpr bool is_among = false;
template <class T, template <class...> class List, class... Ts>
constexpr bool is_among<T, List<Ts...>> = (std::is_same_v<T, Ts> || ...);

template <class Sub, class Super>
constexpr bool is_subset = false;
template <class... Es, class Super>
constexpr bool is_subset<row<Es...>, Super> = (is_among<Es, Super> && ...);

// ---- a row without rows inside, and with each effect once

template <class Flat, class... Rest>
struct flattened {
  using type = Flat;
};
template <class... Es, class E, class... Rest>
struct flattened<row<Es...>, E, Rest...>
    : flattened<std::conditional_t<is_among<E, row<Es...>>, row<Es...>, row<Es..., E>>, Rest...> {};
template <class... Es, class... Inner, class... Rest>
struct flattened<row<Es...>, row<Inner...>, Rest...> : flattened<row<Es...>, Inner..., Rest...> {};
template <class... Es>
using flat_row = typename flattened<row<>, Es...>::type;

template <class Row>
constexpr bool only_effects = false;
template <class... Es>
constexpr bool only_effects<row<Es...>> = (effect<Es> && ...);

// ---- the effect of a row that lists an operation

template <class O, class Row>
struct effect_of {
  static constexpr bool found = false;
  static constexpr bool twice = false;
  using type = void;
};
template <class O, class E, class... Es>
struct effect_of<O, row<E, Es...>> {
  using rest = effect_of<O, row<Es...>>;
  static constexpr bool here = is_among<O, typename E::operations>;
  static constexpr bool found = here || rest::found;
  static constexpr bool twice =
      rest::twice || (here && rest::found && !std::is_same_v<E, typename rest::type>);
  using type = std::conditional_t<here, E, typename rest::type>;
};

}  // namespace detail
}  // namespace weft
