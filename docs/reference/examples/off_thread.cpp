// SPDX-License-Identifier: MIT
// Work that blocks a thread: on a pool, or in tests at once; whole files.
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include <weft/effects/effects.hpp>
#include <weft/io/blocking.hpp>
#include <weft/io/files.hpp>
#include <weft/io/thread_pool.hpp>
#include <weft/sched/schedule.hpp>
using namespace weft;

eff<void, blocking_work> program(std::string path) {
  int const n = co_await off_thread([](int a, int b) { return a * b; }, 6, 7);
  co_await write_file(path, "some text");
  std::string const text = co_await read_file(path);
  std::size_t const length = co_await off_thread_detached(&std::string::size, text);
  std::cout << n << ' ' << text << ", of " << length << " bytes\n";
}

struct counts_jobs : handler<blocking> {  // a handler of one's own
  int jobs = 0;
  void on(blocking::run r) {
    ++jobs;
    std::unique_ptr<blocking_job> const job = std::move(r.job);
    job->run();
  }
};

int main() {
  std::string const path = std::filesystem::temp_directory_path() / "weft_off_thread.txt";
  thread_pool pool(2);
  schedule([&path] { return program(path); }, pool);
  schedule([&path] { return program(path); }, blocking_at_once());
  counts_jobs counting;
  schedule([&path] { return program(path); }, counting);
  std::cout << counting.jobs << " jobs\n";
  std::filesystem::remove(path);
}
