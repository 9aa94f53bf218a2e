// SPDX-License-Identifier: MIT
#include "tests/support/random_programs/dialect.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "tests/support/dice.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/program.hpp"

namespace weft::tests {

namespace {

/// Where a statement stands.
struct place {
  unsigned depth = 0;  // that is left
  bool is_first = false;
  bool is_of_process = true;  // outside of scopes
  bool is_in_scope = false;
  bool is_shielded = false;
  bool may_fail = true;

  /// A part of a statement.
  [[nodiscard]] place inside(act a, dialect const& d) const {
    using enum act;
    place in = *this;
    --in.depth;
    if (a != spawns) in.is_of_process = false;
    if (begins_others(a)) in.is_first = false;
    if (a == opens_scope || a == opens_scope_for || (a >= does_in_scope && a <= awaits_all))
      in.is_in_scope = true;
    if (a == spawns || a == starts_alone) in.is_in_scope = false;
    if (a == shields) in.is_shielded = true;
    if (a == races && !d.one_of_races_fails) in.may_fail = false;
    return in;
  }
};

class drawing {
 public:
  drawing(dice& random, dialect const& d) : random_(random), d_(d), left_(d.size) {}

  program_of_acts draws() {
    program_of_acts p;
    p.capacity = 1 + random_(2);
    p.permits = random_(2);
    p.gates = 1 + random_(d_.gates);
    p.ends_at = d_.ends_at;
    p.forks = random_(d_.forks + 1);
    words_ = d_.always;
    for (unsigned n = 1 + random_(d_.most_themes); n != 0; --n) {
      theme const& t = d_.themes[random_(count(d_.themes))];
      words_.insert(words_.end(), t.begin(), t.end());
    }
    place at;
    at.depth = d_.depth;
    at.is_of_process = d_.ends_at == 0;
    at.is_in_scope = d_.ends_at != 0;
    at.may_fail = d_.never_fails == 0 || random_(d_.never_fails) != 0;
    for (unsigned n = d_.processes + random_(d_.more_processes + 1); n != 0; --n) {
      at.is_first = p.all.empty();
      life& each = p.all.emplace_back();
      each.is_forkable = d_.forkable_ones && random_(3) == 0;
      bool const has_other_words = each.is_forkable && !d_.of_forkable_ones.empty();
      each.acts = draws(has_other_words ? d_.of_forkable_ones : words_, 1 + random_(d_.acts), at);
    }
    return p;
  }

 private:
  template <class T>
  static unsigned count(T const& all) {
    return static_cast<unsigned>(all.size());
  }
  [[nodiscard]] bool may(act a, place const& at) const {
    if (at.depth == 0 && parts_of(a).most != 0) return false;
    if (is_the_firsts(a) && !at.is_first) return false;
    if (is_of_processes(a) && !at.is_of_process) return false;
    if (needs_scope(a) && !at.is_in_scope) return false;
    if (d_.ends_by_itself && at.is_shielded && may_wait_forever(a)) return false;
    return at.may_fail || a != act::throws;
  }
  int from_to(int least, int most) {
    return least + static_cast<int>(random_(static_cast<unsigned>(most - least + 1)));
  }
  /// The number of a statement.
  int number(act a) {
    using enum act;
    if (takes_time(a)) return from_to(1, d_.most_time);
    if (a >= waits_at_gate && a <= counts_waiting)
      return from_to(0, static_cast<int>(d_.gates) - 1);
    if (a >= picks && a <= picks_deep) return from_to(1, 5);
    switch (a) {
      case cancels:
        return from_to(0, 3);
      case repeats:
        return from_to(1, 3);
      case fails:
      case throws:
      case ends_part:
        return from_to(1, 5);
      case adds:
      case sets_variable:
      case copies_variable:
      case shows_variable:
        return from_to(0, 29);
      case prints:
      case prints_which:
        return from_to(1, 999);
      case chooses:
        return from_to(0, 0xffff);
      default:
        return 0;
    }
  }
  block draws(theme const& from, unsigned n, place const& at) {
    theme words;
    std::ranges::copy_if(from, std::back_inserter(words), [&](act a) { return may(a, at); });
    block b;
    for (; n != 0 && left_ != 0 && !words.empty(); --n) {
      --left_;
      act const a = words[random_(count(words))];
      statement& s = b.emplace_back(a, number(a));
      auto const parts = parts_of(a);
      if (parts.most == 0) continue;
      std::vector<block> all(parts.least + random_(parts.most - parts.least + 1));
      for (block& part : all)
        part = draws(from, random_(8) == 0 ? 0 : 1 + random_(d_.part), at.inside(a, d_));
      s.parts = std::move(all);
    }
    return b;
  }

  dice& random_;
  dialect const& d_;
  unsigned left_;
  theme words_;
};

}  // namespace

program_of_acts random_program(dice& random, dialect const& d) {
  for (;;) {
    program_of_acts p = drawing(random, d).draws();
    if (!d.accepts || d.accepts(p)) return p;
  }
}

}  // namespace weft::tests
