// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "weft/sched/commands/reply.hpp"

namespace weft {

/// Replies, kept under their tags: for a dispatcher whose answers come over a wire, each with the
/// tag of its command.
///
///     replies<std::string> book;
///     dispatchers d{[&](resolve c, reply<std::string> r) {
///       auto const tag = book.keep(std::move(r));   // first: the answer may come early
///       wire.send(tag, c.host);
///     }};
///     ...
///     if (!book.complete(tag, text)) complain();    // the thread that reads the wire
///
/// Thread safe.  Its destructor drops the replies that are left (command_dropped).  O(1), under a
/// lock that is not held while the waiter is woken; one allocation a reply.
///
///   REPLY-1  A reply is in the book from keep() until the one call that takes it out, and only
///       that call answers it.
template <class R>
class replies {
 public:
  /// Keeps a reply and returns its tag.  Throws bad_alloc; std::logic_error if a reply of other
  /// dispatchers is kept under that tag.  If it throws, `r` is dropped.
  std::uint64_t keep(reply<R> r) {
    std::uint64_t const tag = r.tag();
    std::lock_guard const lock(mutex_);
    bool const is_new = kept_.try_emplace(tag, std::move(r)).second;
    if (!is_new)
      throw std::logic_error("weft: a reply is kept under tag " + std::to_string(tag) +
                             " already: a book serves one object of dispatchers");
    return tag;
  }

  /// Answers with R(args...).  False if no reply is kept under that tag, or no longer.  If the
  /// constructor of R throws, complete() throws the same, and the reply is dropped.
  template <class... Args>
  bool complete(std::uint64_t tag, Args&&... args) {
    auto const found = take(tag);
    if (found) found.mapped().complete(std::forward<Args>(args)...);
    return bool(found);
  }
  /// Answers with an exception.  False if no reply is kept under that tag.
  bool fail(std::uint64_t tag, std::exception_ptr error) {
    auto const found = take(tag);
    if (found) found.mapped().fail(std::move(error));
    return bool(found);
  }

  /// The number of replies that are kept.
  [[nodiscard]] std::size_t size() const {
    std::lock_guard const lock(mutex_);
    return kept_.size();
  }

 private:
  using book = std::unordered_map<std::uint64_t, reply<R>>;
  [[nodiscard]] typename book::node_type take(std::uint64_t tag) {
    std::lock_guard const lock(mutex_);
    return kept_.extract(tag);
  }

  mutable std::mutex mutex_;
  book kept_;  // the replies in the book (REPLY-1); guarded by mutex_
};

}  // namespace weft
