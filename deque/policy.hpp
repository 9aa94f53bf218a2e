// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

/// What a persistent_deque leaves open: how the owners of a chunk are counted, where chunks come
/// from, and how large they are.
///
///     using on_threads = weft::deque_policy<weft::atomic_counts>;
///     weft::persistent_deque<int, on_threads> shared_between_threads;
///
/// Cost: atomic counts are 0 to 2 ns a step dearer while a version is alone, and two to three
/// times as dear with a snapshot at every step.  Do not ask for them unless versions of one
/// deque live on several threads.
namespace weft {

/// Counts for versions that all stay on one thread.  The default.
struct plain_counts {
  static constexpr bool between_threads = false;

  /// How many owners something has; it is born with one.
  class owners {
   public:
    void add() noexcept { ++n_; }
    [[nodiscard]] bool remove() noexcept { return --n_ == 0; }  ///< True: that was the last.
    [[nodiscard]] bool only_one() const noexcept { return n_ == 1; }

   private:
    std::uint32_t n_ = 1;
  };

  /// One edge of the slots of a chunk that hold an element.
  class bound {
   public:
    [[nodiscard]] std::uint32_t get() const noexcept { return at_; }
    void set(std::uint32_t to) noexcept { at_ = to; }
    /// True if the bound was `from` and is now `to`: the slot between is ours.
    [[nodiscard]] bool claim(std::uint32_t from, std::uint32_t to) noexcept {
      if (at_ != from) return false;
      at_ = to;
      return true;
    }

   private:
    std::uint32_t at_ = 0;
  };
};

/// Counts for versions on several threads.  A deque object is still one thread's at a time, as
/// an int is; what may differ in thread are the versions that share its chunks.
///
///   POLICY-1  What is written to a chunk is written by its only owner, or into a slot that the writer
///       alone has claimed, and which no other owner's window covers.
///   POLICY-2  Whoever finds itself the only owner, or the last, sees all that former owners did.
struct atomic_counts {
  static constexpr bool between_threads = true;

  class owners {
   public:
    // relaxed: the one who adds an owner is one, so the count cannot reach zero meanwhile, and
    // how the new owner's thread learns of it is the business of whoever hands it over.
    void add() noexcept { n_.fetch_add(1, std::memory_order_relaxed); }

    [[nodiscard]] bool remove() noexcept {
      if (only_one()) return true;  // nobody else can add or remove: no need of a locked step
      // [1] release: our reads and claims come before what the next only owner does; pairs
      //     with [2] and [3].
      // [3] acquire: if we are the last after all; pairs with [1] of each former owner (POLICY-2).
      return n_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

    [[nodiscard]] bool only_one() const noexcept {
      // [2] acquire: if we are the only one; pairs with [1] of each former owner (POLICY-2).
      return n_.load(std::memory_order_acquire) == 1;
    }

   private:
    std::atomic<std::uint32_t> n_{1};
  };

  class bound {
   public:
    // relaxed, all three: a bound decides who builds in a slot and publishes nothing.  What is
    // built there reaches other threads with the version that covers it, or by [1] to [3].
    [[nodiscard]] std::uint32_t get() const noexcept { return at_.load(std::memory_order_relaxed); }
    void set(std::uint32_t to) noexcept { at_.store(to, std::memory_order_relaxed); }
    [[nodiscard]] bool claim(std::uint32_t from, std::uint32_t to) noexcept {
      return at_.compare_exchange_strong(from, to, std::memory_order_relaxed);
    }

   private:
    std::atomic<std::uint32_t> at_{0};
  };
};

/// Chunks from operator new.
struct heap_memory {
  static void* allocate(std::size_t bytes, std::align_val_t alignment) {
    if (std::size_t(alignment) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return ::operator new(bytes);
    return ::operator new(bytes, alignment);
  }
  static void deallocate(void* memory, std::size_t bytes, std::align_val_t alignment) noexcept {
    if (std::size_t(alignment) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)
      ::operator delete(memory, bytes);
    else
      ::operator delete(memory, bytes, alignment);
  }
};

/// The choices of one deque type, in a bag.
///
/// `Counts` is plain_counts or atomic_counts.  `Memory` has the two static functions of
/// heap_memory; `allocate` may throw, and must be safe to call from every thread that has a
/// version.  A leaf holds as many elements as fit in `LeafBytes`, at least 4 and at most 64,
/// rounded down to a power of two.
///
/// `ElementsOwnVersions` must be true if an element can own a version of a deque that it is pushed
/// to, as a task does that holds a snapshot of its own queue.  Else the element may be built in
/// a chunk that its snapshot shares; the two then own each other, and are never destroyed.  The
/// price: a push into a shared chunk copies the chunk.
template <class Counts = plain_counts, class Memory = heap_memory, std::size_t LeafBytes = 512,
          bool ElementsOwnVersions = false>
struct deque_policy {
  using counts = Counts;
  using memory = Memory;
  static constexpr std::size_t leaf_bytes = LeafBytes;
  static constexpr bool elements_own_versions = ElementsOwnVersions;
};

}  // namespace weft
