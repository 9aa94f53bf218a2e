// SPDX-License-Identifier: MIT
// A store that several programs share by a log: here two handles, and a log in memory.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <weft/durable/command_log.hpp>
#include <weft/durable/replicated_store.hpp>
using namespace weft;
using namespace std::chrono_literals;

/// Each program has one of its own; for one thread, and so without a lock.
class local_log final : public durable::command_log {
 public:
  explicit local_log(std::vector<std::string>& medium) : medium_(medium) {}
  std::uint64_t append(std::string const& bytes) override {
    medium_.push_back(bytes);
    return medium_.size();
  }
  std::size_t max_size() const override { return 100'000; }
  void wait_for(std::uint64_t) override {}
  std::vector<entry> take(std::uint64_t after) override {
    std::vector<durable::command_log::entry> some;
    while (after < medium_.size()) {
      durable::command_log::entry e;
      e.number = after + 1;
      e.bytes = medium_[after++];
      some.push_back(e);
    }
    return some;
  }
  std::uint64_t last() override { return medium_.size(); }
  void on_arrival(std::function<void()> f) override { arrived_ = std::move(f); }

 private:
  std::vector<std::string>& medium_;
  std::function<void()> arrived_;
};

int main() {
  std::vector<std::string> medium;
  local_log here_log(medium);
  local_log there_log(medium);
  durable::replicated_store_options how;
  how.lease = 1min;
  how.has_thread = false;
  durable::replicated_store here(here_log, how);
  durable::replicated_store there(there_log, how);

  durable::work_sharing& mine = *here.sharing();
  durable::work_sharing& theirs = *there.sharing();
  mine.join("here", [] {});
  theirs.join("there", [] {});
  there.start({"a", "f", 1, {}, {}});
  there.start({"b", "f", 1, {}, {}});
  here.tick(durable::replicated_store::time_point{});
  std::cout << here.list(0, 10).size() << " processes, " << mine.free_processes() << " free, "
            << mine.other_workers() << " other worker\n";
  auto const claimed = mine.claim(1);
  there.send({claimed.front() == 1 ? "a" : "b", "text", {}}, {});
  (void)here.find("a");  // carries out what has arrived
  for (durable::change_of_others const& c : mine.take_changes())
    std::cout << "lost: " << c.is_lost << ", a message of type " << c.effect.message.type << '\n';
  for (durable::worker_record const& w : here.workers())
    std::cout << w.name << ": " << w.processes << (w.is_this ? " (this one)\n" : "\n");
  mine.disown(claimed);
  std::cout << theirs.claim(10).size() << " are claimed there\n";
  mine.leave();
  theirs.leave();
}
