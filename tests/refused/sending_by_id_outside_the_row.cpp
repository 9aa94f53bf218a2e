// SPDX-License-Identifier: MIT
#include "sched/schedule.hpp"

using weft::mail;

weft::eff<void, mail> sends(weft::process_id to) { co_await weft::send(to, 1); }

int main() { (void)&sends; }
