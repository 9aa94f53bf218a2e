// SPDX-License-Identifier: MIT

/// Random trees of tasks, in scopes, with handles, waited for together or one of several, against a
/// sequential evaluation.

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstddef>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/dice.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/tasks.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/shielded.hpp"
#include "weft/sched/tasks/when_all.hpp"
#include "weft/sched/tasks/when_any.hpp"

using namespace weft;
using namespace weft::tests;

namespace {

enum class does {
  nothing,
  yields,
  fails,
  in_a_scope,
  with_handles,
  one_handle,
  together,
  any_alike
};

struct node {
  does what = does::nothing;
  int value = 0;
  bool catches = false;
  std::vector<node> children;
};

node random_node(dice& next, unsigned depth, bool may_fail) {
  node n;
  n.value = static_cast<int>(next(100));
  n.catches = next(2) == 0;
  if (depth == 0 || next(6) == 0) {
    unsigned const way = next(may_fail ? 5 : 4);
    n.what = way == 4 ? does::fails : way >= 2 ? does::yields : does::nothing;
    return n;
  }
  constexpr std::array ways = {does::in_a_scope, does::with_handles, does::one_handle,
                               does::together, does::any_alike};
  n.what = ways[next(ways.size())];
  // A child that when_any drops must not fail: otherwise the result would depend on which is first.
  bool const may = may_fail && n.what != does::any_alike;
  for (unsigned i = next(3) + 1; i != 0; --i)
    n.children.push_back(random_node(next, depth - 1, may));
  return n;
}

struct failed : std::runtime_error {
  failed() : std::runtime_error("failed") {}
};

/// The result of the tree.  Fails if a node fails that it depends on.
int model(node const& n) {
  int sum = n.value;
  try {
    if (n.what == does::fails) throw failed();
    if (n.what == does::any_alike) return sum + 1;
    for (auto const& c : n.children) sum += model(c);
  } catch (failed const&) {
    if (!n.catches) throw;
    return -1;
  }
  return sum;
}

/// Counts objects that must not outlive their scope.
struct leaf_count {
  counter alive = 0;
};

doing<int> done(node const& n, leaf_count& c);

doing<int> done_by_children(node const& n, leaf_count& c) {
  lives const here(c.alive);
  auto const& all = n.children;
  int sum = n.value;
  switch (n.what) {
    case does::nothing:
      break;
    case does::yields:
      co_await yields_often(n.value % 4);
      break;
    case does::fails:
      co_await yields_often(n.value % 3);
      throw failed();
    case does::in_a_scope: {
      std::vector<int> given(all.size());
      co_await with_scope([&](tasks_scope& s) -> job {
        for (std::size_t i = 0; i != all.size(); ++i)
          s.start([&, i]() -> job { given[i] = co_await done(all[i], c); });
        co_return;
      });
      for (int const g : given) sum += g;
      break;
    }
    case does::with_handles:
      sum += co_await with_scope([&](tasks_scope& s) -> doing<int> {
        std::vector<task_handle<int>> handles(all.size());
        for (std::size_t i = 0; i != all.size(); ++i)
          s.start(handles[i], done, std::cref(all[i]), std::ref(c));
        int of_them = 0;
        for (auto& h : handles) {
          int const g = co_await h;
          of_them += g;
        }
        co_return of_them;
      });
      break;
    case does::one_handle:
      sum += co_await with_scope([&](tasks_scope& s) -> doing<int> {
        task_handle<int> h;
        for (auto const& child : all) s.start(h, done, std::cref(child), std::ref(c));
        auto const given = co_await h.all();
        int of_them = 0;
        for (int const g : given) of_them += g;
        co_return of_them;
      });
      break;
    case does::together: {
      std::vector<doing<int>> tasks_;
      for (auto const& child : all) tasks_.push_back(done(child, c));
      auto const given = co_await when_all(std::move(tasks_));
      for (int const g : given) sum += g;
      break;
    }
    case does::any_alike: {
      // The sum is the same, whichever is the first.
      auto const one = [](node const& child, leaf_count& in) -> doing<int> {
        (void)co_await done(child, in);
        co_return 1;
      };
      auto const first = co_await when_any(one(all.front(), c), one(all.back(), c));
      sum += first.index() == 0 ? std::get<0>(first) : std::get<1>(first);
      break;
    }
  }
  co_return sum;
}
/// Whether all exceptions that were thrown together are `failed`.
bool is_only_failed(exceptions const& e) {
  return std::ranges::all_of(e.all, [](auto const& f) {
    try {
      std::rethrow_exception(f.error);
    } catch (failed const&) {
      return true;
    } catch (exceptions const& inner) {
      return is_only_failed(inner);
    } catch (...) {
      return false;
    }
  });
}
doing<int> done(node const& n, leaf_count& c) {
  bool has_failed = false;
  try {
    co_return co_await done_by_children(n, c);
  } catch (failed const&) {
    has_failed = true;
  } catch (exceptions const& e) {
    if (!is_only_failed(e)) throw;
    has_failed = true;
  }
  if (has_failed && !n.catches) throw failed();
  co_return -1;
}

std::string result_of(std::function<int()> const& f) {
  try {
    return std::to_string(f());
  } catch (failed const&) {
    return "failed";
  } catch (std::exception const& e) {
    return e.what();
  }
}

}  // namespace

TEST_CASE("a tree of tasks has the result of a sequential evaluation") {
  std::vector<place> places(places_for_tasks().begin(), places_for_tasks().end());
  places.push_back(place_of<on_stealing<3>>("stolen_by<3>"));
  int failed_ones = 0;
  for (auto const& where : places) {
    CAPTURE(where.name);
    for (unsigned seed = 1; seed != static_cast<unsigned>(rounds(400)) + 1; ++seed) {
      CAPTURE(seed);
      dice next(seed);
      auto const tree = random_node(next, 4, seed % 2 == 0);
      auto const expected = result_of([&] { return model(tree); });
      every_frame_dies const check;
      leaf_count c;
      int got = 0;
      auto const found = result_of([&] {
        where.run([&]() -> job { got = co_await done(tree, c); });
        return got;
      });
      REQUIRE(found == expected);
      REQUIRE(c.alive == 0);
      failed_ones += expected == "failed";
    }
  }
  CHECK(failed_ones > 0);
}
