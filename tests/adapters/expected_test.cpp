// SPDX-License-Identifier: MIT
#include "weft/adapters/expected.hpp"

#include "tests/prelude.hpp"

// As much of std::expected as an adapter needs, for standard libraries that lack it.
template <class E>
struct unexpected {
  explicit unexpected(E e) : error(std::move(e)) {}
  E error;
};
template <class T, class E>
class either {
 public:
  using value_type = T;
  using error_type = E;
  using unexpected_type = unexpected<E>;

  explicit either(T t) : has_(std::in_place_index<0>, std::move(t)) {}
  explicit either(unexpected<E> e) : has_(std::in_place_index<1>, std::move(e.error)) {}
  [[nodiscard]] bool has_value() const noexcept { return has_.index() == 0; }
  T&& operator*() && { return std::get<0>(std::move(has_)); }
  E&& error() && { return std::get<1>(std::move(has_)); }

 private:
  std::variant<T, E> has_;
};
template <class E>
class either<void, E> {
 public:
  using value_type = void;
  using error_type = E;
  using unexpected_type = unexpected<E>;

  either() = default;
  explicit either(unexpected<E> e) : error_(std::move(e.error)) {}
  [[nodiscard]] bool has_value() const noexcept { return !error_; }
  E&& error() && { return *std::move(error_); }

 private:
  std::optional<E> error_;
};

using text_failure = failure<std::string>;

eff<int, text_failure> half(int n) {
  if (n % 2 != 0) co_await text_failure::fail("odd");
  co_return n / 2;
}
eff<void, text_failure> must_be_even(int n) { (void)co_await half(n); }

#if defined(__cpp_lib_expected)
TEST_CASE("the standard's expected is such a result") {
  std::expected<int, std::string> const good =
      run(handle(failure_to_expected<std::string>(), half(4)));
  CHECK(good == 2);
  std::expected<int, std::string> const bad =
      run(handle(failure_to_expected<std::string>(), half(5)));
  CHECK(bad == std::unexpected("odd"));
  CHECK(run(handle(failure_to_expected<std::string>(), must_be_even(5))).error() == "odd");
  CHECK(run(handle(failure_to_expected<std::string>(),
                   value_or_fail(std::expected<int, std::string>(std::unexpect, "x"))))
            .error() == "x");
}
#endif

TEST_CASE("a computation that fails becomes a result with the error") {
  tests::every_frame_dies const here;
  either<int, std::string> good = run(handle(failure_to<either, std::string>(), half(4)));
  REQUIRE(good.has_value());
  CHECK(*std::move(good) == 2);
  either<int, std::string> bad = run(handle(failure_to<either, std::string>(), half(5)));
  REQUIRE_FALSE(bad.has_value());
  CHECK(std::move(bad).error() == "odd");
  CHECK(run(handle(failure_to<either, std::string>(), must_be_even(4))).has_value());
  CHECK(run(handle(failure_to<either, std::string>(), must_be_even(5))).error() == "odd");
}

either<int, std::string> parsed(bool is_number) {
  if (is_number) return either<int, std::string>(12);
  return either<int, std::string>(unexpected<std::string>("no number"));
}
eff<int, text_failure> half_of_parsed(bool is_number) {
  int const n = co_await value_or_fail(parsed(is_number));
  co_return co_await half(n);
}
eff<int, text_failure> after_void(bool is_right) {
  auto checked = is_right ? either<void, std::string>()
                          : either<void, std::string>(unexpected<std::string>("wrong"));
  co_await value_or_fail(std::move(checked));
  co_return 1;
}

TEST_CASE("a result with an error makes a computation fail with that error") {
  tests::every_frame_dies const here;
  CHECK(*run(handle(failure_to<either, std::string>(), half_of_parsed(true))) == 6);
  CHECK(run(handle(failure_to<either, std::string>(), half_of_parsed(false))).error() ==
        "no number");
  CHECK(*run(handle(failure_to<either, std::string>(), after_void(true))) == 1);
  CHECK(run(handle(failure_to<either, std::string>(), after_void(false))).error() == "wrong");
}
