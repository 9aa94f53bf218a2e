// SPDX-License-Identifier: MIT
// expected: failures as results that are a value or an error, and such results as failures.
#include <iostream>
#include <optional>
#include <string>
#include <utility>

#include <weft/adapters/expected.hpp>
#include <weft/effects/effects.hpp>
using namespace weft;

// Looks like std::expected, which needs C++23; there, failure_to_expected<E> is the handler.
struct wrong {
  std::string text;
};
template <class T, class E>
class result {
 public:
  using value_type = T;
  using error_type = E;
  using unexpected_type = wrong;

  result(T value) : value_(std::move(value)) {}
  result(wrong error) : error_(std::move(error.text)) {}
  bool has_value() const { return value_.has_value(); }
  T operator*() && { return std::move(*value_); }
  E error() && { return std::move(error_); }

 private:
  std::optional<T> value_;
  E error_;
};
static_assert(expected_like<result<int, std::string>>);

result<int, std::string> parse(std::string const& text) {
  if (text == "eight") return 8;
  return wrong{"no number: " + text};
}

eff<int, failure<std::string>> half(std::string text) {
  int const n = co_await value_or_fail(parse(text));
  co_return n / 2;
}

int main() {
  for (char const* text : {"eight", "ate"}) {
    auto r = run(handle(failure_to<result, std::string>(), half(text)));
    if (r.has_value())
      std::cout << *std::move(r) << '\n';
    else
      std::cout << std::move(r).error() << '\n';
  }
}
