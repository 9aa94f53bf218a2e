// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Stores, in which durable processes are kept: the abstract class of a store, and the records that
/// are written to it.
///
/// A store has, for each process: how it was started, its log, its inbox, its status and, in the
/// end, its result.  All of it changes in *commits*.  One commit has the parts of one process or of
/// several, and is on the medium as a whole or not at all (STORE-1).
///
///  STORE-1  Atomic: after a crash, either all accepted parts of a commit are there, or none.
///  STORE-2  Durable: when commit() has returned, a crash does not undo it.
///  STORE-3  Fenced: a part is accepted only if its process was continued as new exactly `run`
///           times, has a log of exactly `first` entries, and has not ended and is not quarantined.
///           So of two engines that run one process, one is refused.
///  STORE-4  Each message that an accepted part has sent is in the inbox of its receiver exactly
///           once, until an accepted part of the receiver takes it out.  Messages of one sender
///           have growing sequence numbers.
///  STORE-5  A process that waits becomes ready when a message comes that it does not know, or when
///           its time has come.  A process whose inbox has more messages than it knows is not
///           stored as `waiting`.
namespace weft::durable {

/// Identifies a process within its store.  Small and stable; not the name that users choose.
using process_key = std::int64_t;

/// Nanoseconds since 1970, or since the beginning of virtual time.
using timestamp = std::int64_t;

/// An operation of a process, and its answer.
struct log_entry {
  std::string operation;  ///< Such as "step charge"; compared when the process runs again.
  std::string answer;     ///< The answer, serialised.
};

/// The status of a process.
enum class process_status : unsigned char {
  unborn,       ///< It has messages, and was not started yet.
  ready,        ///< It runs, or is to run.
  waiting,      ///< It waits for a message, or for a time.
  completed,    ///< It has returned its result.
  failed,       ///< It has thrown an exception; `result` has the text.
  cancelled,    ///< It was cancelled, and has unwound.
  quarantined,  ///< The engine cannot run it from its log; `result` has the report.
};
/// The name of the enumerator.
[[nodiscard]] std::string_view name_of(process_status s) noexcept;
/// Whether a process of that status has a result, or will never have one.
[[nodiscard]] constexpr bool has_ended(process_status s) noexcept {
  return s == process_status::completed || s == process_status::failed ||
         s == process_status::cancelled;
}

/// Whether a store refuses parts of a process of that status (if quarantined: until release()).
[[nodiscard]] constexpr bool is_closed(process_status s) noexcept {
  return has_ended(s) || s == process_status::quarantined;
}

/// A message in an inbox.
struct stored_message {
  std::uint64_t sequence = 0;  ///< Grows with each message of the store.
  std::string sender{};        ///< The id of the process that sent it; empty: from outside.
  std::string type{};          ///< The stable name of its type.
  std::string data{};          ///< The message, serialised.
};

/// How a process is started.
struct process_start {
  std::string id{};           ///< The id that the caller has chosen.
  std::string function{};     ///< The name of the function that it runs.
  std::uint32_t version = 0;  ///< The version of the function.
  std::string arguments{};    ///< The arguments of the function, serialised.
  std::string parent{};       ///< The id of the process that started it; empty: none.
};

/// A message that is being sent.
struct outgoing_message {
  std::string to{};    ///< The id of the receiver.
  std::string type{};  ///< The stable name of its type.
  std::string data{};  ///< The message, serialised.
};

/// A change of the status of a process.
struct status_change {
  process_status now = process_status::ready;    ///< The new status.
  std::optional<timestamp> wake = std::nullopt;  ///< When a process that waits is to be ready.
  /// For a process that waits: how many messages of its inbox it knows (STORE-5).
  std::uint64_t known = 0;
  /// The result, or the reason for which there is none, of a process that is not run any more.
  std::string result{};
};

/// The part of one process in a commit.
struct commit_part {
  process_key process = 0;                ///< The key of the process.
  std::string id{};                       ///< Its id, as the sender of its messages.
  std::uint64_t run = 0;                  ///< How often the process was continued as new.
  std::uint64_t first = 0;                ///< How many entries its log has before this part.
  std::vector<log_entry> entries{};       ///< The entries that are appended to the log.
  std::vector<std::uint64_t> received{};  ///< The messages that it takes out of its inbox.
  std::vector<outgoing_message> sent{};   ///< The messages to other processes.
  std::vector<process_start> started{};   ///< The other processes that it starts.
  std::optional<status_change> status = std::nullopt;  ///< Null: the status stays as it is.
  std::optional<std::string> published{};              ///< The new answer to queries, or null.
  /// The arguments of the next run, or null.  A next run empties the log, and adds 1 to `run`.
  std::optional<std::string> continued{};

