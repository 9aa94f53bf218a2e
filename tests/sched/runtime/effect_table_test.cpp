// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/outer/effect_table.hpp"

#include <memory_resource>

#include "tests/prelude.hpp"
#include "weft/sched/base/detail/program.hpp"

using weft::detail::effect_table;
using weft::detail::identity_of;
using weft::detail::row_info;
using weft::detail::type_identity;

namespace weft::tests {
/// Effects with external linkage: they are the same in each module.
template <int N>
struct nth {};
}  // namespace weft::tests

namespace {

/// A row, as a module describes it.
template <class... Es>
constexpr row_info const& row_of = weft::detail::row_info_of<row<Es...>>::value;

/// The evidence of an effect.
struct evidence_pair {
  char plain;
  char recorded;
};
std::array<evidence_pair, 16> all_evidence;

template <int N>
void* plain() {
  return &all_evidence[N].plain;
}
template <int N>
void* recorded() {
  return &all_evidence[N].recorded;
}

template <int... Ns>
void learn(effect_table& t) {
  t.expect(sizeof...(Ns));
  (t.learn({&identity_of<nth<Ns>>, plain<Ns>(), recorded<Ns>()}), ...);
}
/// The evidence for a row of several effects.
std::vector<void*> elements(void* evidence, std::size_t n) {
  auto** const first = static_cast<void**>(evidence);
  return std::vector<void*>(first, first + n);
}

/// The memory of tables that are made while it lives: it counts, and fails on demand.
class memory final : public std::pmr::memory_resource {
 public:
  memory() noexcept : before_(std::pmr::set_default_resource(this)) {}
  memory(memory const&) = delete;
  memory& operator=(memory const&) = delete;
  ~memory() {
    std::pmr::set_default_resource(before_);
    CHECK(blocks == 0);
  }
  int blocks = 0;
  bool fails = false;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (fails) throw std::bad_alloc();
    ++blocks;
    return before_->allocate(bytes, alignment);
  }
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override {
    --blocks;
    before_->deallocate(p, bytes, alignment);
  }
  [[nodiscard]] bool do_is_equal(memory_resource const& other) const noexcept override {
    return this == &other;
  }

  std::pmr::memory_resource* before_;
};

}  // namespace

TEST_CASE("a table knows the effects that it has learnt, and no others") {
  effect_table t;
  CHECK_FALSE(t.knows(identity_of<nth<0>>));
  learn<0, 2>(t);
  CHECK(t.knows(identity_of<nth<0>>));
  CHECK_FALSE(t.knows(identity_of<nth<1>>));
  CHECK(t.knows(identity_of<nth<2>>));
}

TEST_CASE("the evidence for an empty row is null") {
  effect_table t;
  learn<0>(t);
  CHECK(t.look_up(row_of<>, false) == nullptr);
  CHECK(t.look_up(row_of<>, true) == nullptr);
  CHECK(t.look_up_outside(row_of<>) == nullptr);
}

TEST_CASE("the evidence for a row of one effect is that of the effect") {
  effect_table t;
  learn<0, 1>(t);
  CHECK(t.look_up(row_of<nth<1>>, false) == plain<1>());
  CHECK(t.look_up(row_of<nth<1>>, true) == recorded<1>());
  CHECK(t.look_up(row_of<nth<0>>, false) == plain<0>());
  CHECK(t.look_up_outside(row_of<nth<1>>) == plain<1>());
}

TEST_CASE("the evidence for a longer row is an array in the order of the row") {
  effect_table t;
  learn<0, 1, 2>(t);
  CHECK(elements(t.look_up(row_of<nth<2>, nth<0>>, false), 2) ==
        std::vector{plain<2>(), plain<0>()});
  CHECK(elements(t.look_up(row_of<nth<2>, nth<0>>, true), 2) ==
        std::vector{recorded<2>(), recorded<0>()});
  CHECK(elements(t.look_up(row_of<nth<0>, nth<1>, nth<2>>, true), 3) ==
        std::vector{recorded<0>(), recorded<1>(), recorded<2>()});
  CHECK(elements(t.look_up_outside(row_of<nth<2>, nth<0>>), 2) ==
        std::vector{plain<2>(), plain<0>()});
}

TEST_CASE("a row is put together once for processes with a log, and once for others") {
  effect_table t;
  learn<0, 1, 2>(t);
  auto const& row = row_of<nth<0>, nth<1>>;
  void* const without = t.look_up(row, false);
  void* const with = t.look_up(row, true);
  CHECK(without != with);
  void* const other = t.look_up(row_of<nth<1>, nth<2>>, false);
  CHECK(other != without);
  // The same again, and from outside.
  CHECK(t.look_up(row, false) == without);
  CHECK(t.look_up(row, true) == with);
  CHECK(t.look_up_outside(row) == without);
  CHECK(t.look_up_outside(row) == without);
  CHECK(t.look_up_outside(row_of<nth<1>, nth<2>>) == other);
  CHECK(t.look_up_outside(row) == without);
  // Arrays that were given stay as they are.
  CHECK(elements(without, 2) == std::vector{plain<0>(), plain<1>()});
  CHECK(elements(with, 2) == std::vector{recorded<0>(), recorded<1>()});
}

