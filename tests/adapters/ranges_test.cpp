// SPDX-License-Identifier: MIT
#include "weft/adapters/ranges.hpp"

#include "tests/prelude.hpp"

TEST_CASE("the elements of a range are emitted in order, and one that is an lvalue is borrowed") {
  tests::every_frame_dies const here;
  std::vector<std::string> const words{"one", "two"};
  auto const said = run(handle(emit_to_vector<std::string>(), emit_all(words)));
  CHECK(said == words);
  auto const squares = std::views::iota(1, 4) | std::views::transform([](int n) { return n * n; });
  CHECK(run(handle(emit_to_vector<int>(), emit_all(squares))) == std::vector{1, 4, 9});
  CHECK(run(handle(emit_to_vector<int>(), emit_all(std::vector{7, 8}))) == std::vector{7, 8});
}

/// A move-only view, read once, whose elements are temporaries: what a std::generator is.
class countdown : public std::ranges::view_interface<countdown> {
 public:
  class iterator {
   public:
    using value_type = std::unique_ptr<int>;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::input_iterator_tag;

    explicit iterator(int* left) : left_(left) {}
    value_type operator*() const { return std::make_unique<int>(*left_); }
    iterator& operator++() {
      --*left_;
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(iterator const& i, std::default_sentinel_t) { return *i.left_ == 0; }

   private:
    int* left_;
  };

  countdown(int n, int& dead) : left_(std::make_unique<int>(n)), dead_(&dead) {}
  countdown(countdown&& other) noexcept
      : left_(std::move(other.left_)), dead_(std::exchange(other.dead_, nullptr)) {}
  countdown& operator=(countdown&& other) noexcept {
    std::swap(left_, other.left_);
    std::swap(dead_, other.dead_);
    return *this;
  }
  ~countdown() {
    if (dead_) ++*dead_;
  }
  iterator begin() { return iterator(left_.get()); }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::unique_ptr<int> left_;
  int* dead_;
};
static_assert(std::ranges::input_range<countdown> && !std::copyable<countdown>);

TEST_CASE("a range that is read once is owned, and its elements are moved") {
  tests::every_frame_dies const here;
  int dead = 0;
  auto const all =
      run(handle(emit_to_vector<std::unique_ptr<int>>(), emit_all(countdown(3, dead))));
  REQUIRE(all.size() == 3);
  CHECK(*all.front() == 3);
  CHECK(*all.back() == 1);
  CHECK(dead == 1);
}

TEST_CASE("a range as a computation is a range again, and is destroyed where it is left") {
  tests::every_frame_dies const here;
  int dead = 0;
  {
    auto const some = each([&dead] { return emit_all(countdown(9, dead)); });
    std::vector<int> first;
    for (auto const& p : some | std::views::take(2)) first.push_back(*p);
    CHECK(first == std::vector{9, 8});
    CHECK(dead == 0);
  }
  CHECK(dead == 1);
}
