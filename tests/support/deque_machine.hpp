// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/deque_invariants.hpp"
#include "tests/support/tracked.hpp"
#include "weft/deque/persistent_deque.hpp"

/// Runs a string of bytes as commands on a pool of live versions, each beside a std::deque with the
/// expected contents.  After every command every version is checked again.  The random tests, the
/// fuzzer and the kept failures all use this language.
namespace weft::tests {

/// A version has wrong contents.
struct broken_law : std::logic_error {
  using std::logic_error::logic_error;
};

template <class D>
class deque_machine {
 public:
  void run(std::span<std::uint8_t const> program) {
    program_ = program;
    while (!program_.empty()) {
      command(byte());
      failures::none();
      for (pair const& p : pool_) look_at(p);
    }
  }

 private:
  using element = typename D::value_type;
  struct pair {
    D version;
    std::deque<int> model;
  };
  static constexpr std::size_t most_versions = 6;
  static constexpr std::size_t most_elements = 2000;

  std::size_t byte() {
    if (program_.empty()) return 0;
    auto const b = program_.front();
    program_ = program_.subspan(1);
    return b;
  }
  pair& any() { return pool_[byte() % pool_.size()]; }
  std::size_t index_in(pair const& p) {
    std::size_t const high = byte();  // in two statements: the order matters
    return (high * 256 + byte()) % p.model.size();
  }
  int fresh_value() { return next_value_++; }

  static void require(bool holds, char const* law) {
    if (!holds) throw broken_law(law);
  }

  /// Does `change` to the version and then, if nothing was thrown, `same` to its model.
  template <class Change, class Same>
  static void both(pair& p, Change change, Same same) {
    try {
      change(p.version);
    } catch (planned_failure const&) {
      return;
    }
    failures::none();
    same(p.model);
  }

  /// Puts into the pool the version that `make` returns, if it returns.
  template <class Make>
  void keep(Make make, std::deque<int> model) {
    std::optional<D> made;
    try {
      made.emplace(make());
    } catch (planned_failure const&) {
      return;
    }
    failures::none();
    std::size_t const at = pool_.size() < most_versions ? pool_.size() : byte() % pool_.size();
    if (at == pool_.size()) pool_.emplace_back();
    pool_[at] = pair{std::move(*made), std::move(model)};
  }

  void command(std::size_t c) {
    // This command may fail half-way.
    if (c >= 128) failures::after(static_cast<long>(byte() % 40));
    pair& p = any();
    bool const front = c % 2 == 0;
    switch (c % 128 / 2 % 14) {
      case 0:
      case 1:
        return push(p, front);
      case 2:
        return pop(p, front);
      case 3:
        return push_many(p, front, byte());
      case 4:
        return pop_many(p, front, byte());
      case 5:
        return keep([&] { return p.version; }, p.model);
      case 6:
        return push_own(p, front);
      case 7:
        return keep_pushed(p, front);
      case 8:
        return keep_popped(p, front);
      case 9:
        return split(p, front);
      case 10:
        return concat(p, any());
      case 11:
        return replace(p, front);
      case 12:
        return exchange(p, any(), front);
      case 13:
        return compare(p, any());
    }
  }

  void push(pair& p, bool front) {
    int const v = fresh_value();
    if (front)
      both(p, [&](D& d) { d.push_front(v); }, [&](auto& m) { m.push_front(v); });
    else
      both(p, [&](D& d) { d.emplace_back(v); }, [&](auto& m) { m.push_back(v); });
  }

  void pop(pair& p, bool front) {
    std::optional<int> popped;
    auto const take = [&](D& d) {
      if (next_value_ % 2 == 0) {
        auto const e = front ? d.try_pop_front() : d.try_pop_back();
        if (e) popped = e->value();
        return;
      }
      try {
        popped = (front ? d.pop_front() : d.pop_back()).value();
      } catch (std::out_of_range const&) {
      }
    };
    both(p, take, [&](auto& m) {
      require(popped.has_value() == !m.empty(), "a pop finds something, unless there is nothing");
      if (!popped) return;
      require(*popped == (front ? m.front() : m.back()), "a pop takes what is at the end");
      if (front)
        m.pop_front();
      else
        m.pop_back();
    });
  }

  void push_many(pair& p, bool front, std::size_t n) {
    failures::none();
    if (p.model.size() + n > most_elements) return;
    for (std::size_t i = 0; i != n; ++i) push(p, front);
  }
  void pop_many(pair& p, bool front, std::size_t n) {
    failures::none();
    for (std::size_t i = 0; i != n && !p.model.empty(); ++i) pop(p, front);
  }

