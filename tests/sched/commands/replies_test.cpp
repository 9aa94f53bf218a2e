// SPDX-License-Identifier: MIT
#include "weft/sched/commands/replies.hpp"

#include "tests/prelude.hpp"
#include "tests/support/commands.hpp"
#include "weft/sched/commands/commands.hpp"

using program = eff<void, spawning<proc, commands<twice>>, proc, commands<twice>>;

/// A dispatcher that keeps each reply in `book`, and its tag in `tags`.
auto keeps_in(replies<int>& book, std::vector<std::uint64_t>& tags) {
  return [&](twice, reply<int> r) { tags.push_back(book.keep(std::move(r))); };
}

eff<void, commands<twice>> asks(std::reference_wrapper<std::string> to) {
  auto f = co_await issue(twice(1));
  to.get() = co_await outcome_of(std::move(f));
}

TEST_CASE("a reply is answered by its tag: the first answer gives true, later ones false") {
  every_frame_dies const check;
  replies<int> book;
  std::vector<std::uint64_t> tags;
  std::vector<bool> said;
  std::string got[3];
  schedule(
      {.forkable = false},
      [&]() -> program {
        for (auto& to : got) co_await spawn(asks, std::ref(to));
        while (tags.size() != 3) co_await proc::yield{};
        said.push_back(book.complete(77, 1));  // no reply has that tag
        said.push_back(book.complete(tags[1], 5));
        said.push_back(book.complete(tags[1], 6));
        said.push_back(
            book.fail(tags[0], std::make_exception_ptr(std::runtime_error("unplugged"))));
        said.push_back(book.fail(tags[0], std::make_exception_ptr(1)));
        said.push_back(book.complete(tags[2], 7));
      },
      dispatchers{keeps_in(book, tags)});
  CHECK(said == std::vector<bool>{false, true, false, true, false, true});
  CHECK(book.size() == 0);
  CHECK(got[0] == "unplugged");
  CHECK(got[1] == "5");
  CHECK(got[2] == "7");
}

TEST_CASE("replies that are left when their book is destroyed are dropped") {
  every_frame_dies const check;
  std::string got;
  auto book = std::make_unique<replies<int>>();
  std::vector<std::uint64_t> tags;
  schedule(
      {.forkable = false},
      [&]() -> program {
        co_await spawn(asks, std::ref(got));
        while (tags.empty()) co_await proc::yield{};
        CHECK(book->size() == 1);
        book.reset();
      },
      dispatchers{keeps_in(*book, tags)});
  CHECK_THAT(got, Contains("weft::tests::twice, tag 1, will not be answered"));
}

TEST_CASE("a tag that is already kept is refused, and the first reply stays") {
  every_frame_dies const check;
  replies<int> book;
  auto first = reply<int>::to<twice>(5);
  auto its = first.get_in_flight();
  book.keep(std::move(first));
  std::string refused;
  try {
    book.keep(reply<int>::to<twice>(5));
  } catch (std::logic_error const& e) {
    refused = e.what();
  }
  CHECK_THAT(refused, Contains("under tag 5 already"));
  CHECK_FALSE(its.is_ready());
  CHECK(book.complete(5, 1));
  CHECK(its.is_ready());
}

TEST_CASE("if the constructor of the answer throws, the reply is dropped") {
  every_frame_dies const check;
  struct odd {
    explicit odd(int n) : value(n) {
      if (n % 2 == 0) throw std::invalid_argument("even");
    }
    int value;
  };
  struct ask_odd : command<odd> {};
  replies<odd> book;
  auto r = reply<odd>::to<ask_odd>(1);
  auto its = r.get_in_flight();
  book.keep(std::move(r));
  CHECK_THROWS_AS(book.complete(1, 2), std::invalid_argument);
  CHECK(its.is_ready());
  CHECK_FALSE(book.complete(1, 3));
}

BACKENDS_TEST_CASE("threads that race to answer by tag answer each reply once", "", on_one_thread,
                   in_random_order, on_sharing<2>, on_stealing<2>) {
  constexpr int many = 40;
  for (int round = 0; round != rounds(100); ++round) {
    every_frame_dies const check;
    replies<int> book;
    counter answered = 0;
    counter asked = 0;
    counter right = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t != 2; ++t)
      threads.emplace_back([&] {
        // Tags are 1, 2, ...; both threads try each until it has been answered by one of them.
        for (std::uint64_t tag = 1; tag <= many;) {
          if (book.complete(tag, static_cast<int>(tag)))
            ++answered;
          else if (answered >= static_cast<int>(tag))
            ++tag;
          else
            std::this_thread::yield();
        }
      });
    run_on(
        chosen,
        [&]() -> program {
          for (int i = 0; i != many; ++i)
            co_await spawn(
                [](counter& n) -> eff<void, commands<twice>> {
                  auto f = co_await issue(twice(0));
                  int const answer = co_await f.wait();
                  n += static_cast<std::uint64_t>(answer) == f.tag();
                },
                std::ref(right));
        },
        thread_safe_dispatchers{[&](twice, reply<int> r) {
          ++asked;
          book.keep(std::move(r));
        }});
    for (auto& t : threads) t.join();
    if (answered != many || right != many || asked != many)
      FAIL("round " << round << ": " << answered << " answered, " << right << " right");
  }
}
