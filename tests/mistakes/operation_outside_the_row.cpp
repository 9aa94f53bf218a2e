// SPDX-License-Identifier: MIT

/// Mistake: an operation that the row does not have

#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>

using namespace weft;

eff<void, proc> greets() { co_await console::print_line("hello"); }
int main() { schedule(greets); }
