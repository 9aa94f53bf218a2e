// SPDX-License-Identifier: MIT

/// A program loads a shared library, uses it on several threads, and unloads it while these threads
/// continue.  Environment variables give the paths: LIBRARY, and HIDDEN_LIBRARY for the same
/// library with hidden visibility.

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <barrier>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "tests/shared_libraries/library.hpp"

using namespace weft;
using namespace weft::tests;

namespace {

/// Keeps the library loaded for its own lifetime.
class loaded {
 public:
  explicit loaded(char const* path) : handle_(dlopen(path, RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) FAIL(dlerror());
    auto const get = reinterpret_cast<library const* (*)()>(dlsym(handle_, "first_library"));
    if (!get) FAIL(dlerror());
    library_ = get();
  }
  loaded(loaded const&) = delete;
  loaded& operator=(loaded const&) = delete;
  ~loaded() { dlclose(handle_); }
  library const* operator->() const noexcept { return library_; }
  library const& operator*() const noexcept { return *library_; }

 private:
  void* handle_;
  library const* library_ = nullptr;
};

bool is_loaded(char const* path) {
  void* const still = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (still) dlclose(still);
  return still != nullptr;
}
char const* each_path() {
  auto const* const variable = GENERATE("LIBRARY", "HIDDEN_LIBRARY");
  auto const* const path = std::getenv(variable);
  if (!path) FAIL(variable << " names no library");
  return path;
}

/// Uses the library and the program in turn, as one thread does.
void uses(library const& there) {
  library const& here = *program_library();
  for (int i = 0; i != 200; ++i) {
    there.drops(here.sums(1));
    here.drops(there.sums(1));
    (void)here.answers(7, there.sums(3));
    (void)there.answers(7, here.sums(3));
    here.unwinds(there.sums(1));
    there.unwinds(here.sums(1));
  }
  (void)here.catches(there.throws(thrown::trouble));
  (void)there.catches(here.throws(thrown::cancelled));
}

}  // namespace

TEST_CASE(
    "threads that have used a library continue after it is unloaded, with the blocks that they "
    "keep") {
  auto const* const path = each_path();
  auto const before = detail::frames_so_far();
  constexpr int threads = 3;
  constexpr int rounds = 10;
  std::barrier together(threads + 1);
  library const* shared = nullptr;
  std::vector<std::optional<eff<int, ask>>> made(threads);
  {
    std::vector<std::jthread> all;
    for (int t = 0; t != threads; ++t)
      all.emplace_back([&, t] {
        for (int round = 0; round != rounds; ++round) {
          together.arrive_and_wait();  // the library is loaded
          uses(*shared);
          made[static_cast<std::size_t>(t)].emplace(shared->sums(2));
          together.arrive_and_wait();
          // The library made this computation, on another thread.
          program_library()->drops(*std::move(made[static_cast<std::size_t>(t + 1) % threads]));
          together.arrive_and_wait();
          together.arrive_and_wait();  // the library is unloaded
          uses(*program_library());
        }
      });
    for (int round = 0; round != rounds; ++round) {
      {
        loaded const it(path);
        shared = &*it;
        together.arrive_and_wait();
        uses(*it);
        together.arrive_and_wait();
        together.arrive_and_wait();
      }
      CHECK_FALSE(is_loaded(path));
      together.arrive_and_wait();
    }
  }
  auto const after = detail::frames_so_far();
  CHECK(after.births > before.births);
  CHECK(after.alive() == before.alive());
}

TEST_CASE("a thread that ends after its library was unloaded hands over the blocks that it kept") {
  auto const* const path = each_path();
  auto const before = detail::frames_so_far();
  std::barrier together(2);
  loaded const* shared = nullptr;
  std::jthread other([&] {
    together.arrive_and_wait();
    uses(**shared);
    together.arrive_and_wait();
    together.arrive_and_wait();
  });
  {
    loaded const it(path);
    shared = &it;
    together.arrive_and_wait();
    together.arrive_and_wait();
  }
  CHECK_FALSE(is_loaded(path));
  together.arrive_and_wait();
  other.join();
  auto const after = detail::frames_so_far();
  CHECK(after.births > before.births + 200);
  CHECK(after.alive() == before.alive());
}

TEST_CASE("a scheduler runs processes of a library, and the next one runs after it is unloaded") {
  auto const* const path = each_path();
  auto const before = detail::frames_so_far().alive();
  library const& here = *program_library();
  for (auto const on : {backends::one_thread, backends::sharing, backends::stealing})
    for (int round = 0; round != 5; ++round) {
      {
        loaded const it(path);
        std::atomic<int> sum = 0;
        long n = 0;
        int forty_two = 0;
        mutex access;
        here.runs(on, [&]() -> parent {
          co_await spawn(
              [](library const& l, mutex& m, long& to) { return l.increments(m, to, 50); },
              std::cref(*it), std::ref(access), std::ref(n));
          co_await spawn(
              [](library const& l, mutex& m, long& to) { return l.increments(m, to, 50); },
              std::cref(here), std::ref(access), std::ref(n));
          int const tasks = co_await it->fib(here, 9);  // 34
          forty_two = tasks + 8;
        });
        here.runs(on, [&] { return it->spawns(here, sum, 10); });
        it->runs(on, [&] { return here.spawns(*it, sum, 10); });
        CHECK(n == 100);
        CHECK(sum == 140);
        CHECK(forty_two == 42);
      }
      CHECK_FALSE(is_loaded(path));
      std::atomic<int> sum = 0;
      here.runs(on, [&] { return here.spawns(here, sum, 10); });
      CHECK(sum == 70);
    }
  CHECK(detail::frames_so_far().alive() == before);
}
