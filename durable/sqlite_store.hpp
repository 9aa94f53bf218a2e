// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "weft/durable/store.hpp"

namespace weft::durable {

/// How the file of a sqlite_store is opened.
struct sqlite_store_options {
  /// Whether a file that does not exist is made.
  bool creates = true;
  /// Whether a commit waits until it is on the disk (`synchronous=FULL`).  If not, a crash of the
  /// computer (but not one of the program) may undo the last commits.
  bool waits_for_disk = true;
};

/// A store in one file, by SQLite in WAL mode; the usual store of an engine on one computer.  The
/// file and its two companions, FILE-wal and FILE-shm, are the only state.
///
/// Each commit is one transaction.  Several programs may open one file.  If two engines use it, the
/// length of each log fences their commits (STORE-3): a second engine is for the time after the
/// first one has died.  While both live, both may run the same process, and call its steps twice.
/// Reads do not wait for writes.
///
/// Throws store_error if the file cannot be opened, is no SQLite database, or is a database of
/// another program or of a newer version of weft; if it is damaged; if another program keeps it
/// locked for 10 s; if the disk is full, or cannot be written.  After an exception nothing of the
/// call is stored.
class sqlite_store final : public store {
 public:
  explicit sqlite_store(std::string const& path, sqlite_store_options const& o = {});
  ~sqlite_store() override;

  /// Reads the whole file, and returns a list of its faults; empty if there are none.  O(size);
  /// allocates the answer.
  [[nodiscard]] std::string check();

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
  [[nodiscard]] bool note_changes_of_others() override;

 private:
  class inside;
  std::unique_ptr<inside> in_;
};

}  // namespace weft::durable