  /// The pushed element is a reference into the deque itself.
  void push_own(pair& p, bool front) {
    if (p.model.empty()) return;
    std::size_t const i = index_in(p);
    int const v = p.model[i];
    if (front)
      both(p, [&](D& d) { d.push_front(d[i]); }, [&](auto& m) { m.push_front(v); });
    else
      both(p, [&](D& d) { d.push_back(d[i]); }, [&](auto& m) { m.push_back(v); });
  }

  void keep_pushed(pair& p, bool front) {
    int const v = fresh_value();
    auto model = p.model;
    if (front)
      model.push_front(v);
    else
      model.push_back(v);
    keep([&] { return front ? p.version.pushed_front(v) : p.version.pushed_back(v); }, model);
  }

  void keep_popped(pair& p, bool front) {
    if (p.model.empty()) return;
    auto model = p.model;
    int const v = front ? model.front() : model.back();
    if (front)
      model.pop_front();
    else
      model.pop_back();
    keep(
        [&] {
          auto popped = front ? p.version.popped_front() : p.version.popped_back();
          require(popped && popped->first.value() == v, "popped gives the element at the end");
          return std::move(popped->second);
        },
        model);
  }

  void split(pair& p, bool rejoin) {
    if (p.model.empty()) return;
    std::size_t const i = index_in(p);
    auto const middle = p.model.begin() + static_cast<std::ptrdiff_t>(i);
    std::deque<int> const left(p.model.begin(), middle);
    std::deque<int> const right(middle, p.model.end());
    if (rejoin)
      return keep(
          [&] {
            auto const parts = p.version.split_at(i);
            return parts.first.concat(parts.second);
          },
          p.model);
    D const whole = p.version;  // `p` may be destroyed when the first part is kept
    keep([&] { return whole.take(i); }, left);
    keep([&] { return whole.drop(i); }, right);
  }

  void concat(pair& p, pair& q) {
    if (p.model.size() + q.model.size() > most_elements) return;
    auto model = p.model;
    model.insert(model.end(), q.model.begin(), q.model.end());
    keep([&] { return p.version.concat(q.version); }, model);
  }

  void replace(pair& p, bool in_place) {
    if (p.model.empty()) return;
    std::size_t const i = index_in(p);
    int const v = fresh_value();
    auto model = p.model;
    model[i] = v;
    if (!in_place) return keep([&] { return p.version.set(i, v); }, model);
    // An rvalue is reused: other versions must not see it, and a failure must leave it unchanged.
    both(
        p, [&](D& d) { d = std::move(d).update(i, [&](element const&) { return v; }); },
        [&](auto& m) { m = model; });
  }

  void exchange(pair& p, pair& q, bool move) {
    if (!move || &p == &q) return std::swap(p, q);
    p.version = std::move(q.version);
    p.model = std::exchange(q.model, {});
  }

  void compare(pair const& p, pair const& q) {
    failures::none();
    require((p.version == q.version) == (p.model == q.model), "equal if the elements are");
    require((p.version <=> q.version) == (p.model <=> q.model), "ordered as the elements are");
  }

  static void look_at(pair const& p) {
    D const& d = p.version;
    std::deque<int> const& m = p.model;
    if (char const* const invariant = detail::invariants::broken(d)) throw broken_law(invariant);
    require(d.size() == m.size() && d.empty() == m.empty(), "size");

    auto expected = m.begin();
    d.for_each_segment([&](std::span<element const> run) {
      require(!run.empty(), "no segment is empty");
      for (element const& e : run) require(e.value() == *expected++, "segments");
    });
    require(expected == m.end(), "segments hold all");

    // By iterator and by index, the places that are likely to be wrong: the ends and strides.
    std::size_t const stride = m.size() / 16 + 1;
    for (std::size_t i = 0; i < m.size(); i += stride) {
      require(d[i].value() == m[i], "index");
      require((d.begin() + static_cast<std::ptrdiff_t>(i))->value() == m[i], "iterator");
      require((d.end() - static_cast<std::ptrdiff_t>(i + 1))->value() == m[m.size() - 1 - i],
              "iterator from the end");
    }
    if (!m.empty())
      require(d.front().value() == m.front() && d.back().value() == m.back(), "front and back");
  }

  std::span<std::uint8_t const> program_;
  std::vector<pair> pool_ = std::vector<pair>(1);
  int next_value_ = 0;
};

}  // namespace weft::tests
