// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <type_traits>

#include <weft/effects/effects.hpp>

/// How many ways are there to place n queens on a board of n columns, so that none attacks another?
///
/// In one column after the other a row is picked, and a pick that is attacked fails.  The program
/// does not backtrack by itself: its handler resumes each pick with every row, and adds up how many
/// of them led to a full board.
///
/// Kinds of clause: pick is a multi-shot coroutine, as it adds after each resume; fail is a control
/// clause that drops its continuation.  It measures resuming n times, where most continuations fail
/// at once.
///
/// The policy decides how a pick is resumed again.  The program keeps only numbers and pointers
/// across a pick, which may be copied byte by byte, so both policies work.
namespace effect_suite::nqueens {

struct search {
  /// One of the rows 1 .. rows.
  struct [[nodiscard]] pick : weft::op<int> {
    explicit pick(int n) : rows(n) {}
    int rows;
  };
  /// The current board cannot be completed.
  struct [[nodiscard]] fail : weft::op<weft::never> {};
  using operations = weft::op_list<pick, fail>;
};
static_assert(std::is_trivially_copyable_v<search::pick>);

/// A list of queens, the newest one first.  Null is the empty list.
struct queens {
  int row;
  queens const* rest;
};

/// Owns the cells of all lists.  A search that backtracks removes the cells added since, so this is
/// a stack.
class lists {
 public:
  queens const* cons(int row, queens const* rest) {
    return &cells_.emplace_back(queens{row, rest});
  }
  [[nodiscard]] std::size_t size() const { return cells_.size(); }
  void back_to(std::size_t size) {
    while (cells_.size() != size) cells_.pop_back();
  }

 private:
  std::deque<queens> cells_;
};

/// Whether a queen in the next column is attacked by none of these.
inline bool is_safe(int row, queens const* placed) {
  for (int diagonal = 1; placed; placed = placed->rest, ++diagonal)
    if (row == placed->row || row == placed->row + diagonal || row == placed->row - diagonal)
      return false;
  return true;
}

/// Places queens in `columns` columns.
inline weft::eff<queens const*, search> place(int rows, int columns, lists* in) {
  if (columns == 0) co_return nullptr;
  queens const* const rest = co_await place(rows, columns - 1, in);
  int const row = co_await search::pick{rows};
  if (!is_safe(row, rest)) co_await search::fail{};
  co_return in->cons(row, rest);
}

/// Tries every row, and answers with the number of full boards.
class every_row : public weft::handler<search> {
 public:
  explicit every_row(lists& l) : lists_(l) {}

  weft::eff<std::uint64_t> on(search::pick p, weft::multi_resumption<int, std::uint64_t> k) const {
    std::size_t const known = lists_.size();
    std::uint64_t boards = 0;
    for (int row = 1; row <= p.rows; ++row) {
      std::uint64_t const found = co_await k(row);
      boards += found;
      lists_.back_to(known);
    }
    co_return boards;
  }
  std::uint64_t on(search::fail, weft::resumption<weft::never, std::uint64_t>) const { return 0; }
  std::uint64_t on_return(queens const*) const { return 1; }

 private:
  lists& lists_;
};

template <class Policy>
std::uint64_t program(int n) {
  lists all;
  auto const board = [n, in = &all] { return place(n, n, in); };
  return weft::run(weft::handle(every_row(all), board, Policy()));
}

}  // namespace effect_suite::nqueens
