// SPDX-License-Identifier: MIT

/// What does persistence cost a run queue?  One step takes the oldest element, reads it and puts it
/// back as the newest.  An element is what a scheduler queues: a counted pointer and a word.

#include "weft/deque/deque.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness.hpp"

namespace {

/// A block with a count, as a process is.  All blocks of a queue lie in one array, in order, so
/// that subject and rival find them equally fast.
struct block {
  std::uint32_t owners = 0;
  std::uint32_t id = 0;
};
[[gnu::noinline]] void last_owner_gone(block& b) { b.id = 0; }

/// 16 bytes: one owner of a block, and an answer for it.
class element {
 public:
  element(block& b, std::uint64_t answer) noexcept : block_(&b), answer_(answer) { ++b.owners; }
  element(element const& other) noexcept : block_(other.block_), answer_(other.answer_) {
    ++block_->owners;
  }
  element(element&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)), answer_(other.answer_) {}
  element& operator=(element other) noexcept {
    std::swap(block_, other.block_);
    answer_ = other.answer_;
    return *this;
  }
  ~element() {
    if (block_ && --block_->owners == 0) last_owner_gone(*block_);
  }
  [[nodiscard]] std::uint64_t read() const noexcept { return block_->id + answer_; }

 private:
  block* block_;
  std::uint64_t answer_;
};
static_assert(sizeof(element) == 16);

/// The rival: a ring buffer with a power of two of slots, which keeps no versions.
class ring {
 public:
  explicit ring(std::size_t capacity)
      : mask_(std::bit_ceil(capacity) - 1), slots_(std::allocator<element>().allocate(mask_ + 1)) {}
  ring(ring const&) = delete;
  ring& operator=(ring const&) = delete;
  ~ring() {
    while (begin_ != end_) pop_back();
    std::allocator<element>().deallocate(slots_, mask_ + 1);
  }
  void push_front(element e) noexcept { std::construct_at(at(--begin_), std::move(e)); }
  element pop_back() noexcept {
    element* const last = at(--end_);
    element taken(std::move(*last));
    std::destroy_at(last);
    return taken;
  }

 private:
  element* at(std::size_t i) noexcept { return slots_ + (i & mask_); }
  std::size_t mask_;
  std::size_t begin_ = 0, end_ = 0;
  element* slots_;
};

using deque = weft::persistent_deque<element>;
using shared_deque = weft::persistent_deque<element, weft::deque_policy<weft::atomic_counts>>;
using owning_deque =
    weft::persistent_deque<element,
                           weft::deque_policy<weft::plain_counts, weft::heap_memory, 512, true>>;

/// A deque whose last 16 versions are kept, a new one at every step.
template <class D>
class remembering {
 public:
  element pop_back() {
    kept_[next_++ % kept_.size()] = now_;
    return now_.pop_back();
  }
  void push_front(element e) { now_.push_front(std::move(e)); }

 private:
  D now_;
  std::array<D, 16> kept_;
  std::size_t next_ = 0;
};

template <class Queue>
[[gnu::noinline]] std::uint64_t step(Queue& queue) {
  element e = queue.pop_back();
  std::uint64_t const read = e.read();
  queue.push_front(std::move(e));
  return read;
}

/// Steps of a queue with `k` elements.
template <class Queue, class... Args>
weft::bench::make_work stepping(std::size_t k, Args... args) {
  return [=]() -> weft::bench::work {
    auto blocks = std::make_shared<std::vector<block>>(k);
    auto queue = std::make_shared<Queue>(args...);
    for (std::size_t i = 0; i != k; ++i) {
      (*blocks)[i].id = static_cast<std::uint32_t>(i * i);
      queue->push_front(element((*blocks)[i], i));
    }
    return [blocks, queue, one = weft::bench::launder(&step<Queue>)](std::size_t n) {
      std::uint64_t answer = 0;
      for (std::size_t i = 0; i != n; ++i) answer = answer * 31 + one(*queue);
      return answer;
    };
  };
}

/// Counts the allocated bytes.
struct counting_memory {
  static inline std::size_t bytes = 0;
  static void* allocate(std::size_t n, std::align_val_t alignment) {
    bytes += n;
    return weft::heap_memory::allocate(n, alignment);
  }
  static void deallocate(void* p, std::size_t n, std::align_val_t alignment) noexcept {
    bytes -= n;
    weft::heap_memory::deallocate(p, n, alignment);
  }
};

/// Allocated bytes an element, the deque object included, while `k` elements go round.
struct footprint {
  double mean = 0;
  double peak = 0;
};
footprint bytes_an_element(std::size_t k) {
  constexpr std::size_t rounds = 4096;
  block b;
  weft::persistent_deque<element, weft::deque_policy<weft::plain_counts, counting_memory>> d;
  for (std::size_t i = 0; i != k; ++i) d.push_front(element(b, i));
  std::size_t sum = 0;
  std::size_t peak = 0;
  for (std::size_t i = 0; i != rounds; ++i) {
    step(d);
    sum += counting_memory::bytes;
    peak = std::max(peak, counting_memory::bytes);
  }
  auto const each = [&](double bytes) { return (bytes + sizeof d) / static_cast<double>(k); };
  return {each(static_cast<double>(sum) / rounds), each(static_cast<double>(peak))};
}

}  // namespace

int main(int argc, char** argv) {
  weft::bench::suite bench("deque", argc, argv);
  for (auto const& [which, k] : {std::pair<char const*, std::size_t>{"2", 2},
                                 {"100", 100},
                                 {"10k", 10'000},
                                 {"1M", 1'000'000}})
    bench.compare(std::string("unique/") + which, stepping<deque>(k), "ring",
                  stepping<ring>(k, k + 1));
  bench.compare("snapshot/10k", stepping<remembering<deque>>(10'000), "ring",
                stepping<ring>(10'000, std::size_t{10'001}));
  bench.compare("owning-snapshot/10k", stepping<remembering<owning_deque>>(10'000), "ring",
                stepping<ring>(10'000, std::size_t{10'001}));
  bench.compare("atomic/10k", stepping<shared_deque>(10'000), "ring",
                stepping<ring>(10'000, std::size_t{10'001}));
  bench.compare("atomic-snapshot/10k", stepping<remembering<shared_deque>>(10'000), "ring",
                stepping<ring>(10'000, std::size_t{10'001}));
  for (auto const& [which, k] :
       {std::pair<char const*, std::size_t>{"100", 100}, {"1M", 1'000'000}}) {
    footprint const bytes = bytes_an_element(k);
    bench.report(std::string("memory/") + which, bytes.mean, "bytes");
    bench.report(std::string("memory-peak/") + which, bytes.peak, "bytes");
  }
  return bench.run();
}
