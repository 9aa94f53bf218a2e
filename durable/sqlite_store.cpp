// SPDX-License-Identifier: MIT
#include "weft/durable/sqlite_store.hpp"

#include <sqlite3.h>

#include <array>
#include <cerrno>
#include <mutex>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "weft/durable/detail/answers.hpp"
#include "weft/sched/base/detail/system_process.hpp"

namespace weft::durable {

namespace {

/// The version of the tables; in the file it is `user_version`.
constexpr int format = 1;
/// Marks a file as a store of weft; in the file it is `application_id`.
constexpr int application = 0x77656674;  // "weft"

constexpr char const* tables = R"(
  CREATE TABLE processes (
    key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, function TEXT NOT NULL DEFAULT '',
    version INTEGER NOT NULL DEFAULT 0, arguments BLOB, parent TEXT NOT NULL DEFAULT '',
    run INTEGER NOT NULL DEFAULT 0, status INTEGER NOT NULL, wake INTEGER, result BLOB,
    published BLOB);
  CREATE INDEX processes_wake ON processes (wake) WHERE wake IS NOT NULL;
  CREATE INDEX processes_ready ON processes (key) WHERE status = 1;
  CREATE TABLE log (
    process INTEGER NOT NULL, position INTEGER NOT NULL, operation TEXT NOT NULL,
    answer BLOB NOT NULL, PRIMARY KEY (process, position)) WITHOUT ROWID;
  CREATE TABLE inbox (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT, process INTEGER NOT NULL, sender TEXT NOT NULL,
    type TEXT NOT NULL, data BLOB NOT NULL);
  CREATE INDEX inbox_process ON inbox (process, sequence);
  CREATE TABLE once_keys (key TEXT PRIMARY KEY) WITHOUT ROWID;
)";

/// Why the operating system did not read or write.  SQLite notes the error number for some calls
/// only; else it is in errno, which statement::next() keeps.
std::string why_io_failed(sqlite3* db, std::string const& what) {
  int const noted = sqlite3_system_errno(db);
  int const code = noted != 0 ? noted : errno;
  if (code == ENOSPC || code == EDQUOT || code == EFBIG) return "the disk is full";
  return code == 0 ? what : what + ", " + std::generic_category().message(code);
}

[[noreturn]] void fail(std::string const& path, sqlite3* db, std::string const& what) {
  int const code = db ? sqlite3_extended_errcode(db) : SQLITE_NOMEM;
  std::string why = db ? sqlite3_errmsg(db) : "out of memory";
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      why = "it is no store: no SQLite database, or a damaged one";
      break;
    case SQLITE_CORRUPT:
      why = "it is damaged (" + why + ")";
      break;
    case SQLITE_FULL:
      why = "the disk is full";
      break;
    case SQLITE_IOERR:
      why = why_io_failed(db, why);
      break;
    case SQLITE_READONLY:
      why = "it cannot be written";
      break;
    case SQLITE_BUSY:
      why = "another program has been writing to it for too long";
      break;
    default:
      break;
  }
  throw store_error("weft: the store " + path + ", " + what + ": " + why);
}

}  // namespace

// In a named namespace, since sqlite_store::inside, which has external linkage, has members of
// these types.
namespace detail {

/// Bytes that are bound as bytes, not as text.
struct blob {
  std::string_view of;
};

/// A statement that is prepared once, and used by one thread at a time.
class statement {
 public:
  statement(std::string const& path, sqlite3* db, char const* text) : path_(path), db_(db) {
    if (sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, &s_, nullptr) != SQLITE_OK)
      fail(path_, db_, "when it was opened");
  }
  statement(statement const&) = delete;
  statement& operator=(statement const&) = delete;
  ~statement() { sqlite3_finalize(s_); }

  /// Binds the arguments, from the first on.  They must live until the statement is reset.
  template <class... Args>
  statement& with(Args const&... args) {
    sqlite3_reset(s_);
    int i = 0;
    (bind(++i, args), ...);
    return *this;
  }
  /// Steps to the next row.  False if there is none: then the statement is reset.
  bool next() {
    errno = 0;
    int const result = sqlite3_step(s_);
    int const cause = errno;
    if (result == SQLITE_ROW) return true;
    if (result == SQLITE_DONE) {
      sqlite3_reset(s_);
      return false;
    }
    sqlite3_reset(s_);
    errno = cause;
    fail(path_, db_, "in use");
  }
  void run() {
    while (next()) {
    }
  }

