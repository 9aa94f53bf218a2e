// SPDX-License-Identifier: MIT
#pragma once

/// The first line of every test: Catch2, the standard headers that tests use, effects, schedulers,
/// explorers, and the helpers that most tests share.  It is parsed once in each configuration
/// (cc_test.bzl).  A test includes beside it what few tests need, and each test is compiled in an
/// unnamed namespace of its own (tools/merge.awk), so it may give any name a meaning of its own.
#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <bit>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <compare>
#include <concepts>
#include <condition_variable>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <iterator>
#include <latch>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <ostream>
#include <random>
#include <ranges>
#include <semaphore>
#include <set>
#include <source_location>
#include <span>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/backends.hpp"
#include "tests/support/dice.hpp"
#include "tests/support/each_backend.hpp"
#include "tests/support/effects.hpp"
#include "tests/support/frames.hpp"
#include "tests/support/outside.hpp"
#include "tests/support/picks.hpp"
#include "tests/support/schedules.hpp"
#include "tests/support/seeds.hpp"
#include "tests/support/task_rows.hpp"
#include "tests/support/tasks.hpp"
#include "tests/support/threads.hpp"
#include "tests/support/thunks.hpp"
#include "tests/support/tracked.hpp"
#include "weft/deque/deque.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/backends/random_order.hpp"
#include "weft/sched/backends/sharing.hpp"
#include "weft/sched/backends/stealing.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sharing.hpp"
#include "weft/sched/stealing.hpp"
#include "weft/testing/testing.hpp"

using namespace weft;
using namespace weft::tests;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
