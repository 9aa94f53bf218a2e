// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <type_traits>

#include <weft/effects/effects.hpp>

/// Which i > j > k, of n at the most, have the sum n?  The answer is the sum of their hashes.
///
/// Each of the three is found by flipping a coin, repeatedly: this number, or a smaller one?  If no
/// number is left, or the sum is wrong, the program fails, and this alternative counts 0.  The
/// handler of flip resumes it with either side, and adds.
///
/// Kinds of clause: flip is a multi-shot coroutine; fail, which is handled inside, is a control
/// clause that drops its continuation.  It measures resuming twice, millions of times, at the end
/// of up to n flips.
///
/// The policy decides how a flip is resumed again.  The program keeps only numbers across a flip,
/// which may be copied byte by byte, and so may the handler inside; so both policies work.
namespace effect_suite::triples {

struct coin {
  struct [[nodiscard]] flip : weft::op<bool> {};
  using operations = weft::op_list<flip>;
};
struct failure {
  struct [[nodiscard]] fail : weft::op<weft::never> {};
  using operations = weft::op_list<fail>;
};

constexpr std::uint64_t modulus = 1'000'000'007;

/// A number from most down to 1.
inline weft::eff<int, coin, failure> choice(int most) {
  for (int n = most; n >= 1; --n) {
    bool const this_one = co_await coin::flip{};
    if (this_one) co_return n;
  }
  co_await failure::fail{};
}

struct triple {
  int i;
  int j;
  int k;
};

inline weft::eff<triple, coin, failure> choose_triple(int n, int sum) {
  int const i = co_await choice(n);
  int const j = co_await choice(i - 1);
  int const k = co_await choice(j - 1);
  if (i + j + k != sum) co_await failure::fail{};
  co_return triple{i, j, k};
}

inline std::uint64_t hash(triple t) {
  auto const mixed =
      53 * std::int64_t(t.i) + 2'809 * std::int64_t(t.j) + 148'877 * std::int64_t(t.k);
  return static_cast<std::uint64_t>(mixed) % modulus;
}
inline weft::eff<std::uint64_t, coin, failure> hash_of_triple(int n) {
  triple const t = co_await choose_triple(n, n);
  co_return hash(t);
}

struct counts_for_nothing : weft::handler<failure> {
  std::uint64_t on(failure::fail, weft::resumption<weft::never, std::uint64_t>) const { return 0; }
};
static_assert(std::is_trivially_copyable_v<counts_for_nothing>);

inline weft::eff<std::uint64_t, coin> hash_or_nothing(int n) {
  co_return co_await weft::handle(counts_for_nothing(), hash_of_triple(n));
}

struct adds_both_sides : weft::handler<coin> {
  weft::eff<std::uint64_t> on(coin::flip, weft::multi_resumption<bool, std::uint64_t> k) const {
    std::uint64_t const with = co_await k(true);
    std::uint64_t const without = co_await k(false);
    co_return (with + without) % modulus;
  }
};

template <class Policy>
std::uint64_t program(int n) {
  auto const search = [n] { return hash_or_nothing(n); };
  return weft::run(weft::handle(adds_both_sides(), search, Policy()));
}

}  // namespace effect_suite::triples
