// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"

TEST_CASE("each number of bytes has the smallest size in which it fits") {
  using weft::detail::block_size;
  using weft::detail::block_sizes;
  for (std::size_t bytes = 1; bytes <= block_size::most; ++bytes) {
    std::size_t const size = block_size::of(bytes);
    bool const is_least = size < block_sizes && block_size::bytes(size) >= bytes &&
                          (block_size::of(1) == size || block_size::bytes(size - 1) < bytes);
    if (!is_least) FAIL(bytes << " bytes have size " << size);
  }
  CHECK(block_size::of(block_size::most + 1) >= block_sizes);
}

using weft::detail::frame_count;
using weft::detail::frames;
using weft::detail::frames_so_far;

/// Live blocks of one size, filled with a pattern.
class blocks {
 public:
  explicit blocks(std::size_t bytes) : bytes_(bytes) {}
  blocks(blocks const&) = delete;
  blocks& operator=(blocks const&) = delete;
  ~blocks() { give_all(); }

  void take(int n) {
    for (int i = 0; i != n; ++i) {
      void* const p = frames.take(bytes_);
      *static_cast<std::size_t*>(p) = live_.size();
      live_.push_back(p);
    }
  }
  /// Checks that the pattern is intact.
  void give_all() {
    give_all([] {});
  }
  template <class F>
  void give_all(F after_each) {
    for (std::size_t i = 0; i != live_.size(); ++i) {
      if (*static_cast<std::size_t*>(live_[i]) != i) ++spoilt;
      frames.give(live_[i], bytes_);
      after_each();
    }
    live_.clear();
  }
  [[nodiscard]] std::set<void*> addresses() const { return {live_.begin(), live_.end()}; }

  static inline std::atomic<int> spoilt = 0;

 private:
  std::size_t bytes_;
  std::vector<void*> live_;
};

TEST_CASE("the pool counts blocks taken and given back, both pooled and too large for the pool") {
  auto const bytes =
      GENERATE(as<std::size_t>(), 8, 16, 100, 256, 257, 1008, 1024, 4096, 4097, 5000);
  frame_count const before = frames_so_far();
  {
    blocks some(bytes);
    some.take(100);
    CHECK(frames_so_far().births == before.births + 100);
    CHECK(frames_so_far().deaths == before.deaths);
    CHECK(some.addresses().size() == 100);
    some.give_all();
    CHECK(frames_so_far().deaths == before.deaths + 100);
    some.take(100);
  }
  CHECK(frames_so_far().births == before.births + 200);
  CHECK(frames_so_far().alive() == before.alive());
  CHECK(blocks::spoilt == 0);
}

TEST_CASE("the next thread gets, by the depot, the blocks that an ended thread freed") {
  auto const bytes = GENERATE(as<std::size_t>(), 320, 4096);
  if constexpr (weft::detail::pooling) {
    std::set<void*> first;
    std::set<void*> second;
    auto const lives = [bytes](std::set<void*>& where) {
      blocks some(bytes);
      some.take(50);
      where = some.addresses();
    };
    std::thread(lives, std::ref(first)).join();  // its end gives all blocks to the depot
    std::thread(lives, std::ref(second)).join();
    CHECK(first == second);
  }
}

TEST_CASE(
    "blocks that are taken on one thread and freed on another are reused, and do not grow in "
    "number") {
  if constexpr (weft::detail::pooling) {
    std::set<void*> seen;
    blocks some(480);
    for (int round = 0; round != 20; ++round) {
      some.take(2000);
      seen.merge(some.addresses());
      std::thread([&some] { some.give_all(); }).join();
    }
    CHECK(seen.size() < 3 * 2000);  // 40 000 were taken
    CHECK(blocks::spoilt == 0);
  }
}

TEST_CASE("a living thread that frees many blocks and takes few keeps few") {
  if constexpr (weft::detail::pooling) {
    constexpr int many = 20'000;
    std::set<void*> seen;
    blocks some(464);
    some.take(many);
    seen.merge(some.addresses());
    std::binary_semaphore freed{0};
    std::binary_semaphore looked{0};
    std::thread frees([&] {
      some.give_all([] {
        blocks few(464);
        few.take(20);
      });
      freed.release();
      looked.acquire();
    });
    freed.acquire();
    blocks again(464);
    again.take(many);
    seen.merge(again.addresses());
    looked.release();
    frees.join();
    CHECK(seen.size() < many + many / 4);
  }
}

TEST_CASE("the frees of a thread that only frees are counted when it has ended") {
  auto const before = frames_so_far();
  blocks some(240);
  some.take(10);
  std::thread([&some] { some.give_all(); }).join();
  CHECK(frames_so_far().births == before.births + 10);
  CHECK(frames_so_far().deaths == before.deaths + 10);
}

TEST_CASE(
    "a block that is freed while its thread ends is counted, even after the pool has closed") {
  struct late {
    void* block = nullptr;
    ~late() {
      if (block) frames.give(block, 64);
    }
  };
  auto const before = frames_so_far();
  std::thread([] {
    static thread_local late outlives_the_pool;  // made before the pool, so destroyed after it
    outlives_the_pool.block = nullptr;
    outlives_the_pool.block = frames.take(64);
  }).join();
  CHECK(frames_so_far().births == before.births + 1);
  CHECK(frames_so_far().deaths == before.deaths + 1);
}

using weft::detail::pooled;

TEST_CASE("an object that is over-aligned for a block gets its alignment") {
  struct alignas(128) aligned : pooled {
    int content = 1;
  };
  auto const before = frames_so_far();
  auto* const p = new aligned;
  CHECK(reinterpret_cast<std::uintptr_t>(p) % 128 == 0);
  CHECK(frames_so_far().alive() == before.alive() + 1);
  delete p;
  CHECK(frames_so_far().alive() == before.alive());
}

TEST_CASE("a large block begins at a cache line, whatever was cut before it") {
  if constexpr (weft::detail::pooling) {
    std::thread([] {  // has a slab of its own
      bool all_do = true;
      std::vector<std::pair<void*, std::size_t>> taken;
      for (std::size_t bytes = 24; bytes <= 4096; bytes += 24) {
        for (std::size_t const b : {std::size_t{40}, bytes}) {
          taken.emplace_back(frames.take(b), b);
          all_do &= b <= 256 || reinterpret_cast<std::uintptr_t>(taken.back().first) % 64 == 0;
        }
      }
      for (auto const& [p, b] : taken) frames.give(p, b);
      if (!all_do) ++blocks::spoilt;
    })
        .join();
    CHECK(blocks::spoilt == 0);
  }
}

TEST_CASE("many threads take and give blocks at once") {
  auto const before = frames_so_far();
  {
    std::vector<std::thread> threads;
    for (int t = 0; t != 4; ++t)
      threads.emplace_back([] {
        blocks small(48);
        blocks large(700);
        for (int round = 0; round != 30; ++round) {
          small.take(200);
          large.take(100);
          if (round % 3 == 0) small.give_all();
          large.give_all();
        }
      });
    for (auto& t : threads) t.join();
  }
  CHECK(frames_so_far().alive() == before.alive());
  CHECK(blocks::spoilt == 0);
}
