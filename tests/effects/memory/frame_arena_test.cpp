// SPDX-License-Identifier: MIT
#include "weft/effects/memory/frame_arena.hpp"

#include "tests/prelude.hpp"
#include "weft/effects/memory/arena_table.hpp"

/// The memory of a body that is copied as a whole: an arena by itself, beside a model, and in the
/// pool.

using weft::detail::arena_table;
using weft::detail::frame_arena;
using weft::detail::frame_pool;

TEST_CASE("a destroyed arena leaves the table of pages and the list of arenas") {
  arena_table table;
  frame_arena* first = nullptr;
  auto a = std::make_unique<frame_arena>(table, first);
  auto b = std::make_unique<frame_arena>(table, first);
  auto c = std::make_unique<frame_arena>(table, first);
  void* const of_a = a->take(100);
  void* const of_b = b->take(100'000);
  void* const of_c = c->take(100);
  CHECK(table.find(of_a) == a.get());
  CHECK(table.find(static_cast<std::byte*>(of_b) + 99'999) == b.get());
  CHECK(table.find(of_c) == c.get());
  CHECK_FALSE(a->contains(of_b));
  b->give(of_b);
  b.reset();
  CHECK(table.find(of_b) == nullptr);
  std::set<frame_arena const*> listed;
  for (frame_arena const* at = first; at; at = at->next()) listed.insert(at);
  CHECK(listed == std::set<frame_arena const*>{a.get(), c.get()});
  c.reset();
  CHECK(first == a.get());
  CHECK(table.find(of_c) == nullptr);
  CHECK(table.find(of_a) == a.get());
}

/// An arena, and the objects that it refers to.
struct place {
  arena_table table;
  frame_arena* first = nullptr;
  frame_arena arena{table, first};

  void* take(std::size_t bytes, int content) {
    void* const block = arena.take(bytes);
    std::memset(block, content, bytes);
    return block;
  }
};

[[nodiscard]] bool holds(void const* block, std::size_t bytes, int content) {
  auto const* const at = static_cast<unsigned char const*>(block);
  return std::all_of(at, at + bytes, [content](unsigned char c) { return c == content; });
}
[[nodiscard]] std::uint32_t number_of(void* block) { return frame_arena::header_of(block).number; }

/// The expected content of an arena: its blocks in the order of creation.  Dead blocks stay until
/// they are at the top.
struct block {
  void* at;
  std::size_t bytes;
  int content;
  bool alive;
  bool was_marked;
};

// ---- an arena by itself

TEST_CASE("blocks are aligned, do not overlap, and are numbered in the order of their creation") {
  place p;
  std::vector<void*> blocks;
  for (std::size_t i = 0; i != 200; ++i) blocks.push_back(p.take(1 + 13 * i, static_cast<int>(i)));
  CHECK(p.arena.alive() == 200);
  for (std::size_t i = 0; i != 200; ++i) {
    CHECK(reinterpret_cast<std::uintptr_t>(blocks[i]) % 16 == 0);
    CHECK(holds(blocks[i], 1 + 13 * i, static_cast<int>(i)));
    CHECK(number_of(blocks[i]) == i);
    CHECK(p.arena.contains(blocks[i]));
    CHECK(p.table.find(blocks[i]) == &p.arena);
  }
  CHECK(p.arena.is_near(blocks.back()));
  CHECK_FALSE(p.arena.is_near(blocks.front()));  // in another chunk
}

TEST_CASE("freeing the top block also frees the free blocks directly below it") {
  place p;
  void* const bottom = p.take(40, 1);
  void* const middle = p.take(40, 2);
  void* const top = p.take(40, 3);
  p.arena.give(middle);
  CHECK(p.arena.alive() == 2);
  CHECK(p.take(40, 4) != middle);  // still below the top
  void* const above = p.take(40, 5);
  CHECK(number_of(above) == 4);
  p.arena.give(above);
  p.arena.give(top);
  CHECK(p.arena.take(40) == above);
  CHECK(holds(bottom, 40, 1));
}

TEST_CASE("an arena reuses its memory, also across its chunks") {
  place p;
  std::set<void*> seen;
  for (int round = 0; round != 20; ++round) {
    std::vector<void*> blocks;
    for (int i = 0; i != 300; ++i) blocks.push_back(p.take(100, i));
    seen.insert(blocks.begin(), blocks.end());
    if (round % 2 == 0) std::reverse(blocks.begin(), blocks.end());
    for (void* const b : blocks) p.arena.give(b);
    CHECK(p.arena.alive() == 0);
  }
  CHECK(seen.size() < 2 * 300);  // without the first chunks, since a block below was free
  CHECK(p.arena.deaths() == 20 * 300);
}

TEST_CASE("an arena is as it was marked up to the first block that was freed or added since") {
  place p;
  std::vector<void*> blocks;
  for (int i = 0; i != 10; ++i) blocks.push_back(p.take(64, i));
  CHECK_FALSE(p.arena.is_as_marked(0));  // not marked yet
  p.arena.mark();
  CHECK(p.arena.is_as_marked(9));
  CHECK_FALSE(p.arena.is_as_marked(10));
  p.arena.give(p.take(64, 10));
  void* const new_one = p.take(64, 11);
  CHECK_FALSE(p.arena.is_as_marked(10));
  CHECK(p.arena.is_as_marked(9));

  SECTION("the mark is forgotten") {
    p.arena.forget_mark();
    CHECK_FALSE(p.arena.is_as_marked(0));
  }
  SECTION("the top block is freed, and one is added") {
    p.arena.give(new_one);
    p.arena.give(blocks[9]);
    CHECK(p.arena.is_as_marked(8));
    CHECK(p.arena.take(64) == blocks[9]);
    CHECK(p.arena.is_as_marked(8));
    CHECK_FALSE(p.arena.is_as_marked(9));
  }
  SECTION("a block in the middle is freed; the blocks below then count as changed") {
    p.arena.give(blocks[5]);
    CHECK_FALSE(p.arena.is_as_marked(5));
    CHECK_FALSE(p.arena.is_as_marked(9));
  }
  SECTION("all blocks are cleared at once") {
    p.arena.clear();
    CHECK_FALSE(p.arena.is_as_marked(0));
    p.arena.take(64);
    CHECK_FALSE(p.arena.is_as_marked(0));
  }
}

TEST_CASE("a block in the current chunk is freed the short way unless there is more to do") {
  place p;
  void* const bottom = p.arena.take(64);
  void* const third = p.arena.take(64);
  void* const second = p.arena.take(64);
  void* const top = p.arena.take(64);
  int elsewhere[16]{};
  p.arena.mark();
  CHECK_FALSE(p.arena.try_give(&elsewhere[8]));
  CHECK(p.arena.alive() == 4);
  CHECK(p.arena.try_give(second));
  CHECK(p.arena.alive() == 3);
  CHECK_FALSE(p.arena.is_as_marked(0));  // while a block is dead
  CHECK(p.arena.try_give(top));          // the dead block below it goes, too
  CHECK(p.arena.alive() == 2);
  CHECK(p.arena.is_as_marked(1));
  CHECK_FALSE(p.arena.is_as_marked(2));
  CHECK(p.arena.take(64) == second);

  p.arena.abandon();
  CHECK(p.arena.try_give(second));
  CHECK(p.arena.try_give(bottom));
  CHECK_FALSE(p.arena.try_give(third));  // then the arena may be deleted
  p.arena.give(third);
  CHECK(p.arena.may_be_deleted());
}

TEST_CASE("the only block of a later chunk is not freed the short way") {
  place p;
  void* const below = p.arena.take(3000);
  void* const dead = p.arena.take(3000);
  void* const top = p.arena.take(64);
  REQUIRE(p.arena.is_near(top));
  REQUIRE_FALSE(p.arena.is_near(below));
  CHECK_FALSE(p.arena.try_give(below));
  CHECK(p.arena.try_give(dead));
  CHECK_FALSE(p.arena.try_give(top));  // the first chunk becomes the current one
  p.arena.give(top);
  CHECK(p.arena.is_near(below));
  CHECK(p.arena.alive() == 1);
  CHECK(p.arena.try_give(below));
  CHECK(p.arena.alive() == 0);
}

TEST_CASE("a block that is taken when all blocks are free is new, whatever was marked") {
  place p;
  void* const bottom = p.arena.take(64);
  void* const top = p.arena.take(64);
  p.arena.give(bottom);
  p.arena.mark();
  p.arena.give(top);
  p.arena.take(64);
  CHECK_FALSE(p.arena.is_as_marked(0));
}

TEST_CASE("a saved image is restored to the same addresses, over several chunks") {
  place p;
  constexpr std::size_t n = 400;
  std::vector<void*> blocks;
  for (std::size_t i = 0; i != n; ++i) blocks.push_back(p.take(200, static_cast<int>(i % 251)));
  frame_arena::image half_way;
  CHECK_FALSE(half_way.is_there());
  p.arena.save(half_way);
  CHECK(half_way.is_there());
  for (std::size_t i = n; i != 2 * n; ++i) blocks.push_back(p.take(200, static_cast<int>(i % 251)));
  frame_arena::image whole;
  p.arena.save(whole);

  auto const check = [&](std::size_t alive) {
    REQUIRE(p.arena.alive() == alive);
    for (std::size_t i = 0; i != alive; ++i)
      REQUIRE(holds(blocks[i], 200, static_cast<int>(i % 251)));
    CHECK(p.arena.contains(blocks[alive - 1]));
    CHECK(p.arena.is_near(blocks[alive - 1]));
  };
  for (int round = 0; round != 3; ++round) {
    p.arena.clear();
    CHECK(p.arena.alive() == 0);
    for (int i = 0; i != 1000; ++i) p.take(3000, 255);  // in many more chunks
    p.arena.clear();
    p.arena.restore(half_way);
    check(n);
    p.arena.clear();
    p.arena.restore(whole);
    check(2 * n);
    for (std::size_t i = 2 * n; i != n; --i) p.arena.give(blocks[i - 1]);
    check(n);
    p.arena.clear();
    p.arena.restore(whole);  // for the next round to clear
  }
  half_way.clear();
  CHECK_FALSE(half_way.is_there());
}

TEST_CASE("a block that does not fit in the next chunk lies in a later one") {
  place p;
  for (int i = 0; i != 60; ++i) p.take(1000, i);  // chunks of 4, 8, 16, 32 KB
  p.arena.clear();
  void* const small = p.take(1000, 1);
  void* const large = p.take(20'000, 2);
  void* const after = p.take(1000, 3);
  frame_arena::image all;
  p.arena.save(all);
  p.arena.clear();
  for (int i = 0; i != 60; ++i) p.take(1000, 9);
  p.arena.clear();
  p.arena.restore(all);
  CHECK(holds(small, 1000, 1));
  CHECK(holds(large, 20'000, 2));
  CHECK(holds(after, 1000, 3));
  for (void* const b : {after, large}) p.arena.give(b);
  CHECK(p.arena.is_near(small));
  void* const again = p.arena.take(1000);
  CHECK(p.arena.contains(again));
  CHECK(holds(small, 1000, 1));
}

TEST_CASE("an abandoned arena may be deleted when no block in it is alive") {
  place p;
  void* const one = p.arena.take(10);
  p.arena.abandon();
  CHECK_FALSE(p.arena.may_be_deleted());
  p.arena.give(one);
  CHECK(p.arena.may_be_deleted());
}

// ---- an arena beside its model

class model {
 public:
  void add(block const& b) { blocks_.push_back(b); }
  void kill(std::size_t i) {
    blocks_[i].alive = false;
    while (!blocks_.empty() && !blocks_.back().alive) blocks_.pop_back();
  }
  void mark(bool now) {
    for (block& b : blocks_) b.was_marked = now && b.alive;
  }
  void forget() { *this = model(); }
  [[nodiscard]] bool has_dead_blocks() const { return alive() != blocks_.size(); }
  [[nodiscard]] std::vector<block> const& blocks() const { return blocks_; }
  [[nodiscard]] std::size_t alive() const {
    return static_cast<std::size_t>(std::ranges::count(blocks_, true, &block::alive));
  }
  /// The number of blocks, from the bottom, that are as they were marked.
  [[nodiscard]] std::size_t as_marked() const {
    auto const changed =
        std::ranges::find_if(blocks_, [](block const& b) { return !b.alive || !b.was_marked; });
    return static_cast<std::size_t>(changed - blocks_.begin());
  }

 private:
  std::vector<block> blocks_;
};

class arena_and_model {
 public:
  explicit arena_and_model(unsigned seed) : random_(seed), large_(seed % 3 == 0) {}
  void step() {
    unsigned const what = random_(100);
    if (what < 45) {
      take();
    } else if (what < 75) {
      give_top();
    } else if (what < 82) {
      give_any();
    } else if (what < 88) {
      p_.arena.mark();
      model_.mark(true);
    } else if (what < 89) {
      p_.arena.forget_mark();
      model_.mark(false);
    } else if (what < 95) {
      save();
    } else if (what < 99) {
      put_back();
    } else {
      clear();
    }
    look();
  }

 private:
  struct saved {
    frame_arena::image image;
    model was;
  };

  void take() {
    for (unsigned left = 1 + random_(6); left != 0; --left) {
      std::size_t const bytes = random_(large_ ? 3000 : 200) + 1;
      int const content = static_cast<int>(random_(256));
      model_.add({p_.take(bytes, content), bytes, content, true, false});
    }
  }
  void give(std::size_t i) {
    void* const block = model_.blocks()[i].at;
    if (random_(2) == 0 || !p_.arena.try_give(block)) p_.arena.give(block);
    ++deaths_;
    model_.kill(i);
  }
  void give_top() {
    for (unsigned left = 1 + random_(6); left != 0 && !model_.blocks().empty(); --left)
      give(model_.blocks().size() - 1);
  }
  void give_any() {
    if (model_.blocks().empty()) return;
    std::size_t const i = random_(static_cast<unsigned>(model_.blocks().size()));
    if (model_.blocks()[i].alive) give(i);
  }
  void save() {
    if (model_.blocks().empty()) return;
    saved& s = images_[random_(3)];
    p_.arena.save(s.image);
    s.was = model_;
    s.was.mark(false);
  }
  void put_back() {
    saved const& s = images_[random_(3)];
    if (!s.image.is_there()) return;
    clear();
    p_.arena.restore(s.image);
    model_ = s.was;
  }
  void clear() {
    deaths_ += model_.alive();
    p_.arena.clear();
    model_.forget();
  }
  void look() {
    REQUIRE(p_.arena.alive() == model_.alive());
    REQUIRE(static_cast<std::size_t>(p_.arena.deaths()) == deaths_);
    std::size_t number = 0;
    for (block const& b : model_.blocks()) {
      if (b.alive) {
        REQUIRE(holds(b.at, b.bytes, b.content));
        REQUIRE(p_.arena.contains(b.at));
        REQUIRE(p_.table.find(b.at) == &p_.arena);
        REQUIRE(number_of(b.at) == number);
      }
      ++number;
    }
    std::size_t const as_marked = model_.as_marked();
    for (std::uint32_t i = 0; i != number + 1; ++i) {
      if (p_.arena.is_as_marked(i)) REQUIRE(i < as_marked);
      if (!model_.has_dead_blocks() && i < as_marked) REQUIRE(p_.arena.is_as_marked(i));
    }
  }

  dice random_;
  bool large_;
  place p_;
  model model_;
  std::size_t deaths_ = 0;
  saved images_[3];
};

TEST_CASE("an arena with random operations has the content of its model") {
  seeds(100).for_each([](unsigned seed) {
    CAPTURE(seed);
    arena_and_model both(seed);
    for (int i = 0; i != 300; ++i) both.step();
  });
}

// ---- the table of pages

void const* page_at(std::uintptr_t number) {
  return reinterpret_cast<void const*>(number * arena_table::page);
}

/// The arena of the running body, which a prompt gives to the pool.
thread_local frame_arena* here = nullptr;

/// Sets `here` for its lifetime.
class inside {
 public:
  explicit inside(frame_arena* a) : before_(std::exchange(here, a)) {}
  inside(inside const&) = delete;
  inside& operator=(inside const&) = delete;
  ~inside() { here = before_; }

 private:
  frame_arena* before_;
};

TEST_CASE("a table with random operations finds what a map finds") {
  seeds(200).for_each([](unsigned seed) {
    CAPTURE(seed);
    dice random(seed);
    unsigned const pages = seed % 2 == 0 ? 10 : 1000;  // a table that stays small, or that grows
    unsigned const most = seed % 2 == 0 ? 2 : 20;      // at a time
    place somewhere[3];
    arena_table table;
    std::map<std::uintptr_t, frame_arena*> model;
    auto const page = [&](unsigned i) { return (std::uintptr_t{0x7f0000} << seed % 12) + i; };
    for (int step = 0; step != 600; ++step) {
      unsigned const at = random(pages);
      unsigned const n = 1 + random(most);
      auto const present = [&](unsigned i) { return model.contains(page(at + i)); };
      if (random(2) == 0) {
        bool is_free = true;
        for (unsigned i = 0; i != n; ++i) is_free &= !present(i);
        if (!is_free) continue;
        frame_arena& a = somewhere[random(3)].arena;
        table.add(page_at(page(at)), n * arena_table::page, a);
        for (unsigned i = 0; i != n; ++i) model[page(at + i)] = &a;
      } else {
        bool is_taken = true;
        for (unsigned i = 0; i != n; ++i) is_taken &= present(i);
        if (!is_taken) continue;
        table.remove(page_at(page(at)), n * arena_table::page);
        for (unsigned i = 0; i != n; ++i) model.erase(page(at + i));
      }
      for (int look = 0; look != 30; ++look) {
        std::uintptr_t const p = page(random(pages + most));
        auto const found = model.find(p);
        auto const* const inside = static_cast<std::byte const*>(page_at(p)) + random(4096);
        REQUIRE(table.find(inside) == (found == model.end() ? nullptr : found->second));
      }
    }
  });
}

TEST_CASE("a table that was filled and emptied finds nothing") {
  place somewhere;
  arena_table table;
  for (std::uintptr_t i = 1; i != 5000; ++i)
    table.add(page_at(7 * i), arena_table::page, somewhere.arena);
  for (std::uintptr_t i = 1; i != 5000; ++i) {
    REQUIRE(table.find(page_at(7 * i)) == &somewhere.arena);
    REQUIRE(table.find(page_at(7 * i + 1)) == nullptr);
  }
  for (std::uintptr_t i = 1; i != 5000; ++i) table.remove(page_at(7 * i), arena_table::page);
  for (std::uintptr_t i = 1; i != 5000; ++i) REQUIRE(table.find(page_at(7 * i)) == nullptr);
}

// ---- arenas in the pool

using weft::detail::block_owner;
using weft::detail::frame_count;
using weft::detail::frames;
using weft::detail::frames_so_far;
frame_arena* arena_here() noexcept { return here; }

TEST_CASE("blocks of a body are taken from its arena, other blocks are not, and all are counted") {
  every_frame_dies const check;
  auto const bytes = GENERATE(as<std::size_t>(), 8, 100, 1008, 1024, 4096, 5000);
  frame_count const before = frames_so_far();
  frame_arena& a = frames.make_arena(arena_here);
  CHECK(frames.has_arenas());
  {
    inside const body(&a);
    void* const mine = frames.take<block_owner::body>(bytes);
    void* const other = frames.take(bytes);
    CHECK(a.contains(mine));
    CHECK_FALSE(a.contains(other));
    CHECK(frames_so_far().births == before.births + 2);
    inside const nobodys(nullptr);
    void* const outside = frames.take<block_owner::body>(bytes);
    CHECK_FALSE(a.contains(outside));
    CHECK(frames_so_far().births == before.births + 3);
    CHECK(frames_so_far().deaths == before.deaths);
    for (void* const p : {mine, outside, other}) frames.give(p, bytes);
  }
  CHECK(frames_so_far().births == before.births + 3);
  CHECK(frames_so_far().deaths == before.deaths + 3);
  frames.abandon(a);
  CHECK_FALSE(frames.has_arenas());
  CHECK(frames_so_far().births == before.births + 3);
  CHECK(frames_so_far().deaths == before.deaths + 3);
}

TEST_CASE("blocks may be older than an arena, and younger ones may outlive it") {
  every_frame_dies const check;
  auto const bytes = GENERATE(as<std::size_t>(), 48, 700, 3000);
  std::vector<void*> older;
  for (int i = 0; i != 1000; ++i) older.push_back(frames.take(bytes));
  std::vector<void*> younger;
  frame_arena& a = frames.make_arena(arena_here);
  {
    inside const body(&a);
    for (int i = 0; i != 500; ++i) {
      void* const own = frames.take<block_owner::body>(bytes);
      younger.push_back(frames.take(bytes));
      frames.give(older.back(), bytes);
      older.pop_back();
      frames.give(own, bytes);
    }
  }
  frames.abandon(a);
  for (auto* const list : {&older, &younger})
    for (void* const p : *list) frames.give(p, bytes);
}

TEST_CASE("the pool keeps its free blocks while there are arenas, and gives them out again") {
  if constexpr (weft::detail::pooling) {
    void* const one = frames.take(336);
    void* const two = frames.take(336);
    frames.give(two, 336);
    frame_arena& a = frames.make_arena(arena_here);
    void* const again = frames.take(336);
    CHECK(again == two);
    frames.give(one, 336);
    frames.give(again, 336);
    frames.abandon(a);
    void* const last = frames.take(336);
    CHECK(last == two);
    frames.give(last, 336);
  }
}

TEST_CASE("an abandoned arena is deleted with its last block") {
  every_frame_dies const check;
  frame_arena& a = frames.make_arena(arena_here);
  void* one = nullptr;
  void* two = nullptr;
  {
    inside const body(&a);
    one = frames.take<block_owner::body>(100);
    two = frames.take<block_owner::body>(2000);
  }
  frames.abandon(a);
  CHECK(frames.has_arenas());
  frames.give(one, 100);
  CHECK(frames.has_arenas());
  frames.give(two, 2000);
  CHECK_FALSE(frames.has_arenas());
}

TEST_CASE("blocks of several arenas are returned to their own arena, in any order") {
  every_frame_dies const check;
  unsigned const seed = GENERATE(range(1u, 11u));
  CAPTURE(seed);
  dice random(seed);
  frame_count const before = frames_so_far();
  std::int64_t births = 0;
  struct known {
    void* at;
    std::size_t bytes;
    frame_arena* home;
  };
  std::vector<known> live;
  std::vector<frame_arena*> arenas;
  for (int step = 0; step != 2000; ++step) {
    unsigned const what = random(20);
    if (what == 0 && arenas.size() < 5) {
      arenas.push_back(&frames.make_arena(arena_here));
    } else if (what == 1 && !arenas.empty()) {
      std::swap(arenas[random(static_cast<unsigned>(arenas.size()))], arenas.back());
      frames.abandon(*arenas.back());
      arenas.pop_back();
    } else if (what < 12) {
      unsigned const which = random(static_cast<unsigned>(arenas.size()) + 1);
      frame_arena* const a = which == arenas.size() ? nullptr : arenas[which];
      std::size_t const bytes = 1 + random(1500);
      inside const body(a);
      bool const owns = random(2) == 0;
      void* const at = owns ? frames.take<block_owner::body_owning>(bytes)
                            : frames.take<block_owner::body>(bytes);
      ++births;
      REQUIRE((!a || a->contains(at)));
      if (a) REQUIRE(frame_arena::header_of(at).owns == owns);
      live.push_back({at, bytes, a});
    } else if (!live.empty()) {
      std::size_t const i =
          random(3) == 0 ? random(static_cast<unsigned>(live.size())) : live.size() - 1;
      frames.give(live[i].at, live[i].bytes);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(i));
    }
    REQUIRE(frames_so_far().births == before.births + births);
    REQUIRE(frames_so_far().alive() == before.alive() + static_cast<std::int64_t>(live.size()));
  }
  while (!arenas.empty()) {
    frames.abandon(*arenas.back());
    arenas.pop_back();
  }
  for (known const& k : live) frames.give(k.at, k.bytes);
  CHECK_FALSE(frames.has_arenas());
}

TEST_CASE("a block in an arena is marked as owning if it was taken so") {
  every_frame_dies const check;
  auto const bytes = GENERATE(as<std::size_t>(), 64, 1008, 5000);
  frame_arena& a = frames.make_arena(arena_here);
  {
    inside const body(&a);
    void* const owning = frames.take<block_owner::body_owning>(bytes);
    void* const plain = frames.take<block_owner::body>(bytes);
    CHECK(frame_arena::header_of(owning).owns);
    CHECK_FALSE(frame_arena::header_of(plain).owns);
    inside const nobodys(nullptr);
    void* const elsewhere = frames.take<block_owner::body_owning>(bytes);
    CHECK_FALSE(a.contains(elsewhere));
    for (void* const p : {elsewhere, plain, owning}) frames.give(p, bytes);
  }
  frames.abandon(a);
}

TEST_CASE("a thread that ends after it abandoned an arena has counted the blocks of the arena") {
  frame_count const before = frames_so_far();
  std::thread([] {
    frame_arena& a = frames.make_arena(arena_here);
    inside const body(&a);
    void* const other = frames.take(64);
    for (int i = 0; i != 10; ++i) frames.give(frames.take<block_owner::body>(64), 64);
    frames.abandon(a);
    frames.give(other, 64);
  }).join();
  CHECK(frames_so_far().births == before.births + 11);
  CHECK(frames_so_far().deaths == before.deaths + 11);
}

TEST_CASE(
    "a block of an arena that is freed while its thread ends is counted, and the arena is "
    "deleted") {
  struct late {
    void* block = nullptr;
    ~late() {
      if (block) frames.give(block, 64);
    }
  };
  frame_count const before = frames_so_far();
  std::thread([] {
    static thread_local late outlives_the_pool;  // made before the pool, so destroyed after it
    outlives_the_pool.block = nullptr;
    frame_arena& a = frames.make_arena(arena_here);
    {
      inside const body(&a);
      outlives_the_pool.block = frames.take<block_owner::body>(64);
      frames.give(frames.take(64), 64);
    }
    frames.abandon(a);
  }).join();
  CHECK(frames_so_far().births == before.births + 2);
  CHECK(frames_so_far().deaths == before.deaths + 2);
}
