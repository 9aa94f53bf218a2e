// SPDX-License-Identifier: MIT
#include "weft/sched/commands/unique_any.hpp"

#include "tests/prelude.hpp"

TEST_CASE("a unique_any returns its value, by its type") {
  unique_any p(7);
  CHECK(p);
  CHECK(p.holds<int>());
  CHECK_FALSE(p.holds<long>());
  CHECK(p.get<int>() == 7);
  p.get<int>() = 8;
  CHECK(p.take<int>() == 8);
  CHECK_FALSE(p);
  p = unique_any(std::string("a text that is too long to lie in three words"));
  CHECK(p.take<std::string>() == "a text that is too long to lie in three words");
  p = unique_any("a decayed one");
  CHECK(p.get<char const*>() == std::string("a decayed one"));
}

TEST_CASE("a unique_any takes a move-only value, and moves by itself") {
  static_assert(!std::is_copy_constructible_v<unique_any>);
  static_assert(std::is_nothrow_move_constructible_v<unique_any>);
  static_assert(std::is_nothrow_move_assignable_v<unique_any>);
  unique_any a(std::make_unique<int>(5));
  unique_any b(std::move(a));
  CHECK_FALSE(a);  // NOLINT
  unique_any c(1);
  c = std::move(b);
  auto& itself = c;
  c = std::move(itself);
  auto const five = c.take<std::unique_ptr<int>>();
  CHECK(*five == 5);
}

/// An object of at least Size bytes, whose constructions and destructions are counted.
template <std::size_t Size>
struct sized {
  explicit sized(int n) : tail{} { tail.front() = static_cast<unsigned char>(n); }
  tracked<moves::safely> counted{1};
  std::array<unsigned char, Size> tail;
};

TEST_CASE("a unique_any refuses access as another type, with both names, and keeps its value") {
  unique_any p(7);
  CHECK(text_of<bad_unique_any>([&] { (void)p.get<char>(); }) ==
        "weft: a unique_any was asked for char, and holds int");
  CHECK_THAT(text_of<bad_unique_any>([&] { (void)p.take<sized<1>>(); }),
             Contains("sized<1>, and holds int"));
  CHECK(p.take<int>() == 7);
  CHECK_THAT(text_of<bad_unique_any>([&] { (void)p.take<int>(); }),
             Contains("for int, and holds nothing"));
  CHECK_THAT(text_of<bad_unique_any>([] { (void)unique_any().get<int>(); }),
             Contains("holds nothing"));
}

TEMPLATE_TEST_CASE("a value in a unique_any is destroyed once, in any place", "", sized<1>,
                   sized<8>, sized<9>, sized<100>) {
  using counted = tracked<moves::safely>;
  long const births = counted::births;
  long const deaths = counted::deaths;
  {
    unique_any dropped(TestType(1));
    unique_any taken(TestType(2));
    unique_any moved = std::move(taken);
    unique_any over(TestType(3));
    over = std::move(moved);
    CHECK(over.get<TestType>().tail.front() == 2);
    unique_any replaced(TestType(4));
    replaced = unique_any();
    CHECK_FALSE(replaced);
    auto const value = over.take<TestType>();
    CHECK(value.tail.front() == 2);
  }
  CHECK(counted::births - births == counted::deaths - deaths);
  CHECK(counted::births != births);
}
