// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>

#include "tests/durable/support.hpp"
#include "weft/durable/engine.hpp"
#include "weft/effects/effects.hpp"

/// Programs for engines that are killed: trees that start leaves, all of which send to a collector.
namespace weft::tests {

/// Writes each act to a file, at once.
class ledger_file : public handler<world> {
 public:
  static constexpr bool thread_safe = true;
  explicit ledger_file(std::string const& path)
      : file_(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {}
  ledger_file(ledger_file const&) = delete;
  ledger_file& operator=(ledger_file const&) = delete;
  ~ledger_file() { ::close(file_); }
  int on(world::act const& a) const {
    std::string const line = a.what + "\n";
    if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      throw std::runtime_error("the ledger is full");
    return a.number;
  }

 private:
  int file_;
};
inline eff<int, world> note(durable::idempotency_key const& key, int n) {
  co_return co_await world::act(key.text, n);
}

using noted_row = durable::all<world>;

inline eff<int, noted_row> leaf(int n) {
  int const a = co_await durable::step("leaf", note, n);
  co_await timing::sleep_for{std::chrono::milliseconds(1)};
  co_await durable::send("collector", a);
  co_return co_await durable::step("leaf again", note, a);
}
inline constexpr durable::function leaf_process{"leaf", 1, leaf};
inline eff<int, noted_row> tree(int n) {
  int const a = co_await durable::step("tree", note, n);
  auto x = co_await durable::start("leaf/" + std::to_string(n) + "/1", leaf_process, 1);
  auto y = co_await durable::start("leaf/" + std::to_string(n) + "/2", leaf_process, 2);
  auto const [p, q] = co_await durable::when_all(x, y);
  co_return a + p + q;
}
inline constexpr durable::function tree_process{"tree", 1, tree};
inline eff<int, noted_row> collector(int expected) {
  int sum = 0;
  for (int i = 0; i != expected; ++i) {
    auto const m = co_await durable::receive<int>();
    sum += m.message;
  }
  co_return sum;
}
inline constexpr durable::function collector_process{"collector", 1, collector};

using forest_engine = decltype(durable::engine(std::declval<durable::store&>(), leaf_process,
                                               tree_process, collector_process));

/// How many trees there are, and what is found when all have ended.
struct forest {
  int trees = 20;

  template <class Engine>
  void start(Engine& e) const {
    e.start("collector", collector_process, 2 * trees);
    for (int i = 0; i != trees; ++i) e.start("tree/" + std::to_string(i), tree_process, i);
  }
  /// `noted`: how often each act was noted.
  template <class Engine>
  void require_all_done(Engine& e, std::map<std::string, int> noted) const {
    for (int i = 0; i != trees; ++i) {
      std::string const n = std::to_string(i);
      CHECK(e.template result<int>("tree/" + n) == i + 3);
      CHECK(noted["tree/" + n + "#0"] >= 1);
      for (char const* const which : {"/1", "/2"}) {
        std::string const leaf = "leaf/" + n + which;
        CHECK(noted[leaf + "#0"] >= 1);
        CHECK(e.find(leaf)->messages == 0);
      }
    }
    CHECK(e.template result<int>("collector") == 3 * trees);  // each message once
    CHECK(e.find("collector")->messages == 0);
    CHECK(noted.size() == static_cast<std::size_t>(trees) * 5);  // and no act of another key
  }
};
/// The acts of a ledger_file.
inline std::map<std::string, int> acts_in(std::string const& path) {
  std::map<std::string, int> noted;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) ++noted[line];
  return noted;
}

}  // namespace weft::tests
