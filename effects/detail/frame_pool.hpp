// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

/// Memory for frames and prompts: lists of free blocks by size, a set of them a thread.
///
///   M1  A thread's list holds at most `capacity` blocks; it hands half of them to the depot, which
///       all threads share, and takes them from there.  So what is born on one thread and dies on
///       another goes round and does not grow.
///   M2  The depot keeps at most `most_batches` of a size; what is above goes back to the system.
///   M3  Under AddressSanitizer nothing is kept, so that a use after death is seen.
namespace weft::detail {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool pooling = false;  // M3
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool pooling = false;
#else
inline constexpr bool pooling = true;
#endif
#else
inline constexpr bool pooling = true;
#endif

/// How many frames, prompts and the like have been made and destroyed, by this thread and those
/// that have ended.  For tests.
struct frame_count {
  std::uint64_t births = 0;
  std::uint64_t deaths = 0;
  [[nodiscard]] std::uint64_t alive() const noexcept { return births - deaths; }
};

struct free_block {
  free_block* next;
  free_block* next_batch;  // of the first of a batch in the depot
};

inline constexpr std::size_t block_sizes = 64;  // of 16 bytes each: up to 1 KB

/// Batches of free blocks, between threads.  Thread safe.
class frame_depot {
 public:
  void put(std::size_t size, free_block* first) noexcept {
    std::unique_lock lock(mutex_);
    auto& pile = piles_[size];
    if (pile.batches == most_batches) {
      lock.unlock();
      while (first) ::operator delete(std::exchange(first, first->next));  // M2
      return;
    }
    ++pile.batches;
    first->next_batch = std::exchange(pile.top, first);
  }
  /// A batch; null if there is none.
  free_block* take(std::size_t size) noexcept {
    std::lock_guard const lock(mutex_);
    auto& pile = piles_[size];
    if (!pile.top) return nullptr;
    --pile.batches;
    return std::exchange(pile.top, pile.top->next_batch);
  }

  void count(frame_count const& c) noexcept {
    std::lock_guard const lock(mutex_);
    ended_.births += c.births;
    ended_.deaths += c.deaths;
  }
  frame_count counted() noexcept {
    std::lock_guard const lock(mutex_);
    return ended_;
  }

 private:
  static constexpr unsigned most_batches = 1024;  // M2
  struct stack {
    free_block* top = nullptr;
    unsigned batches = 0;
  };
  std::mutex mutex_;
  std::array<stack, block_sizes> piles_;
  frame_count ended_;  // by threads that have ended
};
inline constinit frame_depot depot;

/// A thread's free blocks.
class frame_pool {
 public:
  void* take(std::size_t bytes) {
    void* const block = find(bytes);
    ++count_.births;
    return block;
  }
  void give(void* p, std::size_t bytes) noexcept {
    ++count_.deaths;
    std::size_t const size = size_of(bytes);
    if (!pooling || size >= block_sizes) return to_system(p);
    if (shelves_[size].room == 0) [[unlikely]]
      if (!make_room(size)) return to_system(p);
    put(size, p);
  }
  [[nodiscard]] frame_count const& count() const noexcept { return count_; }

  /// The thread ends: everything to the depot.  What still comes goes to the system.
  void close() noexcept {
    for (std::size_t size = 0; size != block_sizes; ++size)
      if (auto* const first = std::exchange(shelves_[size].first, nullptr)) depot.put(size, first);
    shelves_ = {};
    depot.count(std::exchange(count_, {}));
    closed_ = true;
  }

 private:
  static constexpr std::size_t grain = 16;
  static constexpr unsigned batch = 32;
  static constexpr unsigned capacity = 2 * batch;  // M1
  struct shelf {
    free_block* first = nullptr;
    unsigned room = 0;  // blocks that may still come; at first none, so that we hear of the first
  };

  static constexpr std::size_t size_of(std::size_t bytes) noexcept {
    return (bytes + grain - 1) / grain;
  }
  void* find(std::size_t bytes) {
    std::size_t const size = size_of(bytes);
    if (!pooling || size >= block_sizes) return from_system(bytes);
    shelf& s = shelves_[size];
    if (!s.first) [[unlikely]]
      return restock(size);
    ++s.room;
    return std::exchange(s.first, s.first->next);
  }
  void put(std::size_t size, void* p) noexcept {
    shelf& s = shelves_[size];
    --s.room;
    s.first = ::new (p) free_block{s.first, nullptr};
  }
  void* restock(std::size_t size);
  bool make_room(std::size_t size) noexcept;
  static void* from_system(std::size_t bytes);
  static void to_system(void* p) noexcept;

  std::array<shelf, block_sizes> shelves_{};
  frame_count count_{};
  bool closed_ = false;
};
inline thread_local constinit frame_pool frames;

/// Closes the pool when its thread ends.  Apart from it: a thread_local with a destructor costs
/// each access a check.
struct closes_frames {
  ~closes_frames() { frames.close(); }
};
inline void close_frames_at_the_end() {
  static thread_local closes_frames const at_the_end;
  (void)at_the_end;
}

[[gnu::noinline]] inline void* frame_pool::from_system(std::size_t bytes) {
  close_frames_at_the_end();
  return ::operator new(bytes);
}
[[gnu::noinline]] inline void frame_pool::to_system(void* p) noexcept {
  close_frames_at_the_end();
  ::operator delete(p);
}

[[gnu::noinline]] inline void* frame_pool::restock(std::size_t size) {
  free_block* const first = depot.take(size);
  if (!first) return from_system(size * grain);
  close_frames_at_the_end();
  if (closed_) {  // no shelf any more
    if (first->next) depot.put(size, first->next);
    return first;
  }
  shelf& s = shelves_[size];
  s.first = first->next;
  s.room = capacity;
  for (auto* b = s.first; b; b = b->next) --s.room;
  return first;
}

/// False if nothing is to be kept.
[[gnu::noinline]] inline bool frame_pool::make_room(std::size_t size) noexcept {
  if (closed_) return false;
  shelf& s = shelves_[size];
  if (!s.first) {
    close_frames_at_the_end();
    s.room = capacity;
    return true;
  }
  free_block* last = s.first;
  for (unsigned i = 1; i != batch; ++i) last = last->next;
  depot.put(size, std::exchange(s.first, std::exchange(last->next, nullptr)));  // M1
  s.room = batch;
  return true;
}

/// Of this thread and those that have ended.
inline frame_count frames_so_far() noexcept {
  frame_count c = depot.counted();
  c.births += frames.count().births;
  c.deaths += frames.count().deaths;
  return c;
}

/// Base of what lives in that memory.
struct pooled {
  static void* operator new(std::size_t bytes) { return frames.take(bytes); }
  static void operator delete(void* p, std::size_t bytes) noexcept { frames.give(p, bytes); }
};

}  // namespace weft::detail