  [[nodiscard]] std::int64_t number(int column) const { return sqlite3_column_int64(s_, column); }
  [[nodiscard]] bool is_null(int column) const {
    return sqlite3_column_type(s_, column) == SQLITE_NULL;
  }
  [[nodiscard]] std::string bytes(int column) const {
    auto const* const at = static_cast<char const*>(sqlite3_column_blob(s_, column));
    return at ? std::string(at, static_cast<std::size_t>(sqlite3_column_bytes(s_, column)))
              : std::string();
  }
  /// Resets the statement.  Called after the last row that is wanted.
  void end() { sqlite3_reset(s_); }

 private:
  void bind(int i, std::int64_t n) { sqlite3_bind_int64(s_, i, n); }
  void bind(int i, std::uint64_t n) { sqlite3_bind_int64(s_, i, static_cast<std::int64_t>(n)); }
  void bind(int i, std::uint32_t n) { sqlite3_bind_int64(s_, i, n); }
  void bind(int i, process_status s) { sqlite3_bind_int64(s_, i, static_cast<int>(s)); }
  void bind(int i, std::string_view text) {
    sqlite3_bind_text64(s_, i, text.data() ? text.data() : "", text.size(), SQLITE_STATIC,
                        SQLITE_UTF8);
  }
  void bind(int i, blob b) {
    sqlite3_bind_blob64(s_, i, b.of.data() ? b.of.data() : "", b.of.size(), SQLITE_STATIC);
  }
  void bind(int i, std::nullptr_t) { sqlite3_bind_null(s_, i); }
  void bind(int i, std::optional<timestamp> const& t) {
    if (t)
      bind(i, *t);
    else
      bind(i, nullptr);
  }

  std::string const& path_;
  sqlite3* db_;
  sqlite3_stmt* s_ = nullptr;
};

/// A connection to the file.
class connection {
 public:
  connection(std::string const& path, bool creates) : path_(path) {
    int const flags =
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (creates ? SQLITE_OPEN_CREATE : 0);
    if (sqlite3_open_v2(path.c_str(), &db_, flags, nullptr) != SQLITE_OK) {
      std::string const why = db_ ? sqlite3_errmsg(db_) : "out of memory";
      sqlite3_close(db_);
      throw store_error("weft: the store " + path + " cannot be opened: " + why);
    }
    sqlite3_extended_result_codes(db_, 1);
    sqlite3_busy_timeout(db_, 10'000);
  }
  connection(connection const&) = delete;
  connection& operator=(connection const&) = delete;
  ~connection() { sqlite3_close(db_); }

  void run(char const* text) {
    if (sqlite3_exec(db_, text, nullptr, nullptr, nullptr) != SQLITE_OK) fail(path_, db_, "in use");
  }
  [[nodiscard]] std::int64_t number(char const* query) {
    statement s(path_, db_, query);
    return s.next() ? s.number(0) : 0;
  }
  [[nodiscard]] sqlite3* db() const noexcept { return db_; }

 private:
  std::string const& path_;
  sqlite3* db_ = nullptr;
};

}  // namespace detail

namespace {

using detail::blob, detail::connection, detail::statement;

process_record record_of(statement const& s) {
  process_record r;
  r.key = s.number(0);
  r.start = {s.bytes(1), s.bytes(2), static_cast<std::uint32_t>(s.number(3)), s.bytes(4),
             s.bytes(5)};
  r.run = static_cast<std::uint64_t>(s.number(6));
  r.status = static_cast<process_status>(s.number(7));
  if (!s.is_null(8)) r.wake = s.number(8);
  r.result = s.bytes(9);
  r.published = s.bytes(10);
  r.entries = static_cast<std::uint64_t>(s.number(11));
  r.messages = static_cast<std::uint64_t>(s.number(12));
  return r;
}

/// The text of a query for records, with a condition; `counts`: with the sizes of log and inbox.
std::string records(char const* condition, bool counts = true) {
  std::string const columns =
      "SELECT key, id, function, version, arguments, parent, run, status, wake, result, "
      "published, ";
  return columns +
         (counts
              ? "(SELECT count(*) FROM log WHERE process = key), (SELECT count(*) FROM inbox WHERE "
                "process = key)"
              : "0, 0") +
         " FROM processes " + condition;
}

}  // namespace

