// SPDX-License-Identifier: MIT
// The parameters of a persistent_deque: counts between threads, memory, the size of a leaf.
#include <iostream>
#include <new>
#include <thread>

#include <weft/deque/persistent_deque.hpp>
using namespace weft;

struct counted_memory {  // as heap_memory, but it counts
  static inline int chunks = 0;
  static void* allocate(std::size_t bytes, std::align_val_t alignment) {
    ++chunks;
    return heap_memory::allocate(bytes, alignment);
  }
  static void deallocate(void* memory, std::size_t bytes, std::align_val_t alignment) noexcept {
    --chunks;
    heap_memory::deallocate(memory, bytes, alignment);
  }
};
using on_one_thread = deque_policy<plain_counts, counted_memory, 64>;
using on_threads = deque_policy<atomic_counts>;
static_assert(on_threads::counts::between_threads && !on_one_thread::counts::between_threads);
static_assert(!plain_counts::between_threads && atomic_counts::between_threads);
static_assert(on_one_thread::leaf_bytes == 64 && !on_one_thread::elements_own_versions);
static_assert(std::same_as<on_one_thread::memory, counted_memory>);

template <class Counts>
void count_owners() {  // as a chunk does
  typename Counts::owners owners;
  owners.add();
  bool const was_last = owners.remove();
  typename Counts::bound bound;
  bound.set(3);
  std::cout << was_last << owners.only_one() << bound.claim(3, 4) << bound.get() << '\n';
}

int main() {
  {
    persistent_deque<int, on_one_thread> d;
    for (int i = 0; i != 16; ++i) d.push_back(i);
    std::cout << counted_memory::chunks << " chunks\n";
  }
  std::cout << counted_memory::chunks << " chunks\n";

  persistent_deque<int, on_threads> d{1, 2, 3};
  std::jthread([copy = d]() mutable { copy.push_back(4); }).join();
  std::cout << d.size() << '\n';
  count_owners<plain_counts>();
  count_owners<atomic_counts>();
  plain_counts::owners one;
  atomic_counts::owners another;
  plain_counts::bound low;
  atomic_counts::bound high;
  std::cout << one.only_one() << another.remove() << low.get() << high.claim(0, 1) << '\n';
}
