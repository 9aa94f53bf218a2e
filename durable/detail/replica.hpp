// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weft/durable/detail/command.hpp"
#include "weft/durable/detail/store_state.hpp"
#include "weft/durable/store.hpp"

namespace weft::durable::detail {

/// The result of a command.  Each member is for the kinds of command that stand beside it.
struct command_result {
  std::vector<commit_result> results{};  // commit
  commit_effect effect{};                // start, send
  std::vector<process_key> keys{};       // wake, claim; expire, leave: the processes that got free
  bool flag = false;                     // release; expire: whether the worker was dead
};

/// A copy of a shared store: all commands of the log, carried out in its order (a replicated state
/// machine, after Schneider, "Implementing fault-tolerant services using the state machine
/// approach", 1990).  Beside the processes it has the workers, and which worker has which process.
///
///  REPLICA-1  The state is determined by the log: it does not depend on times, on addresses, or on
///             the order of a hash table.  So copies that are at the same entry are equal.
///  REPLICA-2  A command is carried out once, though it may stand in the log twice: the numbers of
///             the commands of one writer grow.
///  REPLICA-3  A process has one worker at most.  If a handle commits a part of a process that
///             another worker has, the part is fenced, like one that does not fit the log
///             (STORE-3).
///  REPLICA-4  A worker is dead from the entry on that declares it dead.  That entry names the
///             worker's last known entry, and does nothing if the worker has written one since.
///  REPLICA-5  A process that is ready and has no worker is free.  Free processes are claimed in
///             the order of their keys, from the one after the last claimed one, and round.
class replica {
 public:
  /// The writer and the number of the command of an entry.  `is_done` says whether the entry was
  /// the last one of a command that was not carried out before: then `what` is the command, and
  /// `did` its result.
  struct applied_command {
    std::string_view writer{};  // refers to the bytes of the entry
    std::uint64_t number = 0;
    bool is_done = false;
    command what{};
    command_result did{};
  };
  /// Carries out the next entry, which has the number `sequence`.
  applied_command apply(std::uint64_t sequence, std::string_view entry);

  /// The number of the last entry that was carried out; 0: none.
  [[nodiscard]] std::uint64_t length() const noexcept { return length_; }
  [[nodiscard]] store_state const& state() const noexcept { return state_; }

  struct worker {
    std::string name{};
    std::uint64_t heard = 0;  // the number of its last entry
    std::set<process_key> owned{};
  };
  [[nodiscard]] std::map<std::string, worker, std::less<>> const& workers() const noexcept {
    return workers_;
  }
  /// The worker that has the process; empty if there is none.
  [[nodiscard]] std::string_view worker_of(process_key k) const;
  [[nodiscard]] std::size_t free_processes() const noexcept { return free_.size(); }

 private:
  using worker_at = std::map<std::string, worker, std::less<>>::iterator;

  command_result carry_out(std::string_view writer, std::uint64_t sequence, command& c);
  void commit(std::string_view writer, command& c, command_result& did);
  void claim(worker_at by, std::size_t limit, std::vector<process_key>& keys);
  worker_at join(std::string_view writer, std::string const& name);
  void remove(worker_at w, std::vector<process_key>& freed);
  void disown(worker_at w, process_key k);
  void forget_old_writers();
  /// Updates free_, and takes a process that has ended or is quarantined from its worker.  Called
  /// when the status or the worker of the process may have changed.
  void look_at(process_key k);

  /// The state of a writer: the number of its last command, and the pieces of the next one that
  /// have come so far.
  struct writer_state {
    std::uint64_t number = 0;
    std::uint64_t heard = 0;  // the number of its last entry
    std::uint64_t incomplete = 0;
    std::uint32_t pieces = 0;
    std::string body{};
  };
  store_state state_;
  std::map<std::string, writer_state, std::less<>> writers_;
  std::map<std::string, worker, std::less<>> workers_;
  std::unordered_map<process_key, worker_at> owners_;
  std::set<process_key> free_;
  process_key last_claimed_ = 0;
  std::uint64_t length_ = 0;
};

}  // namespace weft::durable::detail
