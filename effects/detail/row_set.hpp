// SPDX-License-Identifier: MIT
#pragma once

#include "weft/effects/detail/mistakes/mistakes.hpp"

#include <type_traits>

#include "weft/effects/detail/names.hpp"
#include "weft/effects/operation.hpp"
#include "weft/effects/row.hpp"

/// Rows as sets: flat, without repetition, in the order of the names.  So equal sets are the same
/// type, and whether two computations share their evidence is known at compile time.
namespace weft::detail {

template <class T>
struct identity {
  using type = T;
};

// ---- membership

template <class T, class List>
constexpr bool is_among = false;
template <class T, template <class...> class List, class... Ts>
constexpr bool is_among<T, List<Ts...>> = (std::is_same_v<T, Ts> || ...);

template <class Sub, class Super>
constexpr bool is_subset = false;
template <class... Es, class Super>
constexpr bool is_subset<row<Es...>, Super> = (is_among<Es, Super> && ...);

/// The position of `T` in a list that has it.
template <class T, class List>
constexpr int place_of = -1;
template <class T, template <class...> class List, class... Ts>
constexpr int place_of<T, List<Ts...>> = [] {
  int i = 0;
  int found = -1;
  ((std::is_same_v<T, Ts> ? void(found = i) : void(), ++i), ...);
  return found;
}();

template <class Row>
constexpr int size_of_row = 0;
template <class... Es>
constexpr int size_of_row<row<Es...>> = sizeof...(Es);

// ---- the set
//
// Two effects of one name (in unnamed namespaces, for instance) keep the order in which they were
// listed.  The only harm is that evidence may be copied which could have been shared.

template <class E, class Before, class After>
struct inserted;
template <class E, class... Bs>
struct inserted<E, row<Bs...>, row<>> : identity<row<Bs..., E>> {};
template <class E, class... Bs, class A, class... As>
struct inserted<E, row<Bs...>, row<A, As...>>
    : std::conditional_t<
          std::is_same_v<E, A>, identity<row<Bs..., A, As...>>,
          std::conditional_t<(name_of<E> < name_of<A>), identity<row<Bs..., E, A, As...>>,
                             inserted<E, row<Bs..., A>, row<As...>>>> {};

template <class Set, class... Rest>
struct collected : identity<Set> {};
template <class Set, class E, class... Rest>
struct collected<Set, E, Rest...> : collected<typename inserted<E, row<>, Set>::type, Rest...> {};
template <class Set, class... Inner, class... Rest>
struct collected<Set, row<Inner...>, Rest...> : collected<Set, Inner..., Rest...> {};

/// The set of all effects in `Es`, which are effects and rows.
template <class... Es>
using row_set = typename collected<row<>, Es...>::type;

/// Intersection: the effects of `Of` in `Kept`.  Difference: those of `Of` that are not in
/// `Removed`.
template <class Of, class Kept>
struct intersected;
template <class... Es, class Kept>
struct intersected<row<Es...>, Kept>
    : collected<row<>, std::conditional_t<is_among<Es, Kept>, row<Es>, row<>>...> {};
template <class Of, class Kept>
using row_intersection = typename intersected<Of, Kept>::type;
template <class Of, class Removed>
struct subtracted;
template <class... Es, class Removed>
struct subtracted<row<Es...>, Removed>
    : collected<row<>, std::conditional_t<is_among<Es, Removed>, row<>, row<Es>>...> {};
template <class Of, class Removed>
using row_difference = typename subtracted<Of, Removed>::type;

/// The effects that an effect has as arguments, such as those of the processes that it spawns.
template <class E>
struct effects_named_by : identity<row<>> {};

/// The first type of a row that is not an effect, as a mistake.
template <class Row>
struct row_mistake_of;
template <class E>
using effect_mistake = std::conditional_t<
    operation<E>, operation_in_row<E>,
    std::conditional_t<effect<E>, typename row_mistake_of<typename effects_named_by<E>::type>::type,
                       no_effect_in_row<E>>>;
template <class... Es>
struct row_mistake_of<row<Es...>> : first_mistake<effect_mistake<Es>...> {};
template <class Row>
using row_mistake = typename row_mistake_of<Row>::type;

/// Whether no effect is left over.  If some are, the compiler's message names them: they are the
/// arguments of `Row`.
template <class Row>
constexpr bool is_empty_row = std::is_same_v<Row, row<>>;

// ---- the effect of a row that lists an operation

template <class O, class Row>
struct effect_of {
  static constexpr int count = 0;
  using type = void;
};
template <class O, class E, class... Es>
struct effect_of<O, row<E, Es...>> {
  using rest = effect_of<O, row<Es...>>;
  static constexpr bool here = requires { requires is_among<O, typename E::operations>; };
  static constexpr int count = rest::count + here;
  using type = std::conditional_t<here, E, typename rest::type>;
};

}  // namespace weft::detail
