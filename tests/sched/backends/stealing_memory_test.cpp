// SPDX-License-Identifier: MIT
#include "tests/prelude.hpp"
#include "tests/support/operator_new.hpp"

/// sched/backends/stealing.hpp without memory: processes that do not fit into a deque go to the
/// global queue.

namespace {

bool is_out_of_memory = false;
int refused = 0;

}  // namespace

bool weft::tests::admit(allocation const& a) noexcept {
  if (is_out_of_memory && a.throws) ++refused;
  return !is_out_of_memory;
}

namespace {

/// While it lives allocations fail.
class no_memory {
 public:
  no_memory() {
    refused = 0;
    is_out_of_memory = true;
  }
  no_memory(no_memory const&) = delete;
  no_memory& operator=(no_memory const&) = delete;
  ~no_memory() { is_out_of_memory = false; }
};

std::vector<thunk> made(std::uint64_t n) {
  std::vector<thunk> all;
  for (std::uint64_t i = 0; i != n; ++i) all.push_back(numbered<stealing>(i));
  return all;
}
/// The numbers of the processes that w takes, sorted.
std::vector<std::uint64_t> taken_by(stealing::worker& w, std::size_t n) {
  std::vector<std::uint64_t> all;
  while (all.size() != n) all.push_back(w.take(instant::max(), quiescence_test()).answer());
  std::ranges::sort(all);
  return all;
}
std::vector<std::uint64_t> up_to(std::uint64_t n) {
  std::vector<std::uint64_t> all(n);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

}  // namespace

TEST_CASE(
    "without memory for a deque or a queue a process goes to the global queue, and is not lost") {
  every_frame_dies const check;
  auto const why = GENERATE(put_reason::started, put_reason::yielded, put_reason::woken,
                            put_reason::handed_over);
  auto const order = GENERATE(local_order::lifo, local_order::fifo);
  auto const threads = GENERATE(1u, 2u);
  stealing b({.threads = threads, .order = order});
  stealing::worker w(b, 0);
  auto all = made(1000);
  {
    no_memory const now;
    for (auto& t : all) w.put(std::move(t), why);
  }
  CHECK(refused == (1000 - 64) + 1);  // the global queue has room for some, too
  CHECK(taken_by(w, 1000) == up_to(1000));
}

TEST_CASE("without memory takes, steals and exchanges lose no process") {
  every_frame_dies const check;
  stealing b({.threads = 2, .batch = 32});
  stealing::worker first(b, 0);
  stealing::worker second(b, 1);
  auto all = made(2000);
  auto const put = [&](std::size_t from, std::size_t to, auto& in, put_reason w) {
    for (std::size_t i = from; i != to; ++i) in.put(std::move(all[i]), w);
  };
  put(0, 1000, first, put_reason::woken);
  put(1000, 1500, first, put_reason::yielded);
  put(1500, 2000, b, put_reason::woken);
  std::vector<std::uint64_t> got;
  got.reserve(2000);
  {
    no_memory const now;
    while (got.size() != 2000)
      for (auto* const w : {&second, &second, &first})
        if (got.size() != 2000) {
          thunk t = w->take(instant::max(), quiescence_test());
          if (w->can_exchange()) t = w->exchange(std::move(t));
          got.push_back(t.answer());
        }
  }
  std::ranges::sort(got);
  CHECK(got == up_to(2000));
  CHECK(refused > 0);  // half of a thousand do not fit
}

TEST_CASE("a process runs without memory for its entry in the list, and is not on it") {
  every_frame_dies const check;
  stealing_options how{.threads = 1};
  how.keep_list = true;
  stealing b(how);
  stealing::worker w(b, 0);
  auto all = made(3);
  w.put(std::move(all[0]), put_reason::started);
  {
    no_memory const now;
    w.put(std::move(all[1]), put_reason::started);
  }
  w.put(std::move(all[2]), put_reason::started);
  CHECK(b.processes().size() == 2);
  for (int i = 0; i != 3; ++i) {
    thunk const t = w.take(instant::max(), quiescence_test());
    b.on_end(*t.get());
  }
  CHECK(b.processes().empty());
}
