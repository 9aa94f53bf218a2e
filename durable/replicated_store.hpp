// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "weft/durable/command_log.hpp"
#include "weft/durable/detail/replica.hpp"
#include "weft/durable/store.hpp"

namespace weft::durable {

/// How engines share a store.
struct replicated_store_options {
  /// How long a worker (an engine that shares the store) keeps its processes when it writes nothing
  /// to the log.
  std::chrono::nanoseconds lease = std::chrono::seconds(10);
  /// Whether a thread of the store writes to the log that this worker lives, and which others are
  /// dead.  If not, the program calls tick() for that.
  bool has_thread = true;
};

/// A worker, as lists show it.
struct worker_record {
  std::string name{};         ///< The name in engine_options::worker.
  std::size_t processes = 0;  ///< How many processes it has.
  bool is_this = false;       ///< Whether it is the worker of this handle.
};

/// A store whose changes stand in a log that several computers share.  Each handle (an object of
/// this class) carries out the whole log, in its order, in memory: so all handles have the same
/// processes, and make the same decisions (whether a commit part is fenced, that is, refused; which
/// worker has a process; which worker is dead).
///
/// Engines on the store are workers (work_sharing).  If a worker writes nothing to the log for a
/// lease, another one declares it dead, and measures that time itself: clocks of different
/// computers are not compared.  The entry that declares a worker dead frees its processes.  If that
/// worker lives all the same, its parts for a process are accepted, as far as they fit the log of
/// the process, until another worker claims the process; from the entry of that claim on its parts
/// are fenced.
///
/// A change whose call has thrown may still be made later, as a whole, unless this handle makes
/// another change before.
///
/// A change takes one entry of the log, or several if it is large.  A read uses this handle's copy;
/// find(), list(), workers() and any_unfinished() wait until the copy has all entries of the log.
/// Memory: that of all processes of the store, with their logs.  Thread safe.
class replicated_store : public store, public work_sharing {
 public:
  /// A time on the clock of one computer, which is compared with no other one.
  using time_point = std::chrono::steady_clock::time_point;

  /// Carries out all entries of the log.  `log` must outlive this object.
  explicit replicated_store(command_log& log, replicated_store_options o = {});
  ~replicated_store() override;

  /// All workers that live, in the order of their names.  O(n log n); allocates the list.  Throws
  /// store_error.
  [[nodiscard]] std::vector<worker_record> workers();
  /// Writes to the log that this worker lives, if it has written nothing for a quarter of the
  /// lease, and which other workers are dead.  For a store without a thread: call it several times
  /// in a lease, or no other worker is declared dead.
  void tick(time_point now);

  void commit(std::span<commit_part* const> parts, std::span<commit_result> results) override;
  commit_effect start(process_start const& s) override;
  commit_effect send(outgoing_message const& m, std::string_view once_key) override;
  bool release(process_key process) override;
  [[nodiscard]] std::optional<process_record> find(std::string_view id) override;
  using store::load;
  [[nodiscard]] std::vector<stored_process> load(std::span<process_key const> keys) override;
  [[nodiscard]] std::vector<stored_message> inbox(process_key process,
                                                  std::uint64_t after) override;
  [[nodiscard]] std::vector<process_record> list(process_key after, std::size_t limit) override;
  std::vector<process_key> wake_due(timestamp now, std::size_t limit) override;
  [[nodiscard]] std::optional<timestamp> next_wake() override;
  [[nodiscard]] std::vector<process_key> ready(process_key after, std::size_t limit) override;
  [[nodiscard]] bool any_unfinished() override;
  [[nodiscard]] work_sharing* sharing() noexcept override { return this; }

  void join(std::string name, std::function<void()> on_change) override;
  void leave() noexcept override;
  std::vector<process_key> claim(std::size_t limit) override;
  [[nodiscard]] std::size_t free_processes() override;
  [[nodiscard]] std::size_t other_workers() override;
  void disown(std::span<process_key const> keys) override;
  std::vector<change_of_others> take_changes() override;

 private:
  using clock = std::chrono::steady_clock;

  /// Writes a command to the log, and returns its result when it was carried out.
  detail::command_result execute(std::string const& body);
  detail::command_result execute(detail::command const& c) { return execute(encode_command(c)); }
  detail::command_result append_command(std::string const& body);
  /// Carries out all entries that have arrived, and calls `f`, under lock_.
  template <class F>
  auto with_copy(F const& f);
  /// Waits until all entries that are in the log now have arrived, and calls with_copy(f).
  template <class F>
  auto with_newest_copy(F const& f);
  void wait_for(std::uint64_t number);
  void tell_of_change();
  void carry_out_arrived();
  void carry_out(std::uint64_t number, std::string_view entry);
  void note_change_of_other(detail::replica::applied_command const& done);
  void note_effects(detail::command_result const& did);
  void watch();

  command_log& log_;
  replicated_store_options const how_;
  std::string const me_;  // a name that no other handle has

  std::mutex append_lock_;  // held while a command is executed: one after the other
  std::uint64_t number_ = 0;

  std::mutex lock_;  // guards the members up to written_; not held while a thread waits for the log
  detail::replica replica_;
  std::uint64_t pending_ = 0;                   // the number of the command that is being executed
  std::optional<detail::command_result> done_;  // its result, once it was carried out
  bool is_worker_ = false;
  std::string name_{};                // the name of the worker
  std::exception_ptr cannot_read_{};  // not null: an entry could not be carried out
  bool others_changed_ = false;
  std::vector<change_of_others> changes_;
  /// When another worker was heard of last, by the clock of this computer.
  struct sign_of_life {
    std::uint64_t heard = 0;
    time_point at{};
  };
  std::map<std::string, sign_of_life, std::less<>> signs_;
  time_point ticked_{};       // the time of the last tick
  bool has_written_ = false;  // whether this handle has written since the last tick
  bool joins_again_ = false;  // whether another worker has declared this one dead
  time_point written_{};      // the time of the last tick after which this handle has written

  std::mutex tell_lock_;  // held while on_change_ is called, so that leave() waits for that call
  std::function<void()> on_change_;

  std::mutex watch_lock_;
  std::condition_variable watch_ends_;
  bool is_watching_ = false;
  std::thread watcher_;
};

}  // namespace weft::durable
