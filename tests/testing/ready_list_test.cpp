// SPDX-License-Identifier: MIT
#include "weft/testing/detail/ready_list.hpp"

#include "tests/prelude.hpp"

void insert(detail::ready_list& l, process_id id, std::uint64_t answer) {
  l.insert(l.place_of(id), id, numbered(answer));
}

TEST_CASE("a list of ready processes holds what a sorted vector holds") {
  every_frame_dies const they_do;
  seeds(30).for_each([](unsigned seed) {
    dice d(seed);
    detail::ready_list list;
    struct entry {
      process_id id;
      std::uint64_t answer;
    };
    std::vector<entry> model;
    for (std::uint64_t i = 0; i != 300; ++i) {
      // Grows at first, then shrinks.
      bool const grows = d(300) > i;
      if (grows || model.empty()) {
        auto const id = process_id().child(1 + d(40));
        insert(list, id, i);
        model.insert(std::ranges::upper_bound(model, id, {}, &entry::id), {id, i});
      } else {
        std::size_t const at = d(2) == 0 ? 0 : d(static_cast<unsigned>(model.size()));
        CHECK(list.take(at).answer() == model[at].answer);
        list.erase(at);
        model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
      }
      CHECK(list.size() == model.size());
      bool is_same = true;
      for (std::size_t k = 0; k != model.size(); ++k)
        is_same &= list[k].id == model[k].id && list[k].answer == model[k].answer && list[k].who;
      CHECK(is_same);
    }
  });
}

TEST_CASE("a list of ready processes that is moved or cleared drops no process twice") {
  int const before = dropped::count;
  {
    detail::ready_list list;
    for (std::uint64_t i = 1; i != 20; ++i) insert(list, process_id().child(i), i);
    detail::ready_list other = std::move(list);
    CHECK(list.empty());
    CHECK(other.size() == 19);
    other.clear();
    CHECK(dropped::count == before + 19);
    insert(other, process_id(), 7);
    CHECK(other[0].answer == 7);
    list = std::move(other);
    CHECK(list.take(0).answer() == 7);
  }
  CHECK(dropped::count == before + 20);
}
