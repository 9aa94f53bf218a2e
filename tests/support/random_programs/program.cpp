// SPDX-License-Identifier: MIT
#include "tests/support/random_programs/program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <iterator>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/random_programs/acts.hpp"

namespace weft::tests {

namespace {

/// The compiler names the enumerator in the name of the function.
template <act A>
std::string_view name_in_signature() {
  std::string_view s = std::source_location::current().function_name();
  s.remove_prefix(s.find("act::") + 5);
  return s.substr(0, s.find_first_of("];"));
}
template <std::size_t... Is>
std::array<std::string_view, sizeof...(Is)> all_names(std::index_sequence<Is...>) {
  return {name_in_signature<static_cast<act>(Is)>()...};
}

bool has_in(block const& b, std::function<bool(statement const&)> const& is) {
  return std::ranges::any_of(b, [&](statement const& s) {
    return is(s) ||
           std::ranges::any_of(s.parts, [&](block const& part) { return has_in(part, is); });
  });
}
std::size_t size_of(block const& b) {
  std::size_t n = b.size();
  for (statement const& s : b)
    for (block const& part : s.parts) n += size_of(part);
  return n;
}
std::string text(block const& b) {
  std::string all;
  for (statement const& s : b) {
    all += (all.empty() ? "" : " ") + std::string(name_of(s.what));
    if (s.n != 0) all += '(' + std::to_string(s.n) + ')';
    for (block const& part : s.parts) all += " {" + text(part) + '}';
  }
  return all;
}

/// Makes a program smaller as long as something remains true.
class shrinking {
 public:
  shrinking(program_of_acts& p, std::function<bool(program_of_acts const&)> const& still)
      : p_(p), still_(still) {}

  void shrinks() {
    do {
      is_smaller_ = false;
      for (std::size_t i = 0; i != p_.all.size(); ++i) shrinks(p_.all[i].acts);
      for (life& each : p_.all) sets(each.is_forkable, false);
      sets(p_.forks, 0U);
    } while (is_smaller_);
    std::erase_if(p_.all, [](life const& each) { return each.acts.empty(); });
  }

 private:
  bool is_still() {
    bool const is = asked_++ < 3000 && still_(p_);
    is_smaller_ |= is;
    return is;
  }
  template <class T>
  void sets(T& at, T to) {
    if (at == to) return;
    T const before = std::exchange(at, to);
    if (!is_still()) at = before;
  }
  void shrinks(block& b) {
    // First many at once, then fewer.
    for (std::size_t many = b.size(); many != 0; many /= 2)
      for (std::size_t i = 0; i + many <= b.size();)
        if (!erases(b, i, many)) i += many;
    for (std::size_t i = 0; i != b.size(); ++i) {
      while (i != b.size() && unwraps(b, i)) {
      }
      if (i == b.size()) return;
      for (block& part : b[i].parts) shrinks(part);
      sets(b[i].n, 0);
      sets(b[i].n, b[i].n / 2);
    }
  }
  bool erases(block& b, std::size_t i, std::size_t many) {
    block before = b;
    auto const at = b.begin() + static_cast<std::ptrdiff_t>(i);
    b.erase(at, at + static_cast<std::ptrdiff_t>(many));
    if (is_still()) return true;
    b = std::move(before);
    return false;
  }
  /// Puts the parts of a statement in its place.
  bool unwraps(block& b, std::size_t i) {
    if (b[i].parts.empty()) return false;
    block before = b;
    block all;
    for (block& part : b[i].parts)
      all.insert(all.end(), std::make_move_iterator(part.begin()),
                 std::make_move_iterator(part.end()));
    auto const at = b.erase(b.begin() + static_cast<std::ptrdiff_t>(i));
    b.insert(at, all.begin(), all.end());
    if (is_still()) return true;
    b = std::move(before);
    return false;
  }

  program_of_acts& p_;
  std::function<bool(program_of_acts const&)> const& still_;
  bool is_smaller_ = false;
  int asked_ = 0;
};

}  // namespace

std::string_view name_of(act a) {
  static auto const names = all_names(std::make_index_sequence<acts_there_are>());
  return names.at(static_cast<std::size_t>(a));
}

bool takes_time(act a) {
  return a == act::sleeps || a == act::asks_child || name_of(a).ends_with("_for");
}
bool may_wait_forever(act a) {
  using enum act;
  // The wait at a condition locks as well.
  static constexpr std::array all{
      locks,          acquires,        waits_notified,  waits_notified_for, meets,
      waits_at_gate,  looks_and_waits, ends_gate,       waits_for_value,    waits_completion,
      awaits_given,   sends,           sends_to_second, sends_to_full,      receives,
      receives_alone, selects,         awaits};
  return std::ranges::find(all, a) != all.end();
}

bool program_of_acts::has(std::function<bool(statement const&)> const& is) const {
  return std::ranges::any_of(all, [&](life const& l) { return has_in(l.acts, is); });
}
std::string program_of_acts::text() const {
  std::string s = "capacity " + std::to_string(capacity) + ", permits " + std::to_string(permits) +
                  ", gates " + std::to_string(gates) + ", forks " + std::to_string(forks) +
                  ", ends at " + std::to_string(ends_at) + '\n';
  for (life const& l : all)
    s += (l.is_forkable ? "  forkable: " : "  process: ") + tests::text(l.acts) + '\n';
  return s;
}
std::size_t size_of(program_of_acts const& p) {
  std::size_t n = 0;
  for (life const& l : p.all) n += size_of(l.acts);
  return n;
}
program_of_acts smaller(program_of_acts p,
                        std::function<bool(program_of_acts const&)> const& still) {
  shrinking(p, still).shrinks();
  return p;
}

}  // namespace weft::tests