  /// Whether it changes nothing.
  [[nodiscard]] bool is_empty() const noexcept {
    return entries.empty() && received.empty() && sent.empty() && started.empty() && !status &&
           !published && !continued;
  }
};

/// The effect of a change on a process: the process got a message, or was started.
struct commit_effect {
  process_key process = 0;                        ///< The key of the process.
  process_status status = process_status::ready;  ///< Its status after the change.
  stored_message message{};                       ///< The message; with sequence 0: none.
};
/// The outcome of one part.
struct commit_result {
  bool is_accepted = false;  ///< False: the part was fenced, and nothing of it was stored.
  std::vector<commit_effect> effects{};  ///< The effects of the part's messages and starts.
};

/// What a store knows of a process, without log and inbox.
struct process_record {
  process_key key = 0;                            ///< Its key in this store.
  process_start start{};                          ///< How it was started.
  std::uint64_t run = 0;                          ///< How often it was continued as new.
  process_status status = process_status::ready;  ///< Its status after the last commit.
  std::optional<timestamp> wake = std::nullopt;   ///< When it is to be ready, if that is known.
  /// The result, serialised, of a process that has ended; or the report of a quarantine.
  std::string result{};
  std::string published{};     ///< The answer to queries, serialised; empty: none.
  std::uint64_t entries = 0;   ///< How many entries its log has.
  std::uint64_t messages = 0;  ///< How many messages are in its inbox.
};
/// All that is needed to run a process again.
struct stored_process {
  process_record record{};              ///< The record, as a list shows it.
  std::vector<log_entry> log{};         ///< The log of its current run.
  std::vector<stored_message> inbox{};  ///< Its messages, in the order of their arrival.
};

/// Thrown by a store that cannot be read or written, is full, or is no store.  what() has the
/// reason and the place.
struct [[gnu::visibility("default")]] store_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A change that another program has made to a process of this worker.
struct change_of_others {
  commit_effect effect{};  ///< The process, and the message that it got.
  bool is_lost = false;    ///< Whether this worker does not have the process any more.
};

/// The interface of a store that several engines share, each as a worker.  A process that is run
/// has one worker: the one that claimed it when it was ready and free (without a worker).
/// Allocates what it returns.  Thread safe; throws what a store throws.
class work_sharing {
 public:
  /// Makes this handle (this object, by which one engine uses the store) a worker with the name
  /// `name`, which lists show.  `on_change` is called, by any thread, when others have changed the
  /// store; not null.
  virtual void join(std::string name, std::function<void()> on_change) = 0;
  /// Makes this handle a worker no more, and its processes free.  If the store fails, another
  /// worker declares this one dead later.
  virtual void leave() noexcept = 0;
  /// Claims up to `limit` processes that are ready and free, and returns them: this worker has them
  /// from now on.
  virtual std::vector<process_key> claim(std::size_t limit) = 0;
  /// How many processes could be claimed, as far as this handle knows.
  [[nodiscard]] virtual std::size_t free_processes() = 0;
  /// How many other workers there are, as far as this handle knows.
  [[nodiscard]] virtual std::size_t other_workers() = 0;
  /// Makes processes of this worker free.
  virtual void disown(std::span<process_key const> keys) = 0;
  /// The changes that others have made to processes of this worker since the last call.
  virtual std::vector<change_of_others> take_changes() = 0;

 protected:
  work_sharing() = default;
  ~work_sharing() = default;
};

/// A store of durable processes.  Each call is atomic and durable by itself, and blocks its thread
/// as long as the medium takes.  Allocates what it stores and returns.  Each call throws
/// store_error; std::bad_alloc.  Thread safe.
class store {
 public:
  store() = default;
  store(store const&) = delete;
  store& operator=(store const&) = delete;
  virtual ~store() = default;

  /// Stores all parts in one commit; `results` has one result for each part.  A part that is fenced
  /// (STORE-3) does not hinder the others.  After an exception nothing of the commit is stored,
  /// unless the store says otherwise.
  virtual void commit(std::span<commit_part* const> parts, std::span<commit_result> results) = 0;

  /// Starts a process; does nothing if one of that id was started before.  The effect that it
  /// returns has no message; its status is that of the process now.
  virtual commit_effect start(process_start const& s) = 0;
  /// Sends a message from outside.  Two calls with the same `once_key`, if it is not empty, send
  /// one message.
  virtual commit_effect send(outgoing_message const& m, std::string_view once_key) = 0;
  /// Makes a quarantined process ready again.  False if it is not quarantined.
  virtual bool release(process_key process) = 0;

  /// The record of the process of that id; null if none was started, nor a message sent to the id.
  [[nodiscard]] virtual std::optional<process_record> find(std::string_view id) = 0;
  /// The processes with these keys, each with its log and its inbox.  Requires keys in ascending
  /// order.  Throws store_error if a key has no process.
  [[nodiscard]] virtual std::vector<stored_process> load(std::span<process_key const> keys) = 0;
  [[nodiscard]] stored_process load(process_key process) {
    return std::move(load(std::span<process_key const>(&process, 1)).front());
  }
  /// The messages of an inbox whose sequence numbers are greater than `after`.
  [[nodiscard]] virtual std::vector<stored_message> inbox(process_key process,
                                                          std::uint64_t after) = 0;
  /// Up to `limit` processes in the order of their keys, after the key `after`.
  [[nodiscard]] virtual std::vector<process_record> list(process_key after, std::size_t limit) = 0;

  /// Makes up to `limit` processes ready whose time has come, and returns them.
  virtual std::vector<process_key> wake_due(timestamp now, std::size_t limit) = 0;
  /// The earliest time at which a process that waits is to be woken; null if there is none.
  [[nodiscard]] virtual std::optional<timestamp> next_wake() = 0;
  /// Up to `limit` ready processes in the order of their keys, after the key `after`.
  [[nodiscard]] virtual std::vector<process_key> ready(process_key after, std::size_t limit) = 0;
  /// Whether a process is ready or waits.
  [[nodiscard]] virtual bool any_unfinished() = 0;
  /// Whether another program has changed the store since the last call.
  [[nodiscard]] virtual bool note_changes_of_others() { return false; }
  /// The interface by which engines share the store; null if one engine at a time works on it.
  [[nodiscard]] virtual work_sharing* sharing() noexcept { return nullptr; }
};

}  // namespace weft::durable