TEST_CASE("the row of a thread outside is never that of processes with a log") {
  effect_table t;
  learn<0, 1>(t);
  auto const& row = row_of<nth<0>, nth<1>>;
  void* const with = t.look_up(row, true);
  CHECK(t.look_up_outside(row) != with);
  CHECK(elements(t.look_up_outside(row), 2) == std::vector{plain<0>(), plain<1>()});
}

TEST_CASE("an effect that another module describes is the same effect") {
  type_identity const elsewhere(identity_of<nth<1>>.name, &typeid(nth<1>));
  type_identity const unknown(identity_of<nth<7>>.name, &typeid(nth<7>));
  effect_table t;
  learn<0, 1>(t);
  CHECK(t.knows(elsewhere));
  CHECK_FALSE(t.knows(unknown));
  std::array<type_identity const*, 2> const effects{&elsewhere, &identity_of<nth<0>>};
  CHECK(t.look_up({1, effects.data(), true}, false) == plain<1>());
  row_info const row{2, effects.data(), true};
  CHECK(elements(t.look_up(row, false), 2) == std::vector{plain<1>(), plain<0>()});
}

TEST_CASE("an effect that this module describes comes before an equal one of another module") {
  type_identity const elsewhere(identity_of<nth<0>>.name, &typeid(nth<0>));
  effect_table t;
  t.expect(2);
  t.learn({&elsewhere, plain<1>(), recorded<1>()});
  t.learn({&identity_of<nth<0>>, plain<0>(), recorded<0>()});
  CHECK(t.look_up(row_of<nth<0>>, false) == plain<0>());
}

// ---- memory

TEST_CASE("a table of a small program allocates nothing") {
  memory counted;
  effect_table t;
  learn<0, 1, 2, 3>(t);
  CHECK(t.look_up(row_of<nth<0>, nth<1>>, false) != nullptr);
  CHECK(t.look_up(row_of<nth<0>, nth<1>, nth<2>, nth<3>>, false) != nullptr);
  CHECK(counted.blocks == 0);
}

TEST_CASE("a table of a larger program allocates, and frees what it has allocated") {
  memory counted;
  effect_table t;
  learn<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>(t);
  CHECK(counted.blocks > 0);
  (void)t.memory()->allocate(1'000);
  for (bool const log : {false, true})
    CHECK(t.look_up(row_of<nth<0>, nth<15>>, log) != t.look_up(row_of<nth<1>, nth<2>>, log));
  CHECK(t.look_up(row_of<nth<15>>, false) == plain<15>());
}

TEST_CASE("a row for which there is no memory throws, and can be looked up when there is some") {
  memory counted;
  effect_table t;
  learn<0, 1, 2>(t);
  auto const& known = row_of<nth<0>, nth<1>>;
  void* const before = t.look_up(known, false);
  // The rest of the table's own room goes to another user of its memory.
  counted.fails = true;
  auto const fill = [&t] {
    for (;;) (void)t.memory()->allocate(1, 1);
  };
  CHECK_THROWS_AS(fill(), std::bad_alloc);
  auto const& row = row_of<nth<1>, nth<2>>;
  CHECK_THROWS_AS(t.look_up(row, false), std::bad_alloc);
  CHECK_THROWS_AS(t.look_up_outside(row), std::bad_alloc);
  // Nothing is needed for known rows, and short ones.
  CHECK(t.look_up(known, false) == before);
  CHECK(t.look_up_outside(known) == before);
  CHECK(t.look_up(row_of<nth<2>>, true) == recorded<2>());
  counted.fails = false;
  CHECK(elements(t.look_up(row, false), 2) == std::vector{plain<1>(), plain<2>()});
  CHECK(t.look_up_outside(row) == t.look_up(row, false));
}

// ---- threads

TEST_CASE("several threads that look up the same rows get the same arrays") {
  constexpr std::size_t threads = 3;
  for (int round = 0; round != rounds(500); ++round) {
    effect_table t;
    learn<0, 1, 2>(t);
    std::array<row_info const*, 4> const rows{
        &row_of<nth<0>, nth<1>>,
        &row_of<nth<1>, nth<2>>,
        &row_of<nth<2>, nth<0>>,
        &row_of<nth<0>, nth<1>, nth<2>>,
    };
    std::array<std::array<void*, 8>, threads> found{};
    counter come = 0, wrong = 0;
    std::vector<std::thread> all;
    for (std::size_t i = 0; i != threads; ++i)
      all.emplace_back([&, i] {
        ++come;
        until([&] { return come == threads; });
        for (std::size_t n = 0; n != 16; ++n) {
          std::size_t const r = (n + i) % 4;
          void* const outside = t.look_up_outside(*rows[r]);
          found[i][r] = outside;
          found[i][4 + r] = t.look_up(*rows[r], true);
          // What the array holds was written before it was given.
          for (std::size_t e = 0; e != rows[r]->size; ++e)
            if (static_cast<void**>(outside)[e] !=
                t.look_up({1, rows[r]->effects + e, true}, false))
              ++wrong;
          if (t.look_up(*rows[r], false) != outside) ++wrong;
        }
      });
    for (auto& thread : all) thread.join();
    CHECK(wrong == 0);
    for (std::size_t i = 1; i != threads; ++i) CHECK(found[i] == found[0]);
  }
}
