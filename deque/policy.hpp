// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

/// The parameters of a persistent_deque: how the owners of a leaf are counted, where leaves are
/// allocated, and how large they are.
///
///     using on_threads = weft::deque_policy<weft::atomic_counts>;
///     weft::persistent_deque<int, on_threads> shared_between_threads;
///
/// Cost: with atomic counts a pop and a push together take 0 to 2 ns more while a version shares
/// nothing, and two to three times as long with a snapshot each time.  Use atomic counts only if
/// versions of one deque live on several threads.
namespace weft {

/// Counts for versions that all stay on one thread.  The default.
struct plain_counts {
  /// Whether versions that share parts may be on several threads.
  static constexpr bool between_threads = false;

  /// A count of owners.  It starts at one.
  class owners {
   public:
    void add() noexcept { ++n_; }                                     ///< Counts one more owner.
    [[nodiscard]] bool remove() noexcept { return --n_ == 0; }        ///< True for the last owner.
    [[nodiscard]] bool only_one() const noexcept { return n_ == 1; }  ///< Whether the count is 1.

   private:
    std::uint32_t n_ = 1;
  };

  /// The lower or the upper bound of the constructed slots of a leaf (LEAF-1).
  class bound {
   public:
    [[nodiscard]] std::uint32_t get() const noexcept { return at_; }  ///< The bound.
    void set(std::uint32_t to) noexcept { at_ = to; }                 ///< Moves the bound.
    /// If the bound is `from`, sets it to `to` and returns true: the caller alone may then
    /// construct in the slot between them.
    [[nodiscard]] bool claim(std::uint32_t from, std::uint32_t to) noexcept {
      if (at_ != from) return false;
      at_ = to;
      return true;
    }

   private:
    std::uint32_t at_ = 0;
  };
};

/// Counts for versions on several threads.  A single deque object still belongs to one thread at a
/// time, as an int does; versions that share its leaves may be on other threads.
///
///   POLICY-1  A leaf is written by its only owner; or, if it has several, in a slot that the
///       writer alone has claimed and that no other owner's window covers.
///   POLICY-2  An owner that finds itself the only one, or the last, sees all writes of former
///       owners.
struct atomic_counts {
  /// Whether versions that share parts may be on several threads.
  static constexpr bool between_threads = true;

  /// A count of owners.  It starts at one.  Thread safe.
  class owners {
   public:
    /// Counts one more owner.
    // Relaxed: the caller is an owner, so the count cannot reach zero meanwhile; another
    // thread gets the new owner with synchronization.
    void add() noexcept { n_.fetch_add(1, std::memory_order_relaxed); }

    /// Counts one owner less.  True if it was the last one.
    [[nodiscard]] bool remove() noexcept {
      if (only_one()) return true;  // saves the read-modify-write: no other owner is left to count
      // [1] release, pairs with [2] and [3]: what this owner has read and claimed happens before
      // the writes of an owner that finds itself the only one [2], or the last one [3].  [3]
      // acquire, pairs with [1] of each former owner: the last owner sees their writes (POLICY-2).
      return n_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }

    /// Whether there is one owner.
    [[nodiscard]] bool only_one() const noexcept {
      // [2] acquire, pairs with [1] of each former owner: an only owner sees their writes
      // (POLICY-2).
      return n_.load(std::memory_order_acquire) == 1;
    }

   private:
    std::atomic<std::uint32_t> n_{1};
  };

  /// The lower or the upper bound of the constructed slots of a leaf (LEAF-1).  Thread safe.
  class bound {
   public:
    /// The bound.
    // Relaxed: a bound decides which thread constructs in a slot, and publishes no element.
    // A thread that reads an element has a version that covers the element, and got this version
    // with synchronization; or the thread has the only or last owner, whose acquire ([2] or [3])
    // pairs with [1] of the former owners.
    [[nodiscard]] std::uint32_t get() const noexcept { return at_.load(std::memory_order_relaxed); }
    /// Moves the bound.
    // Relaxed: as in get().
    void set(std::uint32_t to) noexcept { at_.store(to, std::memory_order_relaxed); }
    /// If the bound is `from`, sets it to `to` and returns true: one thread only gets true.
    [[nodiscard]] bool claim(std::uint32_t from, std::uint32_t to) noexcept {
      // Relaxed: as in get().
      return at_.compare_exchange_strong(from, to, std::memory_order_relaxed);
    }

   private:
    std::atomic<std::uint32_t> at_{0};
  };
};

/// Allocates with operator new.  Thread safe.
struct heap_memory {
  /// Allocates that many bytes.  Throws std::bad_alloc.
  static void* allocate(std::size_t bytes, std::align_val_t alignment) {
    if (std::size_t(alignment) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__) return ::operator new(bytes);
    return ::operator new(bytes, alignment);
  }
  /// Frees what allocate() returned for the same size and alignment.
  static void deallocate(void* memory, [[maybe_unused]] std::size_t bytes,
                         std::align_val_t alignment) noexcept {
#if defined(__cpp_sized_deallocation)
    if (std::size_t(alignment) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)
      ::operator delete(memory, bytes);
    else
      ::operator delete(memory, bytes, alignment);
#else  // clang before 19
    if (std::size_t(alignment) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__)
      ::operator delete(memory);
    else
      ::operator delete(memory, alignment);
#endif
  }
};

/// All parameters of a deque type, as one type.
///
/// `Counts` is plain_counts or atomic_counts.  `Memory` has the two static functions of
/// heap_memory; `allocate` may throw, and must be callable from every thread that has a version.  A
/// leaf holds as many elements as fit in `LeafBytes`, at least 4 and at most 64, rounded down to a
/// power of two.
///
/// `ElementsOwnVersions` must be true if an element can own a version of the deque that it is
/// pushed to, for example a task that holds a snapshot of the queue in which it stands.  If it is
/// true, a push into a shared leaf copies the leaf; if it is false, the element may be constructed
/// in a leaf that its snapshot shares; then element and leaf own each other, and leak.  Make such
/// an element before the push, push_back(T(d)), since emplace_back(d) would use `d` while `d` is
/// changed.
template <class Counts = plain_counts, class Memory = heap_memory, std::size_t LeafBytes = 512,
          bool ElementsOwnVersions = false>
struct deque_policy {
  using counts = Counts;                                ///< plain_counts or atomic_counts.
  using memory = Memory;                                ///< heap_memory, or a class like it.
  static constexpr std::size_t leaf_bytes = LeafBytes;  ///< The bytes for elements in a leaf.
  /// Whether an element can own a version of its deque.
  static constexpr bool elements_own_versions = ElementsOwnVersions;
};

}  // namespace weft
