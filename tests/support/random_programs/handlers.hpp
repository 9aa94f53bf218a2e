// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "tests/support/random_programs/handlers_world.hpp"
#include "weft/effects/effects.hpp"

/// The effects of random programs, and the kinds of their handlers.
namespace weft::tests::handlers {

// ---- effects: two that suspend, one of them with data, and one that is answered at once

struct nap {
  struct park : op<int> {};
  using operations = op_list<park>;
};
struct trip {
  struct park : op<int> {
    explicit park(std::shared_ptr<guard> l) : luggage(std::move(l)) {}
    std::shared_ptr<guard> luggage;
  };
  using operations = op_list<park>;
};
struct look {
  struct number : op<int> {};
  struct text : op<std::string> {};
  using operations = op_list<number, text>;
};
using everything = row<nap, trip, look>;

/// A program, which starts other programs, up to a depth (handlers_programs.hpp).
inline eff<int, everything> performs(world& w, int depth);

// ---- kinds of handlers

/// The base of all kinds: checks that the handler is alive whenever it is used.
class kind {
 public:
  explicit kind(world& w, bool may_end = false) noexcept : world_(&w), may_end_(may_end) {}

 protected:
  world& here() const {
    (void)alive_.value();
    return *world_;
  }
  /// Whether the handler is in a region, which may end while a clause runs: the clause must not
  /// access the handler after that.
  bool may_end() const { return may_end_; }

 private:
  world* world_;
  bool may_end_;
  thing alive_ = 1;
};

/// A kind that sees the result of its body.
class kind_that_returns : public kind {
 public:
  using kind::kind;
  int on_return(int n) const {
    world& w = here();
    w.act();
    if (w.one_in(9)) throw thrown();
    return n + 1;
  }
};

/// Control clauses: the continuation is dropped, resumed or parked.
template <class E>
class keeping : public kind_that_returns {
 public:
  using kind_that_returns::kind_that_returns;
  int on(typename E::park, rest k) const {
    world& w = here();
    w.act();
    switch (w.one_of(6)) {
      case 0:
        return 0;
      case 1:
        throw thrown();
      case 2:
        return w.may_nest() ? w.resume_with(std::move(k), 2) : 1;
      default:
        w.park(std::move(k));
        w.act();  // this may end the handler itself
        return 9;
    }
  }
};

/// Control clauses that jump: into their continuation, or into another.
template <class E>
class jumping : public kind {
 public:
  using kind::kind;
  outcome<int> on(typename E::park, rest k) const {
    world& w = here();
    w.act();
    switch (w.one_of(6)) {
      case 0:
        return 0;
      case 1:
        throw thrown();
      case 2:
        w.park(std::move(k));
        return jump_to_parked(w);
      case 3: {
        outcome<int> jump = std::move(k).last(2);
        w.act();  // this may end the region that the jump leads into
        return jump;
      }
      default:
        ++w.happened.jumped;
        return std::move(k).last(2);
    }
  }

 private:
  static outcome<int> jump_to_parked(world& w) {
    try {
      outcome<int> jump = w.take().last(4);
      ++w.happened.jumped_to_parked;
      return jump;
    } catch (...) {
      w.caught();
      return 1;
    }
  }
};

/// Awaits a one-shot resumption twice.
template <class Effects>
eff<int, Effects> resumes_twice(world& w, rest k) {
  int const first = co_await std::move(k)(7);
  ++w.happened.awaited;
  bool refused = false;
  try {
    co_await std::move(k)(7);
  } catch (resumption_empty const&) {
    refused = true;
    w.caught();
  }
  if (!refused) throw std::logic_error("a resumption was resumed twice");
  co_return first;
}

/// Awaits some parked resumption.
template <class Effects>
eff<int, Effects> resumes_another(world& w) {
  rest k = w.take();
  int const n = co_await std::move(k)(6);
  ++w.happened.awaited;
  co_return n;
}

/// A clause of the coroutine kind: first other operations, if its effects allow, then the
/// continuation.
template <class Effects>
eff<int, Effects> works(world& w, rest k) {
  guard const first(w);
  w.act();
  if constexpr (std::is_same_v<Effects, everything>) {
    guard const second(w);
    if (w.one_in(3)) co_await nap::park{};
    if (w.one_in(3)) co_await performs(w, 1);
  }
  if constexpr (std::is_same_v<Effects, look>) co_await look::number{};
  switch (w.one_of(8)) {
    case 0:
      co_return 3;
    case 1:
      throw thrown();
    case 2:
      w.park(std::move(k));
      co_return 2;
    case 3:
      co_return co_await resumes_twice<Effects>(w, std::move(k));
    case 4:
      w.park(std::move(k));
      co_return co_await resumes_another<Effects>(w);
    default: {
      int const n = co_await std::move(k)(8);
      ++w.happened.awaited;
      w.act();
      co_return n;
    }
  }
}

template <class E, class Effects>
class working : public kind_that_returns {
 public:
  using kind_that_returns::kind_that_returns;
  eff<int, Effects> on(typename E::park, rest k) const {
    bool const stays = !may_end();
    int const n = co_await works<Effects>(here(), std::move(k));
    if (stays) here();
    co_return n;
  }
};

/// Value clauses.
class looking : public kind {
 public:
  using kind::kind;
  int on(look::number) const {
    here().act();
    return 1;
  }
  std::string on(look::text) const {
    here();
    return std::string(50, 'a');
  }
};

/// Value clauses that ask outward, sometimes for operations that are refused.
class asking : public kind {
 public:
  using kind::kind;
  int on(look::number, outer<everything> up) const {
    world& w = here();
    w.act();
    return w.one_in(4) ? up(nap::park{}) : up(look::number{});
  }
  std::string on(look::text, outer<look> up) const {
    here().act();
    return up(look::text{}) + "b";
  }
};

}  // namespace weft::tests::handlers
