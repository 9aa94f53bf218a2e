// SPDX-License-Identifier: MIT
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "tests/durable/stores.hpp"
#include "tests/prelude.hpp"
#include "weft/durable/engine.hpp"
#include "weft/durable/sqlite_store.hpp"

/// Stores that cannot be used, or not as they are: each gives a text that says what is wrong, and
/// nothing that was stored is lost.
using namespace std::string_literals;

using durable::store_error;

// ---- the file

std::string read_file(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write_file(std::string const& path, std::string const& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST_CASE("a file that is no SQLite database is refused, and left as it is") {
  own_directory folder;
  std::string const path = folder.file("store.db");
  std::string const text =
      GENERATE("Dear diary, "s + std::string(5'000, '.'), "short"s, std::string(10'000, '\0'));
  write_file(path, text);
  CHECK_THROWS_AS(durable::sqlite_store(path), store_error);
  CHECK_THROWS_WITH(durable::sqlite_store(path), Contains(path) && Contains("no SQLite database"));
  CHECK((read_file(path) == text));
}

/// Runs SQL on a file, as another program does.
void run_sql(std::string const& path, std::string const& text) {
  sqlite3* db = nullptr;
  REQUIRE(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
  CHECK(sqlite3_exec(db, text.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  REQUIRE(sqlite3_close(db) == SQLITE_OK);
}

TEST_CASE("the database of another program is refused, and left as it is") {
  own_directory folder;
  std::string const path = folder.file("theirs.db");
  SECTION("with tables") {
    run_sql(path, "CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
  }
  SECTION("with tables, and an id") {
    run_sql(path, "PRAGMA application_id = 42; CREATE TABLE theirs (a)");
  }
  SECTION("with an id only") { run_sql(path, "PRAGMA application_id = 42"); }
  std::string const before = read_file(path);
  CHECK_THROWS_AS(durable::sqlite_store(path), store_error);
  CHECK_THROWS_WITH(durable::sqlite_store(path), Contains(path) && Contains("another program"));
  CHECK((read_file(path) == before));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.file("")), {}) == 1);
}

/// A store with some processes, closed.
void make_store(std::string const& path) {
  durable::sqlite_store s(path, {.waits_for_disk = false});
  for (int i = 0; i != 40; ++i) {
    std::string const id = "process/" + std::to_string(i);
    s.start(start_of(id, std::string(100, 'a')));
    auto p = part_of(s, id);
    for (int n = 0; n != 5; ++n) p.entries.push_back({"step one", std::string(100, 'e')});
    p.sent = {{"friend", "word", std::string(100, 'm')}};
    if (i % 3 == 0) p.status = waiting(i);
    CHECK(is_accepted(s, p));
  }
}

TEST_CASE("a store of a newer format is refused, and left as it is") {
  own_directory folder;
  std::string const path = folder.file("store.db");
  make_store(path);
  run_sql(path, "PRAGMA user_version = 99");
  std::string const before = read_file(path);
  CHECK_THROWS_AS(durable::sqlite_store(path), store_error);
  CHECK_THROWS_WITH(durable::sqlite_store(path),
                    Contains(path) && Contains("format 99") && Contains("knows format 1"));
  CHECK((read_file(path) == before));
}

TEST_CASE("a file or a folder that is not there is named, and not made") {
  own_directory folder;
  SECTION("a folder") {
    std::string const path = folder.file("nowhere/store.db");
    CHECK_THROWS_AS(durable::sqlite_store(path), store_error);
    CHECK_THROWS_WITH(durable::sqlite_store(path), Contains(path) && Contains("cannot be opened"));
    CHECK_FALSE(std::filesystem::exists(folder.file("nowhere")));
  }
  SECTION("a file, which is not to be made") {
    std::string const path = folder.file("store.db");
    CHECK_THROWS_AS(durable::sqlite_store(path, {.creates = false}), store_error);
    CHECK_THROWS_WITH(durable::sqlite_store(path, {.creates = false}),
                      Contains(path) && Contains("cannot be opened"));
    CHECK_FALSE(std::filesystem::exists(path));
  }
  SECTION("a store that has become empty, where none is to be made") {
    std::string const path = folder.file("store.db");
    write_file(path, "");
    CHECK_THROWS_WITH(durable::sqlite_store(path, {.creates = false}),
                      Contains(path) && Contains("empty"));
    CHECK(read_file(path).empty());
  }
  SECTION("a folder in place of a file") {
    CHECK_THROWS_WITH(durable::sqlite_store(folder.file("")), Contains("cannot be opened"));
  }
}

/// Opens the file, and does what an engine and a tool do.
void use(std::string const& path) {
  durable::sqlite_store s(path, {.waits_for_disk = false});
  (void)contents(s);
  (void)s.ready(0, 1'000);
  (void)s.next_wake();
  (void)s.any_unfinished();
  s.start(start_of("one more"));
  auto p = part_of(s, "process/1");
  p.entries = {{"step two", "2"}};
  p.sent = {{"friend", "word", "more"}};
  p.status = waiting(5);
  (void)commit(s, p);
  (void)s.wake_due(10, 1'000);
  send(s, "process/2", "word", "key");
}

TEST_CASE("a store that was cut is reported, wherever it was cut") {
  own_directory folder;
  std::string const path = folder.file("store.db");
  make_store(path);
  std::string const whole = read_file(path);
  REQUIRE(whole.size() > 40'000);
  for (std::size_t const size :
       {std::size_t{99}, std::size_t{4'096}, std::size_t{8'192}, std::size_t{10'000},
        whole.size() / 2, whole.size() - 4'096, whole.size() - 8'192}) {
    INFO(size << " of " << whole.size() << " bytes");
    write_file(path, whole.substr(0, size));
    std::string said;
    try {
      durable::sqlite_store s(path, {.waits_for_disk = false});
      said = s.check();
      use(path);
    } catch (store_error const& e) {
      said += e.what();
    }
    CHECK_FALSE(said.empty());
    std::filesystem::remove(path + "-wal");
    std::filesystem::remove(path + "-shm");
  }
}

TEST_CASE("a store with damaged bytes is used or refused, and breaks nothing") {
  own_directory folder;
  std::string const path = folder.file("store.db");
  make_store(path);
  std::string const whole = read_file(path);
  auto const seed = static_cast<unsigned>(next_seed());
  INFO("seed " << seed);
  std::mt19937 random(seed);
  int refused = 0;
  for (int round = 0; round != 150; ++round) {
    std::string damaged = whole;
    // The pages' headers are near their beginnings: there a byte counts most.
    std::size_t const page = random() % (whole.size() / 4'096);
    std::size_t const begin = page * 4'096 + (round % 2 == 0 ? 0 : random() % 4'000);
    std::size_t const n = 1 + random() % 90;
    for (std::size_t i = begin; i != begin + n; ++i) damaged[i] = static_cast<char>(random());
    write_file(path, damaged);
    try {
      use(path);
    } catch (store_error const& e) {
      ++refused;
      if (std::string(e.what()).find(path) == std::string::npos) FAIL_CHECK(e.what());
    }
    std::filesystem::remove(path + "-wal");
    std::filesystem::remove(path + "-shm");
  }
  CHECK(refused > 20);
}

// ---- what cannot be written

/// Runs `f` in a child process; returns what it says, or throws.
std::string in_a_child(std::function<std::string()> const& f) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  pid_t const child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::string said;
    try {
      said = f();
    } catch (store_error const& e) {
      said = "store_error: "s + e.what();
    } catch (std::exception const& e) {
      said = "exception: "s + e.what();
    }
    auto const n = write(ends[1], said.data(), said.size());
    _exit(n == static_cast<ssize_t>(said.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string said;
  char part[4'096];
  for (ssize_t n = 0; (n = read(ends[0], part, sizeof(part))) > 0;)
    said.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  return said;
}
/// Gives up the rights of this program.  False if that is not possible.
bool drop_rights() { return geteuid() != 0 || (setgid(65'534) == 0 && setuid(65'534) == 0); }

TEST_CASE("a store that cannot be written is refused") {
  own_directory folder(std::filesystem::temp_directory_path());  // the child enters it, too
  std::string const path = folder.file("store.db");
  make_store(path);
  namespace fs = std::filesystem;
  auto const readable = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
  auto const enters = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(folder.file(""), readable | enters);
  SECTION("a file and a folder that are read only") { fs::permissions(path, readable); }
  SECTION("a folder that is read only") { fs::permissions(path, fs::perms::all); }
  std::string const said = in_a_child([&]() -> std::string {
    if (!drop_rights()) return "keeps its rights";
    use(path);
    return "used";
  });
  if (said == "keeps its rights")
    WARN("the rights of this program cannot be dropped: nothing was tested");
  else
    CHECK_THAT(said, Contains("store_error") && Contains(path) &&
                         (Contains("cannot be written") || Contains("cannot be opened")));
  fs::permissions(folder.file(""), fs::perms::owner_all);
  fs::permissions(path, fs::perms::owner_all);
  durable::sqlite_store s(path);
  CHECK(s.list(0, 1'000).size() == 41);
}

/// From now on files of this process have that many bytes at most, as if the disk were full.
void limit_files(std::size_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit const most{bytes, bytes};
  if (setrlimit(RLIMIT_FSIZE, &most) != 0) throw std::runtime_error("no limit");
}

TEST_CASE("on a full disk a commit throws, nothing of it is stored, and what was stored stays") {
  own_directory folder;
  std::string const path = folder.file("store.db");
  // How many commits were stored, and what the first that was not said.
  std::string const said = in_a_child([&] {
    durable::sqlite_store s(path);
    for (char const* const id : {"a", "b"}) s.start(start_of(id));
    limit_files(400'000);
    int stored = 0;
    std::string why;
    for (bool is_full = false; !is_full; ++stored) try {
        auto a = part_of(s, "a");
        a.entries = {{"one", std::string(5'000, 'x')}};
        auto b = part_of(s, "b");
        b.entries = {{"one", std::string(5'000, 'y')}};
        std::array<durable::commit_part*, 2> const parts{&a, &b};
        std::array<durable::commit_result, 2> results;
        s.commit(parts, results);
      } catch (store_error const& e) {
        why = e.what();
        is_full = true;
        --stored;
      }
    // Reading goes on, and there is all that was stored.
    if (loaded(s, "a").log.size() != static_cast<std::size_t>(stored)) return "lost"s;
    if (loaded(s, "b").log.size() != static_cast<std::size_t>(stored)) return "torn"s;
    return std::to_string(stored) + " " + why;
  });
  CHECK_THAT(said, Contains(path) && Contains("the disk is full"));
  auto const stored = static_cast<std::size_t>(std::stoi(said));
  CHECK(stored > 5);
  durable::sqlite_store s(path);
  CHECK(s.check().empty());
  CHECK(loaded(s, "a").log.size() == stored);
  CHECK(loaded(s, "b").log.size() == stored);
  auto p = part_of(s, "a");  // there is room again
  p.entries = {{"one", std::string(500'000, 'x')}};
  CHECK(is_accepted(s, p));
}

using row = durable::all<world>;

eff<int, row> many_steps(int n) {
  int sum = 0;
  for (int i = 0; i != n; ++i)
    sum += static_cast<int>((co_await durable::step(
                                 "large", [](int k) { return std::string(5'000, char(k)); }, i))
                                .size());
  co_return sum;
}
constexpr durable::function many_steps_process{"many steps", 1, many_steps};

TEST_CASE("an engine whose disk is full stops with the reason, and goes on when there is room") {
  own_directory folder;
  std::string const path = folder.file("store.db");
  std::string const said = in_a_child([&]() -> std::string {
    durable::sqlite_store s(path);
    durable::engine e(until_all_ended(), s, many_steps_process);
    e.start("a", many_steps_process, 100);
    e.start("b", many_steps_process, 100);
    limit_files(400'000);
    noted_world w;
    schedule({.virtual_time = true}, [&] { return e.run(); }, w);
    return "ended";
  });
  CHECK_THAT(said, Contains("store_error") && Contains("the disk is full"));
  durable::sqlite_store s(path);
  CHECK(s.check().empty());
  CHECK(loaded(s, "a").log.size() > 5);
  CHECK(loaded(s, "a").log.size() < 100);
  durable::engine e(until_all_ended(), s, many_steps_process);
  noted_world w;
  schedule({.virtual_time = true}, [&] { return e.run(); }, w);
  CHECK(e.result<int>("a") == 500'000);
  CHECK(e.result<int>("b") == 500'000);
}

using durable::process_status;

// ---- values

eff<int, row> numbers(int n) {
  int const a = co_await durable::step("number", act, std::string("number"), n);
  auto const m = co_await durable::receive<int>();
  co_return a + m.message;
}
constexpr durable::function numbers_process{"numbers", 1, numbers};
eff<std::string, world> act_in_words(std::string const& what, int n) {
  co_return std::to_string(co_await world::act(what, n));
}
eff<std::string, row> words(int n) {
  std::string const a = co_await durable::step("number", act_in_words, std::string("number"), n);
  auto const m = co_await durable::receive<int>();
  co_return a + std::to_string(m.message);
}
eff<int, row> numbers_of_text(std::string const& n) {
  co_return co_await durable::step("number", act, std::string("number"), std::stoi(n));
}
struct word {
  static constexpr std::string_view stored_name = "int";
  std::string text;
  MSGPACK_DEFINE(text)
};
eff<int, row> receives_words(int n) {
  int const a = co_await durable::step("number", act, std::string("number"), n);
  auto const m = co_await durable::receive<word>();
  co_return a + std::stoi(m.message.text);
}

TEST_CASE(
    "a process whose stored values are no longer readable is quarantined, and loses nothing") {
  some_store s(GENERATE(store_kind::memory, store_kind::sqlite));
  noted_world w;
  {
    durable::engine e(until_idle(), *s, numbers_process);
    e.start("a", numbers_process, 1);
    e.start("other", numbers_process, 10);
    schedule({.virtual_time = true}, [&] { return e.run(); }, w);
  }
  send(*s, "a", durable::encode(2));  // of another type: nobody receives it
  (*s).send({"a", std::string(durable::stored_name<int>()), durable::encode(2)}, {});
  auto const before = loaded(*s, "a");
  auto const run = [&](auto f) {
    durable::engine e(until_idle(), *s, f);
    schedule({.virtual_time = true}, [&] { return e.run(); }, w);
    auto const now = loaded(*s, "a");
    CHECK(now.record.status == process_status::quarantined);
    CHECK(now.log.size() == before.log.size());
    CHECK(now.inbox.size() == before.inbox.size());
    CHECK(now.record.start.arguments == before.record.start.arguments);
    return now.record.result;
  };
  std::string report;
  SECTION("the answer of a step") {
    report = run(durable::function{"numbers", 1, words});
    CHECK_THAT(report, Contains("string"));
  }
  SECTION("the arguments") {
    report = run(durable::function{"numbers", 1, numbers_of_text});
    CHECK_THAT(report, Contains("string"));
  }
  SECTION("a message") { report = run(durable::function{"numbers", 1, receives_words}); }
  SECTION("a function of another name") {
    report = run(durable::function{"sums", 1, numbers});
    CHECK_THAT(report, Contains("no function \"numbers\""));
  }
  CHECK_THAT(report, Contains("weft: "));
  CHECK(w.count("number") == 2);
  // With the code that fits, all goes on from where it was.
  durable::engine e(until_all_ended(), *s, numbers_process);
  CHECK(e.resume_quarantined("a"));
  (void)e.resume_quarantined("other");
  e.send("other", 20);
  schedule({.virtual_time = true}, [&] { return e.run(); }, w);
  CHECK(e.result<int>("a") == 3);
  CHECK(e.result<int>("other") == 30);
  CHECK(w.count("number") == 2);
}

TEST_CASE("bytes that are no stored value do not end the engine") {
  some_store s(store_kind::memory);
  noted_world w;
  durable::engine e(until_idle(), *s, numbers_process);
  // An array that claims to have four thousand million elements, a map likewise, and half a value.
  std::string const bytes =
      GENERATE("\xdd\xff\xff\xff\xff"s, "\xdf\xff\xff\xff\xff"s, "\xdb\xff\xff\xff\xff"s, "\xc1"s,
               ""s, "\x91\x91\x91"s, std::string(100'000, '\x91'));
  INFO(bytes.substr(0, 10));
  SECTION("as arguments") { s->start({"a", "numbers", 1, bytes, {}}); }
  SECTION("as a message") {
    e.start("a", numbers_process, 1);
    s->send({"a", std::string(durable::stored_name<int>()), bytes}, {});
  }
  SECTION("as a cancellation") {
    e.start("a", numbers_process, 1);
    s->send({"a", "weft.cancel", bytes}, {});
  }
  SECTION("as the answer of a step") {
    e.start("a", numbers_process, 1);
    auto p = part_of(*s, "a");
    p.entries = {{"step number", bytes}};
    CHECK(is_accepted(*s, p));
  }
  e.start("other", numbers_process, 10);
  e.send("other", 20);
  schedule({.virtual_time = true}, [&] { return e.run(); }, w);
  CHECK(e.find("a")->status == process_status::quarantined);
  CHECK_THAT(e.find("a")->result, Contains("weft: "));
  CHECK(e.result<int>("other") == 30);
}
