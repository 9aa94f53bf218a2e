// SPDX-License-Identifier: MIT
#include "weft/sched/base/detail/parameters.hpp"

#include "tests/prelude.hpp"

/// Which parameters of a coroutine refer to temporaries that its arguments are converted to.

template <class F, class... Args>
constexpr bool refers_to_temporaries =
    decltype(weft::detail::parameters_of_any<F>())::type::template refers_to_temporaries<Args...>;

using by_const_reference = void (*)(std::string const&) noexcept;
using by_rvalue_reference = void (*)(std::string&&);

TEST_CASE("a parameter refers to a temporary if its argument has to be converted") {
  STATIC_REQUIRE(refers_to_temporaries<by_const_reference, char const*>);
  STATIC_REQUIRE(refers_to_temporaries<by_rvalue_reference, char const*>);
  STATIC_REQUIRE(refers_to_temporaries<void (*)(double const&), int>);
  STATIC_REQUIRE(
      refers_to_temporaries<void (*)(int, std::function<void()> const&), int, void (*)()>);
  auto const closure = [](std::string const&) {};
  STATIC_REQUIRE(refers_to_temporaries<decltype(closure), char const*>);
}

struct base {};
struct derived : base {};
using by_value = void (*)(std::string, std::string_view);

TEST_CASE("a parameter refers to no temporary if it binds to its argument, or is a value") {
  STATIC_REQUIRE_FALSE(refers_to_temporaries<by_value, char const*, char const*>);
  STATIC_REQUIRE_FALSE(refers_to_temporaries<by_const_reference, std::string>);
  STATIC_REQUIRE_FALSE(refers_to_temporaries<by_rvalue_reference, std::string>);
  STATIC_REQUIRE_FALSE(refers_to_temporaries<void (*)(base const&), derived>);
  STATIC_REQUIRE_FALSE(
      refers_to_temporaries<void (*)(std::vector<int>&), std::reference_wrapper<std::vector<int>>>);
  STATIC_REQUIRE_FALSE(
      refers_to_temporaries<by_const_reference, std::reference_wrapper<std::string const>>);
}

TEST_CASE("of a generic closure, and of a member function, nothing is known") {
  auto const generic = [](auto const&) {};
  STATIC_REQUIRE_FALSE(refers_to_temporaries<decltype(generic), char const*>);
  STATIC_REQUIRE_FALSE(
      refers_to_temporaries<void (base::*)(std::string const&), base*, char const*>);
}
