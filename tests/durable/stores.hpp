// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/durable/memory_log.hpp"
#include "tests/durable/support.hpp"
#include "weft/durable/codec.hpp"
#include "weft/durable/memory_store.hpp"
#include "weft/durable/replicated_store.hpp"
#include "weft/durable/sqlite_store.hpp"
#include "weft/durable/store.hpp"

/// The stores that the laws are checked on (store_laws_test.cpp), and what the laws need.
namespace weft::tests {

/// A store in memory.  Its two handles are the same object: a program has no other way to it.
class in_memory {
 public:
  durable::store& operator*() { return store_; }
  durable::store* operator->() { return &store_; }
  durable::store& other() { return store_; }
  void reopen() {}

 private:
  durable::memory_store store_;
};

/// A store that is opened by `Self::open()`, and a second handle of it, as another program has it.
template <class Self>
class opened_twice {
 public:
  durable::store& operator*() { return *operator->(); }
  durable::store* operator->() {
    if (!store_) store_ = open();
    return store_.get();
  }
  durable::store& other() {
    if (!other_) other_ = open();
    return *other_;
  }
  void reopen() {
    other_.reset();
    store_.reset();
  }

 private:
  [[nodiscard]] std::unique_ptr<durable::store> open() { return static_cast<Self*>(this)->open(); }
  std::unique_ptr<durable::store> store_;
  std::unique_ptr<durable::store> other_;
};

/// A store in a file.
class in_sqlite : public opened_twice<in_sqlite> {
 public:
  ~in_sqlite() { reopen(); }
  [[nodiscard]] std::unique_ptr<durable::store> open() const {
    return std::make_unique<durable::sqlite_store>(
        folder_.file("store.db"), durable::sqlite_store_options{.waits_for_disk = false});
  }

 private:
  own_directory folder_;
};

/// A store that is a log which two programs share, in memory.
class in_shared_log : public opened_twice<in_shared_log> {
 public:
  ~in_shared_log() { reopen(); }
  [[nodiscard]] std::unique_ptr<durable::store> open() { return std::make_unique<handle>(medium_); }

 private:
  struct own_log {
    memory_log log;
  };
  struct handle : own_log, durable::replicated_store {
    explicit handle(log_medium& m) : own_log{memory_log(m)}, durable::replicated_store(log) {}
  };
  log_medium medium_{10'000};  // so that some commands take several entries
};

/// All stores.  A further one has: a default constructor, which makes an empty store; `*` and `->`;
/// other(), a handle of the same store as another program has it; reopen(), the end of the program
/// and its next beginning.
using all_stores = std::tuple<in_memory, in_sqlite, in_shared_log>;

/// How a process is started, with this one argument.
inline durable::process_start start_of(std::string id, std::string arguments = "args") {
  return {std::move(id), "function", 3, std::move(arguments), {}};
}
/// A part of the process of that id, which fits its log as it is now.
inline durable::commit_part part_of(durable::store& s, std::string const& id) {
  auto const r = s.find(id).value();
  durable::commit_part p;
  p.process = r.key;
  p.id = id;
  p.run = r.run;
  p.first = r.entries;
  return p;
}
inline durable::commit_result commit(durable::store& s, durable::commit_part p) {
  std::array<durable::commit_part*, 1> const parts{&p};
  std::array<durable::commit_result, 1> results;
  s.commit(parts, results);
  return std::move(results[0]);
}
inline bool is_accepted(durable::store& s, durable::commit_part p) {
  return commit(s, std::move(p)).is_accepted;
}
inline durable::status_change waiting(std::optional<durable::timestamp> wake = {},
                                      std::uint64_t known = 0) {
  return {durable::process_status::waiting, wake, known, {}};
}
inline durable::status_change ended(std::string result = "result") {
  return {durable::process_status::completed, {}, 0, std::move(result)};
}
/// Commits a change of the status only.
inline void set_status(durable::store& s, std::string const& id, durable::status_change c) {
  auto p = part_of(s, id);
  p.status = std::move(c);
  REQUIRE(is_accepted(s, std::move(p)));
}
inline durable::process_status status_of(durable::store& s, std::string const& id) {
  return s.find(id).value().status;
}
inline durable::stored_process loaded(durable::store& s, std::string const& id) {
  return s.load(s.find(id).value().key);
}
/// The data of the messages in an inbox.
inline std::vector<std::string> words_in(durable::store& s, std::string const& id) {
  std::vector<std::string> words;
  for (auto const& m : loaded(s, id).inbox) words.push_back(m.data);
  return words;
}
/// Sends a word from outside.
inline durable::commit_effect send(durable::store& s, std::string to, std::string word,
                                   std::string_view once_key = {}) {
  return s.send({std::move(to), "word", std::move(word)}, once_key);
}

/// All that a store has, as text.
inline std::string contents(durable::store& s) {
  std::string all;
  auto const add = [&](auto const&... some) { ((all += some, all += '|'), ...); };
  for (auto const& r : s.list(0, 1'000'000)) {
    auto const p = s.load(r.key);
    add(std::to_string(r.key), r.start.id, r.start.function, std::to_string(r.start.version),
        r.start.arguments, r.start.parent, std::to_string(r.run), std::string(name_of(r.status)),
        r.wake ? std::to_string(*r.wake) : "never", r.result, r.published);
    for (auto const& e : p.log) add("entry", e.operation, e.answer);
    for (auto const& m : p.inbox)
      add("message", std::to_string(m.sequence), m.sender, m.type, m.data);
    all += '\n';
  }
  return all;
}

}  // namespace weft::tests
