// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "tests/support/random_programs/handlers.hpp"
#include "tests/support/random_programs/handlers_world.hpp"
#include "weft/effects/effects.hpp"

/// Random programs: they install handlers of every kind in every way, perform and resume.  The
/// actions of destructors, clauses and on_return are in handlers_world.hpp and handlers.hpp.
namespace weft::tests::handlers {

// ---- handlers that are owned, borrowed or in a region

template <class E, class Kind>
eff<int, everything> under_owned(world& w, int depth) {
  guard const at_the_end(w);
  co_return co_await handle<E>(Kind(w), performs(w, depth));
}
template <class E, class Kind>
eff<int, everything> under_lent(world& w, int depth) {
  guard const at_the_end(w);
  Kind lent(w);
  co_return co_await handle<E>(lent, performs(w, depth));
}
template <class E, class Kind>
eff<int, everything> under_region(world& w, int depth) {
  guard const at_the_end(w);
  auto& handler = w.open<Kind>();
  co_return co_await handle<E>(handler, performs(w, depth));
}
template <class E, class Kind>
eff<int, everything> under(world& w, int depth) {
  switch (w.one_of(4)) {
    case 0:
      return under_owned<E, Kind>(w, depth);
    case 1:
      return under_lent<E, Kind>(w, depth);
    default:
      return under_region<E, Kind>(w, depth);
  }
}

template <class E>
eff<int, everything> under_one(world& w, int depth) {
  switch (w.one_of(10)) {
    case 0:
      return under<look, looking>(w, depth);
    case 1:
      return under<look, asking>(w, depth);
    case 2:
      return under_owned<E, working<E, row<>>>(w, depth);
    case 3:
      return under_owned<E, working<E, look>>(w, depth);
    case 4:
    case 5:
    case 6:
      return under<E, working<E, everything>>(w, depth);
    case 7:
      return under<E, jumping<E>>(w, depth);
    default:
      return under<E, keeping<E>>(w, depth);
  }
}

/// Under several handlers at once, where a borrowed one may be inside a region.
inline eff<int, everything> under_several(world& w, int depth) {
  guard const at_the_end(w);
  keeping<nap> lent(w);
  working<trip, everything> lent_too(w);
  switch (w.one_of(4)) {
    case 0: {
      auto& outside = w.open<keeping<trip>>();
      co_return co_await handle(with<nap>(lent) | with<trip>(outside), performs(w, depth));
    }
    case 1:
      co_return co_await handle(with<trip>(lent_too) | with<nap>(keeping<nap>(w)),
                                performs(w, depth));
    case 2: {
      auto& outside = w.open<keeping<trip>>();
      co_return co_await handle(
          with<nap>(working<nap, everything>(w)) | with<look>(asking(w)) | with<trip>(outside),
          performs(w, depth));
    }
    default: {
      auto& inside = w.open<jumping<nap>>();
      co_return co_await handle(with<nap>(inside) | with<trip>(keeping<trip>(w)),
                                performs(w, depth));
    }
  }
}

// ---- programs

inline eff<int, everything> step(world& w, int depth) {
  guard const at_the_end(w);
  switch (w.one_of(depth > 0 ? 14 : 8)) {
    case 0:
      co_return co_await nap::park{};
    case 1:
      co_return co_await trip::park(std::make_shared<guard>(w));
    case 2: {
      trip::park named(std::make_shared<guard>(w));
      co_return co_await named;
    }
    case 3:
      co_return co_await look::number{};
    case 4: {
      std::string const text = co_await look::text{};
      co_return static_cast<int>(text.size());
    }
    case 5:
      if (w.one_in(8)) co_return co_await outer_of<nap>(nap::park{});
      [[fallthrough]];
    case 6:
      if (w.is_anything_parked()) co_return co_await resumes_another<everything>(w);
      [[fallthrough]];
    case 7:
      w.act();
      co_return 0;
    case 8:
    case 9:
      co_return co_await under_one<nap>(w, depth - 1);
    case 10:
    case 11:
      co_return co_await under_one<trip>(w, depth - 1);
    default:
      co_return co_await under_several(w, depth - 1);
  }
}

inline eff<int, everything> performs(world& w, int depth) {
  guard const at_the_end(w);
  int sum = 0;
  for (unsigned steps = w.one_of(6); steps != 0 && w.goes_on(); --steps) {
    bool failed = false;
    try {
      int const n = co_await step(w, depth);
      sum = (sum + n) % 1000;
    } catch (...) {
      w.caught();
      failed = true;
    }
    if (failed && w.one_in(2)) throw thrown();
  }
  co_return sum;
}

/// Starts a program from ordinary code, under regions that outlast it.
inline void start(world& w) {
  auto& naps = w.open<keeping<nap>>();
  auto& trips = w.open<jumping<trip>>();
  try {
    run(handle<look>(looking(w), handle<trip>(trips, handle<nap>(naps, performs(w, 7)))));
  } catch (...) {
    w.caught();
  }
}

/// A complaint about the objects that a program leaves; empty if there are none.
inline std::string left_by(tests::program_of_acts const& choices, tally& happened) {
  {
    world w(choices.all[0].acts, happened, start);
    w.live();
  }
  auto const left = thing::births - thing::deaths;
  return left == 0 ? "" : std::to_string(left) + " objects are left";
}

}  // namespace weft::tests::handlers
