// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/durable/memory_store.hpp"
#include "weft/durable/store.hpp"

/// Stores that each make one mistake.  An exploration of crashes has to find each.
namespace weft::tests {

/// A memory_store, and no mistake.
class sound_store : public durable::store {
 public:
  explicit sound_store(durable::memory_store_options o)
      : inner_(std::make_unique<durable::memory_store>(o)) {}
  virtual void restart() { inner_->restart(); }

  void commit(std::span<durable::commit_part* const> parts,
              std::span<durable::commit_result> results) override {
    inner_->commit(parts, results);
  }
  durable::commit_effect start(durable::process_start const& s) override {
    return inner_->start(s);
  }
  durable::commit_effect send(durable::outgoing_message const& m,
                              std::string_view once_key) override {
    return inner_->send(m, once_key);
  }
  bool release(durable::process_key process) override { return inner_->release(process); }
  std::optional<durable::process_record> find(std::string_view id) override {
    return inner_->find(id);
  }
  using store::load;
  std::vector<durable::stored_process> load(std::span<durable::process_key const> keys) override {
    return inner_->load(keys);
  }
  std::vector<durable::stored_message> inbox(durable::process_key process,
                                             std::uint64_t after) override {
    return inner_->inbox(process, after);
  }
  std::vector<durable::process_record> list(durable::process_key after,
                                            std::size_t limit) override {
    return inner_->list(after, limit);
  }
  std::vector<durable::process_key> wake_due(durable::timestamp now, std::size_t limit) override {
    return inner_->wake_due(now, limit);
  }
  std::optional<durable::timestamp> next_wake() override { return inner_->next_wake(); }
  std::vector<durable::process_key> ready(durable::process_key after, std::size_t limit) override {
    return inner_->ready(after, limit);
  }
  bool any_unfinished() override { return inner_->any_unfinished(); }

 protected:
  /// Commits copies of the parts, which `change` has changed.
  template <class Change>
  void commit_changed(std::span<durable::commit_part* const> parts,
                      std::span<durable::commit_result> results, Change const& change) {
    std::vector<durable::commit_part> copies;
    std::vector<durable::commit_part*> pointers;
    copies.reserve(parts.size());
    for (auto const* const p : parts) {
      change(copies.emplace_back(*p));
      pointers.push_back(&copies.back());
    }
    inner_->commit(pointers, results);
  }
  std::unique_ptr<durable::memory_store> inner_;
};

/// Against STORE-1: messages and children are stored first, and the entries after them.
class entries_after_messages final : public sound_store {
 public:
  using sound_store::sound_store;
  void commit(std::span<durable::commit_part* const> parts,
              std::span<durable::commit_result> results) override {
    std::vector<durable::commit_result> first(parts.size());
    commit_changed(parts, first, [](durable::commit_part& p) {
      p.entries.clear();
      p.received.clear();
      p.status.reset();
      p.published.reset();
      p.continued.reset();
    });
    commit_changed(parts, results, [](durable::commit_part& p) {
      p.sent.clear();
      p.started.clear();
    });
    for (std::size_t i = 0; i != parts.size(); ++i) results[i].effects = first[i].effects;
  }
};

/// Against STORE-1: entries are stored first, and all else after them.
class torn_commits final : public sound_store {
 public:
  using sound_store::sound_store;
  void commit(std::span<durable::commit_part* const> parts,
              std::span<durable::commit_result> results) override {
    commit_changed(parts, results, [](durable::commit_part& p) {
      durable::commit_part only;
      only.process = p.process;
      only.run = p.run;
      only.first = p.first;
      only.entries = std::move(p.entries);
      p = std::move(only);
    });
    commit_changed(parts, results, [](durable::commit_part& p) {
      p.first += p.entries.size();
      p.entries.clear();
    });
  }
};

/// Against STORE-2: a commit is acknowledged, and stored when the next one comes: a crash undoes the
/// last one.
class late_commits final : public sound_store {
 public:
  using sound_store::sound_store;
  void commit(std::span<durable::commit_part* const> parts,
              std::span<durable::commit_result> results) override {
    sound_store::commit(parts, results);
    std::vector<durable::commit_part> kept;
    for (auto const* const p : parts) kept.push_back(*p);
    history_.push_back([kept](durable::store& s) mutable {
      std::vector<durable::commit_part*> pointers;
      for (auto& p : kept) pointers.push_back(&p);
      std::vector<durable::commit_result> ignored(kept.size());
      s.commit(pointers, ignored);
    });
  }
  durable::commit_effect start(durable::process_start const& s) override {
    history_.push_back([s](durable::store& to) { to.start(s); });
    return sound_store::start(s);
  }
  void restart() override {
    if (!inner_->has_crashed()) return;
    if (!history_.empty()) history_.pop_back();
    inner_ = std::make_unique<durable::memory_store>();
    for (auto& h : history_) h(*inner_);
  }

 private:
  std::vector<std::function<void(durable::store&)>> history_;
};

/// Against STORE-3: each part is accepted, whatever its log has.
class no_fence final : public sound_store {
 public:
  using sound_store::sound_store;
  void commit(std::span<durable::commit_part* const> parts,
              std::span<durable::commit_result> results) override {
    commit_changed(parts, results,
                   [&](durable::commit_part& p) { p.first = inner_->load(p.process).log.size(); });
  }
};

/// Against STORE-4: a message stays in the inbox after it was taken out.
class messages_stay final : public sound_store {
 public:
  using sound_store::sound_store;
  void commit(std::span<durable::commit_part* const> parts,
              std::span<durable::commit_result> results) override {
    commit_changed(parts, results, [](durable::commit_part& p) { p.received.clear(); });
  }
};

/// Against STORE-4: the key of a message is ignored.
class keys_ignored final : public sound_store {
 public:
  using sound_store::sound_store;
  durable::commit_effect send(durable::outgoing_message const& m, std::string_view) override {
    return sound_store::send(m, {});
  }
};

/// Against STORE-5: `waiting` is stored over an inbox with a later message.
class wakes_lost final : public sound_store {
 public:
  using sound_store::sound_store;
  void commit(std::span<durable::commit_part* const> parts,
              std::span<durable::commit_result> results) override {
    commit_changed(parts, results, [](durable::commit_part& p) {
      if (p.status) p.status->known = std::numeric_limits<std::uint64_t>::max();
    });
  }
};

/// Against STORE-5: the time at which a process is to be woken is not stored.
class times_lost final : public sound_store {
 public:
  using sound_store::sound_store;
  void commit(std::span<durable::commit_part* const> parts,
              std::span<durable::commit_result> results) override {
    commit_changed(parts, results, [](durable::commit_part& p) {
      if (p.status) p.status->wake.reset();
    });
  }
};

}  // namespace weft::tests
