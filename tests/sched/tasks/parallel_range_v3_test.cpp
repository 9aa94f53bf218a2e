// SPDX-License-Identifier: MIT
#include <range/v3/view/chunk.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/move.hpp>
#include <range/v3/view/reverse.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/zip.hpp>

#include "tests/prelude.hpp"
#include "weft/sched/tasks/parallel.hpp"
#include "weft/sched/tasks/when_all.hpp"
#include "weft/sched/tasks/when_any.hpp"

/// Tasks and loops over views of range-v3, which are ranges of std as well.

namespace views = ranges::views;
eff<int, pure> same(int n) { co_return n; }
bool odd(int n) { return n % 2 == 1; }

BACKENDS_TEST_CASE("views of range-v3 make tasks", "", on_one_thread, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  std::vector<int> of_sized;
  std::vector<int> of_unsized;
  std::vector<int> of_moved;
  std::pair<std::size_t, int> first;
  run_on(chosen, [&]() -> eff<void, pure> {
    of_sized = co_await when_all(views::iota(0, 5) | views::transform(same));
    of_unsized = co_await when_all(views::iota(0, 9) | views::filter(odd) | views::transform(same));
    std::vector<eff<int, pure>> some;
    for (int i = 0; i != 3; ++i) some.push_back(same(i));
    of_moved = co_await when_all(some | views::move);
    first = co_await when_any(views::iota(4, 5) | views::transform(same));
  });
  CHECK(of_sized == std::vector{0, 1, 2, 3, 4});
  CHECK(of_unsized == std::vector{1, 3, 5, 7});
  CHECK(of_moved == std::vector{0, 1, 2});
  CHECK(first == std::pair<std::size_t, int>(0, 4));
}

BACKENDS_TEST_CASE("parallel loops run over views of range-v3", "", on_one_thread, on_sharing<2>,
                   on_stealing<2>) {
  every_frame_dies const check;
  std::vector<int> v(500, 1);
  std::vector<int> w(500, 2);
  int sum = 0;
  int reversed = 0;
  run_on(chosen, [&]() -> eff<void, pure> {
    co_await parallel_for(views::zip(v, w), [](auto&& both) { both.first += both.second; });
    co_await parallel_for(w | views::chunk(7), [](auto&& piece) {
      for (int& x : piece) x = 0;
    });
    sum =
        co_await parallel_reduce(v | views::transform([](int x) { return x - 2; }), 0, std::plus());
    reversed = co_await parallel_reduce(
        views::iota(0, 5) | views::reverse, 0, [](int a, int b) { return b < 10 ? 10 * a + b : b; },
        std::identity(), grain{5});
  });
  CHECK(sum == 500);
  CHECK(reversed == 43210);
  CHECK(w == std::vector<int>(500, 0));
}
