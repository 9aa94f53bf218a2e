// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <source_location>
#include <type_traits>

#include "weft/effects/detail/result_slot.hpp"
#include "weft/effects/detail/row_set.hpp"

/// Evidence: how an operation finds its clause.
///
/// To an operation, a handler is a table of clauses (a dictionary, as in Koka's generalized
/// evidence passing: Xie, Leijen, DOI 10.1145/3473576).  A frame has one pointer to the handlers of
/// its row:
///
///   EVIDENCE-1  For the empty row the pointer is null.  For a row of one effect it points to the
///       handler of that effect; otherwise to an array of handlers, in the order of the row.
///   EVIDENCE-2  If the rows of caller and callee differ, the caller's awaiter holds the array of
///       the callee.  If they are the same, the callee uses the array of the caller.
///   EVIDENCE-3  A prompt has its own array for its body, because the caller's array may be gone
///       when the body is resumed.
namespace weft::detail {

class prompt;
template <class E>
struct evidence;

/// The type in which an operation is passed to a clause: a small trivially copyable operation is
/// passed by value, and so in registers.
template <class O>
struct passing
    : std::conditional<std::is_trivially_copyable_v<O> && sizeof(O) <= 2 * sizeof(void*), O, O&> {};
template <class O>
using passed = typename passing<O>::type;  // a short name, because many symbols contain it

/// The functions that answer one operation, for the clause of its handler.
template <class E, class O>
struct clause_entry {
  using result = typename O::result;
  /// Called before `control`.  Null, unless the handler records (replay_log.hpp), or is a scheduler
  /// that may answer the operation at once.  True: the answer is filled in, and nothing was
  /// suspended.  False: `control` is to be called.
  bool (*attempt)(evidence<E>&, O&, result_slot<result>&);
  /// Answers at once, or throws.  If `control` is null, it answers each operation; else only those
  /// that a value clause further in performs outward.  Null if the clause takes the resumption.
  result (*ask)(evidence<E>&, passed<O>, std::source_location);
  /// Suspends the chain from `leaf`, whose answer goes into the slot, and runs the clause.  Returns
  /// the frame to run next.
  std::coroutine_handle<> (*control)(evidence<E>&, O&, std::coroutine_handle<> leaf,
                                     result_slot<result>&);

  /// Whether `ask` is the only function that is called.  True for a value clause, unless its
  /// handler records.
  [[nodiscard]] bool is_only_asked() const noexcept { return !control; }
};

template <class E, class Operations>
struct clause_table;
template <class E, class... Os>
struct clause_table<E, op_list<Os...>> : clause_entry<E, Os>... {
  /// The prompt of the handler.
  prompt& (*prompt_of)(evidence<E>&) noexcept;
  /// The next handler of E further out; null if there is none.
  evidence<E>* (*beyond)(evidence<E>&) noexcept;
};

/// A handler of `E`, as operations see it.  The table may be exchanged when the handler ends.
template <class E>
struct evidence {
  using table = clause_table<E, typename E::operations>;
  table const* clauses;

  template <class O>
  [[nodiscard]] clause_entry<E, O> const& clause() const noexcept {
    return *clauses;
  }
};

/// Fills in the answer, or the exception, if the handler answers at once.  False if it does not.
template <class E, class O>
bool answered_at_once(evidence<E>& e, O& o, result_slot<typename O::result>& waiting) {
  auto const& clause = e.template clause<O>();
  if (!clause.is_only_asked()) return clause.attempt && clause.attempt(e, o, waiting);
  try {
    waiting.set_from(clause.ask, e, static_cast<passed<O>>(o), waiting.where);
  } catch (...) {
    waiting.fail(std::current_exception());
  }
  return true;
}

/// The handler of `E` in the evidence of a row (EVIDENCE-1).
template <class E, class Row>
evidence<E>* find(void* all) noexcept {
  if constexpr (size_of_row<Row> == 1)
    return static_cast<evidence<E>*>(all);
  else
    return static_cast<evidence<E>*>(static_cast<void**>(all)[place_of<E, Row>]);
}

/// A source for gathered::fill(): finds the evidence of an effect in `all`, the evidence of the row
/// `From`.
template <class From>
struct found_in {
  void* all;
  template <class E>
  void* operator()() const noexcept {
    return find<E, From>(all);
  }
};
/// A source for gathered::fill(): finds the evidence that the prompt `p` gives its body for an
/// effect.
template <class Prompt>
struct given_by {
  Prompt& p;
  template <class E>
  void* operator()() const noexcept {
    return p.template evidence_for_body<E>();
  }
};

/// Evidence of a row, gathered from any source (EVIDENCE-1).
template <class Row>
class gathered;
template <class... Es>
class gathered<row<Es...>> {
 public:
  template <class Find>  // find.template operator()<E>() gives the evidence of E
  void fill([[maybe_unused]] Find find) noexcept {
    [[maybe_unused]] std::size_t i = 0;
    ((all_[i++] = find.template operator()<Es>()), ...);
  }
  [[nodiscard]] void* view() noexcept {
    if constexpr (sizeof...(Es) == 0)
      return nullptr;
    else if constexpr (sizeof...(Es) == 1)
      return all_[0];
    else
      return all_.data();
  }
  template <class E>
  [[nodiscard]] evidence<E>* get() const noexcept {
    return static_cast<evidence<E>*>(all_[place_of<E, row<Es...>>]);
  }

 private:
  std::array<void*, sizeof...(Es)> all_{};
};

/// Makes the evidence of the row `To` from that of the row `From`, which includes `To`
/// (EVIDENCE-2).  This object holds an array only if the rows differ and `To` has at least two
/// effects.
template <class To, class From>
class projection {
 public:
  void* view(void* from) noexcept {
    all_.fill(found_in<From>{from});
    return all_.view();
  }

 private:
  gathered<To> all_;
};
template <class Row>
class projection<Row, Row> {
 public:
  void* view(void* from) noexcept { return from; }
};
template <class E, class From>
  requires(!std::is_same_v<row<E>, From>)
class projection<row<E>, From> {
 public:
  void* view(void* from) noexcept { return find<E, From>(from); }
};
template <class From>
  requires(!std::is_same_v<row<>, From>)
class projection<row<>, From> {
 public:
  void* view(void*) noexcept { return nullptr; }
};

}  // namespace weft::detail
