// SPDX-License-Identifier: MIT
#include "examples/hello.hpp"

#include <iostream>

#include "sched/schedule.hpp"

int main() { weft::schedule(hello, weft::console_to_stream(std::cout)); }