class sqlite_store::inside {
 public:
  inside(std::string p, sqlite_store_options const& o)
      : path_(std::move(p)), writer_(path_, o.creates), reader_((prepare(o), path_), false) {}

  [[nodiscard]] bool is_here() const noexcept { return home_.is_here(); }

  // ---- the writer, guarded by write_lock_

  /// Calls `f` in a transaction, which is rolled back if `f` throws.
  template <class F>
  auto change(F const& f) {
    home_.require("a sqlite_store");
    std::scoped_lock const locked(write_lock_);
    begin_.run();
    try {
      trust_known_logs();
      auto result = f();
      commit_.run();
      return result;
    } catch (...) {
      logs_.clear();
      sqlite3_exec(writer_.db(), "ROLLBACK", nullptr, nullptr, nullptr);
      throw;
    }
  }

  process_key key_of(std::string const& id) {
    insert_unborn_.with(id, process_status::unborn).run();
    auto& s = find_key_.with(id);
    s.next();
    process_key const k = s.number(0);
    s.end();
    return k;
  }
  process_status status_of(process_key k) {
    auto& s = find_status_.with(k);
    bool const is_there = s.next();
    auto const status =
        is_there ? static_cast<process_status>(s.number(0)) : process_status::unborn;
    s.end();
    return status;
  }
  commit_effect begin(process_start const& p) {
    process_key const k = key_of(p.id);
    start_
        .with(p.function, p.version, blob{p.arguments}, p.parent, process_status::ready, k,
              process_status::unborn)
        .run();
    return {k, status_of(k), {}};
  }
  commit_effect deliver(std::string const& from, outgoing_message const& m) {
    process_key const k = key_of(m.to);
    insert_message_.with(k, from, m.type, blob{m.data}).run();
    auto const sequence = static_cast<std::uint64_t>(sqlite3_last_insert_rowid(writer_.db()));
    make_ready_.with(k).run();
    return {k, status_of(k), {sequence, from, m.type, m.data}};
  }
  /// The message that a process which has ended sends to the process `to`.
  outgoing_message end_of(commit_effect const& e, std::string const& to) {
    auto& s = find_result_.with(e.process);
    std::string const result = s.next() ? s.bytes(0) : std::string();
    s.end();
    return detail::message_of_end(to, e.status, result);
  }
  /// The facts by which parts of a process are fenced (STORE-3).
  struct known_log {
    std::uint64_t run = 0;
    std::uint64_t length = 0;
    bool is_closed = false;
  };
  /// The known_log of a process: the one in logs_, or else one that is read from the tables and put
  /// into logs_.  Null if there is no such process.
  known_log* log_of(process_key k) {
    auto const known = logs_.find(k);
    if (known != logs_.end()) return &known->second;
    auto& s = find_log_.with(k);
    known_log* found = nullptr;
    if (s.next())
      found = &logs_
                   .try_emplace(k, static_cast<std::uint64_t>(s.number(0)),
                                static_cast<std::uint64_t>(s.number(2)),
                                durable::is_closed(static_cast<process_status>(s.number(1))))
                   .first->second;
    s.end();
    return found;
  }
  /// Forgets logs_, if another connection has written since the last call, or if logs_ is large.
  void trust_known_logs() {
    auto& s = elsewhere_.with();
    std::int64_t const now = s.next() ? s.number(0) : 0;
    s.end();
    if (std::exchange(logs_version_, now) != now || logs_.size() > 50'000) logs_.clear();
  }
  bool apply(commit_part const& p, commit_result& r) {
    known_log* const known = log_of(p.process);
    if (!known) return false;
    known_log& log = *known;
    if (log.is_closed || log.run != p.run || log.length != p.first) return false;
    log.length += p.entries.size();
    if (p.continued) log = {log.run + 1, 0, false};
    if (p.status) log.is_closed = durable::is_closed(p.status->now);
    auto position = p.first;
    for (auto const& e : p.entries)
      insert_entry_.with(p.process, position++, e.operation, blob{e.answer}).run();
    for (auto const taken : p.received) delete_message_.with(taken, p.process).run();
    if (p.published) publish_.with(blob{*p.published}, p.process).run();
    if (p.continued) {
      delete_log_.with(p.process).run();
      continue_.with(blob{*p.continued}, p.process).run();
    }
    if (p.status) {
      auto const& s = *p.status;
      set_status_.with(s.now, s.wake, blob{s.result}, p.process).run();
      if (s.now == process_status::waiting) look_.with(p.process, s.known).run();
    }
    for (auto const& s : p.started) {
      auto const begun = r.effects.emplace_back(begin(s));
      if (has_ended(begun.status)) r.effects.push_back(deliver(s.id, end_of(begun, s.parent)));
    }
    for (auto const& m : p.sent) r.effects.push_back(deliver(p.id, m));
    return true;
  }

 private:
  /// Makes the tables, if the file is new, and checks that the file is a store of weft.
  void prepare(sqlite_store_options const& o) {
    require_ours_or_empty(o.creates);  // before anything is changed
    writer_.run(o.waits_for_disk ? "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL"
                                 : "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    writer_.run("BEGIN IMMEDIATE");
    if (is_empty()) {
      writer_.run(tables);
      writer_.run(("PRAGMA application_id = " + std::to_string(application) +
                   "; PRAGMA user_version = " + std::to_string(format))
                      .c_str());
    }
    writer_.run("COMMIT");
    require_ours_or_empty(false);
  }
  bool is_empty() { return writer_.number("SELECT count(*) FROM sqlite_master") == 0; }
  void require_ours_or_empty(bool may_be_empty) {
    auto const id = writer_.number("PRAGMA application_id");
    if (id == 0 && is_empty()) {
      if (may_be_empty) return;
      throw store_error("weft: the store " + path_ + " is empty");
    }
    if (id != application)
      throw store_error("weft: " + path_ + " is no store, but a database of another program");
    auto const found = writer_.number("PRAGMA user_version");
    if (found != format)
      throw store_error("weft: the store " + path_ + " has format " + std::to_string(found) +
                        ", and this program knows format " + std::to_string(format));
  }

  std::string const path_;
  connection writer_;
  connection reader_;

 public:
  std::mutex write_lock_;
  statement begin_{path_, writer_.db(), "BEGIN IMMEDIATE"};
  statement commit_{path_, writer_.db(), "COMMIT"};
  statement insert_unborn_{path_, writer_.db(),
                           "INSERT OR IGNORE INTO processes (id, status) VALUES (?, ?)"};
  statement find_key_{path_, writer_.db(), "SELECT key FROM processes WHERE id = ?"};
  statement find_status_{path_, writer_.db(), "SELECT status FROM processes WHERE key = ?"};
  statement start_{path_, writer_.db(),
                   "UPDATE processes SET function = ?, version = ?, arguments = ?, parent = ?, "
                   "status = ? WHERE key = ? AND status = ?"};
  statement insert_message_{path_, writer_.db(),
                            "INSERT INTO inbox (process, sender, type, data) VALUES (?, ?, ?, ?)"};
  statement make_ready_{
      path_, writer_.db(),
      "UPDATE processes SET status = 1, wake = NULL WHERE key = ? AND status = 2"};
  statement find_result_{path_, writer_.db(), "SELECT result FROM processes WHERE key = ?"};
  statement find_log_{path_, writer_.db(),
                      "SELECT run, status, coalesce((SELECT max(position) + 1 FROM log WHERE "
                      "process = key), 0) FROM processes WHERE key = ?"};
  statement insert_entry_{
      path_, writer_.db(),
      "INSERT INTO log (process, position, operation, answer) VALUES (?, ?, ?, ?)"};
  statement delete_message_{path_, writer_.db(),
                            "DELETE FROM inbox WHERE sequence = ? AND process = ?"};
  statement publish_{path_, writer_.db(), "UPDATE processes SET published = ? WHERE key = ?"};
  statement delete_log_{path_, writer_.db(), "DELETE FROM log WHERE process = ?"};
  statement continue_{path_, writer_.db(),
                      "UPDATE processes SET arguments = ?, run = run + 1 WHERE key = ?"};
  statement set_status_{path_, writer_.db(),
                        "UPDATE processes SET status = ?, wake = ?, result = ? WHERE key = ?"};
  statement look_{
      path_, writer_.db(),
      "UPDATE processes SET status = 1, wake = NULL WHERE key = ?1 AND (SELECT count(*) "
      "FROM inbox WHERE process = ?1) > ?2"};
  statement once_{path_, writer_.db(), "INSERT OR IGNORE INTO once_keys (key) VALUES (?)"};
  statement release_{path_, writer_.db(),
                     "UPDATE processes SET status = 1, result = NULL WHERE key = ? AND status = 6"};
  statement due_{path_, writer_.db(),
                 "UPDATE processes SET status = 1, wake = NULL WHERE key IN (SELECT key FROM "
                 "processes WHERE wake <= ? ORDER BY wake LIMIT ?) RETURNING key"};
  statement elsewhere_{path_, writer_.db(), "PRAGMA data_version"};
  std::int64_t version_ = 0;       // the last result of elsewhere_ in note_changes_of_others()
  std::int64_t logs_version_ = 0;  // the last result of elsewhere_ in trust_known_logs()
  std::unordered_map<process_key, known_log> logs_;
  [[nodiscard]] int changes() const { return sqlite3_changes(writer_.db()); }

  std::mutex read_lock_;
  statement find_{path_, reader_.db(), records("WHERE id = ?").c_str()};
  statement list_{path_, reader_.db(), records("WHERE key > ? ORDER BY key LIMIT ?").c_str()};
  // These three statements read the processes whose keys lie in a range.
  statement records_{path_, reader_.db(),
                     records("WHERE key BETWEEN ? AND ? ORDER BY key", false).c_str()};
  statement logs_of_{path_, reader_.db(),
                     "SELECT process, operation, answer FROM log WHERE process BETWEEN ? AND ? "
                     "ORDER BY process, position"};
  statement inboxes_{
      path_, reader_.db(),
      "SELECT process, sequence, sender, type, data FROM inbox WHERE process BETWEEN ? "
      "AND ? ORDER BY process, sequence"};
  /// Adds the processes with the keys `first` to `last` to `all`.  Called under read_lock_.
  void load_run(process_key first, process_key last, std::vector<stored_process>& all) {
    auto const begin = all.size();
    auto const of = [&](process_key k) -> stored_process& {
      return all[begin + static_cast<std::size_t>(k - first)];
    };
    auto& records = records_.with(first, last);
    for (auto k = first; k <= last; ++k) {
      if (!records.next() || records.number(0) != k) {
        records.end();
        throw store_error("weft: the store has no process " + std::to_string(k));
      }
      all.emplace_back().record = record_of(records);
    }
    records.end();
    auto& logs = logs_of_.with(first, last);
    std::size_t length = 0;  // the last log's length: logs of one function have similar lengths
    while (logs.next()) {
      auto& log = of(logs.number(0)).log;
      if (log.empty()) log.reserve(std::exchange(length, 0));
      log.push_back({logs.bytes(1), logs.bytes(2)});
      ++length;
    }
    auto& inboxes = inboxes_.with(first, last);
    while (inboxes.next())
      of(inboxes.number(0))
          .inbox.push_back({static_cast<std::uint64_t>(inboxes.number(1)), inboxes.bytes(2),
                            inboxes.bytes(3), inboxes.bytes(4)});
    for (auto k = first; k <= last; ++k) {
      stored_process& p = of(k);
      p.record.entries = p.log.size();
      p.record.messages = p.inbox.size();
    }
  }
  statement inbox_{
      path_, reader_.db(),
      "SELECT sequence, sender, type, data FROM inbox WHERE process = ? AND sequence > ? "
      "ORDER BY sequence"};
  statement next_wake_{path_, reader_.db(),
                       "SELECT wake FROM processes WHERE wake IS NOT NULL ORDER BY wake LIMIT 1"};
  statement ready_{path_, reader_.db(),
                   "SELECT key FROM processes WHERE status = 1 AND key > ? ORDER BY key LIMIT ?"};
  statement unfinished_{path_, reader_.db(),
                        "SELECT 1 FROM processes WHERE status IN (1, 2) LIMIT 1"};
  statement check_{path_, reader_.db(), "PRAGMA integrity_check"};
  /// The messages of an inbox that are later than `after`.  Called under read_lock_.
  std::vector<stored_message> messages(process_key process, std::uint64_t after) {
    std::vector<stored_message> some;
    auto& s = inbox_.with(process, after);
    while (s.next())
      some.push_back({static_cast<std::uint64_t>(s.number(0)), s.bytes(1), s.bytes(2), s.bytes(3)});
    return some;
  }
  weft::detail::system_process home_;
  statement begin_read_{path_, reader_.db(), "BEGIN"};
  statement end_read_{path_, reader_.db(), "COMMIT"};
};

sqlite_store::sqlite_store(std::string const& path, sqlite_store_options const& o)
    : in_(std::make_unique<inside>(path, o)) {}
sqlite_store::~sqlite_store() {
  // In a child, after fork(), the connections are the parent's, so they are not closed.
  if (in_ && !in_->is_here()) [[maybe_unused]]
    static inside* const kept = in_.release();
}

void sqlite_store::commit(std::span<commit_part* const> parts, std::span<commit_result> results) {
  in_->change([&] {
    for (std::size_t i = 0; i != parts.size(); ++i)
      results[i].is_accepted = in_->apply(*parts[i], results[i]);
    return true;
  });
}

commit_effect sqlite_store::start(process_start const& s) {
  return in_->change([&] { return in_->begin(s); });
}

commit_effect sqlite_store::send(outgoing_message const& m, std::string_view once_key) {
  return in_->change([&]() -> commit_effect {
    if (!once_key.empty()) {
      in_->once_.with(once_key).run();
      if (in_->changes() == 0) {
        process_key const k = in_->key_of(m.to);
        return {k, in_->status_of(k), {}};
      }
    }
    return in_->deliver({}, m);
  });
}

bool sqlite_store::release(process_key process) {
  return in_->change([&] {
    in_->logs_.erase(process);
    in_->release_.with(process).run();
    return in_->changes() == 1;
  });
}

std::optional<process_record> sqlite_store::find(std::string_view id) {
  std::scoped_lock const locked(in_->read_lock_);
  auto& s = in_->find_.with(id);
  if (!s.next()) return std::nullopt;
  auto r = record_of(s);
  s.end();
  return r;
}

std::vector<stored_process> sqlite_store::load(std::span<process_key const> keys) {
  std::scoped_lock const locked(in_->read_lock_);
  in_->home_.require("a sqlite_store");
  in_->begin_read_.run();  // one view of all tables, and one lock of the file
  struct ending {
    statement& s;
    ~ending() {
      try {
        s.run();
      } catch (store_error const&) {  // the next call throws it
      }
    }
  } const at_end{in_->end_read_};
  std::vector<stored_process> all;
  all.reserve(keys.size());
  for (std::size_t i = 0; i != keys.size();) {
    std::size_t const begin = i;
    do ++i;
    while (i != keys.size() && keys[i] == keys[i - 1] + 1);
    in_->load_run(keys[begin], keys[i - 1], all);
  }
  return all;
}

std::vector<stored_message> sqlite_store::inbox(process_key process, std::uint64_t after) {
  std::scoped_lock const locked(in_->read_lock_);
  return in_->messages(process, after);
}

std::vector<process_record> sqlite_store::list(process_key after, std::size_t limit) {
  std::scoped_lock const locked(in_->read_lock_);
  std::vector<process_record> some;
  auto& s = in_->list_.with(after, std::uint64_t{limit});
  while (s.next()) some.push_back(record_of(s));
  return some;
}

std::vector<process_key> sqlite_store::wake_due(timestamp now, std::size_t limit) {
  return in_->change([&] {
    std::vector<process_key> due;
    auto& s = in_->due_.with(now, std::uint64_t{limit});
    while (s.next()) due.push_back(s.number(0));
    return due;
  });
}

std::optional<timestamp> sqlite_store::next_wake() {
  std::scoped_lock const locked(in_->read_lock_);
  auto& s = in_->next_wake_.with();
  if (!s.next()) return std::nullopt;
  timestamp const t = s.number(0);
  s.end();
  return t;
}

std::vector<process_key> sqlite_store::ready(process_key after, std::size_t limit) {
  std::scoped_lock const locked(in_->read_lock_);
  std::vector<process_key> some;
  auto& s = in_->ready_.with(after, std::uint64_t{limit});
  while (s.next()) some.push_back(s.number(0));
  return some;
}

bool sqlite_store::any_unfinished() {
  std::scoped_lock const locked(in_->read_lock_);
  auto& s = in_->unfinished_.with();
  bool const found = s.next();
  s.end();
  return found;
}

bool sqlite_store::note_changes_of_others() {
  std::scoped_lock const locked(in_->write_lock_);
  auto& s = in_->elsewhere_.with();
  std::int64_t const now = s.next() ? s.number(0) : 0;
  s.end();
  return std::exchange(in_->version_, now) != now;
}

std::string sqlite_store::check() {
  std::scoped_lock const locked(in_->read_lock_);
  std::string wrong;
  auto& s = in_->check_.with();
  while (s.next())
    if (auto const line = s.bytes(0); line != "ok") wrong += line + "\n";
  return wrong;
}

}  // namespace weft::durable
