// SPDX-License-Identifier: MIT

// weft-durable: looks into a store of durable processes, and acts on them.
//
//     weft-durable STORE list [--json]
//     weft-durable STORE show ID [--json]
//     weft-durable STORE history ID [--json | --html=PAGE.html]
//     weft-durable STORE send ID TYPE VALUE     a number, true, false, or text
//     weft-durable STORE cancel ID
//     weft-durable STORE resume ID              a quarantined process
//     weft-durable STORE workers [--json]       of a store on a server
//
// STORE is a file, or a store on NATS: nats://HOST:PORT/NAME, or tls://HOST:PORT/NAME; of a cluster
// nats://HOST:PORT,nats://HOST:PORT/NAME.  Without a name it is the store `weft`.  A user and a password
// may stand in the address, as USER:PASSWORD@HOST; others of this computer can read them there.  So
// there are options and, for the same, variables of the environment, those of the program `nats`:
//
//     --creds=FILE     NATS_CREDS               a file of credentials
//                      NATS_USER, NATS_PASSWORD
//                      NATS_TOKEN
//     --tlsca=FILE     NATS_CA                  certificates that are trusted
//     --tlscert=FILE   NATS_CERT                the certificate of this program
//     --tlskey=FILE    NATS_KEY                 and its key
//
// An engine that runs on the store sees what is sent in half a second, on NATS at once.
//
// An operation that takes long says on a terminal how far it is, in a line that is rewritten; with
// --progress each one does, and also elsewhere, a line each time.

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <deque>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weft/cluster/nats_store.hpp"
#include "weft/durable/codec.hpp"
#include "weft/durable/engine.hpp"
#include "weft/durable/sqlite_store.hpp"
#include "weft/trace/trace_files.hpp"

namespace {

namespace durable = weft::durable;

struct wrong_use {};

/// Says on stderr how far an operation is.  Without `always` only if stderr is a terminal and the
/// operation has taken longer than half a second.
class progress {
  using clock = std::chrono::steady_clock;

 public:
  /// `prints`: the operation prints to stdout.  Then nothing is said unless that is a file: the line
  /// would stand among the result, or in the page of a pager.
  progress(bool always, bool prints)
      : always_(always), says_(always || (is_terminal_ && !(prints && !is_file(STDOUT_FILENO)))) {}
  progress(progress const&) = delete;
  progress& operator=(progress const&) = delete;
  ~progress() {
    if (is_line_there_) std::cerr << "\r\x1b[K" << std::flush;
  }

  /// `is_long`: what follows takes long and says nothing, so it is said at once.
  void say(std::string const& what, bool is_long = false) {
    if (!says_ || (!always_ && !is_long && clock::now() < next_)) return;
    next_ = clock::now() + std::chrono::milliseconds(100);
    std::cerr << (is_terminal_ ? "\r" : "") << "weft-durable: " << what
              << (is_terminal_ ? "\x1b[K" : "\n") << std::flush;
    is_line_there_ = is_terminal_;
  }
  /// A thousand times less often than it is called.
  void say_entries(std::size_t n, std::size_t of) {
    if (n % 1000 == 0) say(std::to_string(n) + " of " + std::to_string(of) + " entries");
  }

 private:
  static bool is_file(int descriptor) {
    struct stat found{};
    return fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode);
  }

  bool const is_terminal_ = isatty(STDERR_FILENO) == 1;
  bool const always_;
  bool const says_;
  bool is_line_there_ = false;
  clock::time_point next_ = clock::now() + std::chrono::milliseconds(500);
};

std::string time_of(durable::timestamp t) {
  std::time_t const seconds = t / 1'000'000'000;
  std::tm day{};
  gmtime_r(&seconds, &day);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &day);
  return text;
}
std::string json(std::string_view text) {
  return durable::readable(durable::encode(std::string(text)));
}
/// A result: a value as JSON; a report, which is plain text, as it is.
std::string result_of(durable::process_record const& p) {
  return p.status == durable::process_status::quarantined ? p.result : durable::readable(p.result);
}

durable::process_record found(durable::store& s, std::string_view id) {
  auto p = s.find(id);
  if (!p) throw std::runtime_error("weft: the store has no process " + std::string(id));
  return *std::move(p);
}

void print_json(durable::process_record const& p) {
  std::cout << "{\"id\":" << json(p.start.id) << ",\"function\":" << json(p.start.function)
            << ",\"version\":" << p.start.version << ",\"status\":" << json(name_of(p.status))
            << ",\"run\":" << p.run << ",\"entries\":" << p.entries
            << ",\"messages\":" << p.messages;
  if (p.wake) std::cout << ",\"wake\":" << *p.wake;
  if (!p.start.parent.empty()) std::cout << ",\"parent\":" << json(p.start.parent);
  if (p.status == durable::process_status::quarantined)
    std::cout << ",\"report\":" << json(p.result);
  else if (!p.result.empty())
    std::cout << ",\"result\":" << durable::readable(p.result);
  if (!p.published.empty()) std::cout << ",\"published\":" << durable::readable(p.published);
  std::cout << "}\n";
}

void print_workers(durable::store& s, bool as_json) {
  auto* const shared = dynamic_cast<durable::replicated_store*>(&s);
  if (!shared) throw std::runtime_error("weft: a store in a file has no workers");
  for (auto const& w : shared->workers())
    if (as_json)
      std::cout << "{\"name\":" << json(w.name) << ",\"processes\":" << w.processes << "}\n";
    else
      std::cout << w.name << "  " << w.processes << '\n';
}

void list(durable::store& s, bool as_json, progress& how_far) {
  std::size_t listed = 0;
  for (durable::process_key last = 0;;) {
    auto const some = s.list(last, 1000);
    if (some.empty()) return;
    listed += some.size();
    how_far.say(std::to_string(listed) + " processes");
    for (auto const& p : some) {
      last = p.key;
      if (as_json) {
        print_json(p);
        continue;
      }
      std::cout << p.start.id << "  " << p.start.function << " " << p.start.version << "  "
                << name_of(p.status);
      if (p.wake) std::cout << " until " << time_of(*p.wake);
      if (!p.result.empty()) std::cout << "  " << result_of(p);
      std::cout << '\n';
    }
  }
}

void show(durable::store& s, std::string_view id, bool as_json) {
  auto const p = found(s, id);
  if (as_json) return print_json(p);
  auto const all = s.load(p.key);
  std::cout << p.start.id << ": " << p.start.function << ", version " << p.start.version
            << "\narguments: " << durable::readable(p.start.arguments)
            << "\nstatus: " << name_of(p.status);
  if (p.wake) std::cout << " until " << time_of(*p.wake);
  std::cout << "\nlog: " << p.entries << " entries, run " << p.run << '\n';
  if (!all.log.empty()) std::cout << "last: " << all.log.back().operation << '\n';
  for (auto const& m : all.inbox)
    std::cout << "message " << m.sequence << (m.sender.empty() ? "" : " of ") << m.sender << ": "
              << m.type << " " << durable::readable(m.data) << '\n';
  if (!p.published.empty()) std::cout << "published: " << durable::readable(p.published) << '\n';
  if (!p.result.empty()) std::cout << "result: " << result_of(p) << '\n';
}

/// Whether it takes long to read the log, or to write it as a page.
bool is_long(durable::process_record const& p) { return p.entries >= 10'000; }

/// The history as a trace: each entry of the log is an operation and its answer.
void write_page(durable::stored_process const& p, std::string const& file, progress& how_far) {
  std::deque<std::string> texts;  // which the events refer to
  std::vector<weft::trace_event> events;
  std::int64_t time = 0;
  auto const add = [&](weft::trace_kind k, std::string_view operation, std::string text) {
    weft::trace_event e;
    e.time = time++;
    e.kind = k;
    e.operation = operation;
    e.text = texts.emplace_back(std::move(text));
    e.worker = 0;
    events.push_back(e);
  };
  add(weft::trace_kind::spawn, {}, {});
  for (auto const& e : p.log) {
    add(weft::trace_kind::perform, e.operation, durable::readable(e.answer));
    add(weft::trace_kind::answer, e.operation, {});
    how_far.say_entries(events.size() / 2, p.log.size());
  }
  if (has_ended(p.record.status)) add(weft::trace_kind::end, {}, {});
  how_far.say("writing " + file, is_long(p.record));
  weft::write_trace(events, file);
}

void history(durable::store& s, std::string_view id, bool as_json, std::string const& page,
             progress& how_far) {
  auto const r = found(s, id);
  how_far.say("reading " + std::to_string(r.entries) + " entries", is_long(r));
  auto const p = s.load(r.key);
  if (!page.empty()) return write_page(p, page, how_far);
  std::size_t position = 0;
  for (auto const& e : p.log) {
    if (as_json)
      std::cout << "{\"position\":" << position << ",\"operation\":" << json(e.operation)
                << ",\"answer\":" << durable::readable(e.answer) << "}\n";
    else
      std::cout << position << "  " << e.operation << "  " << durable::readable(e.answer) << '\n';
    how_far.say_entries(++position, p.log.size());
  }
}

std::string value_of(std::string_view text) {
  if (text == "true" || text == "false") return durable::encode(text == "true");
  std::int64_t number = 0;
  auto const end = text.data() + text.size();
  if (auto const [at, error] = std::from_chars(text.data(), end, number);
      error == std::errc() && at == end)
    return durable::encode(number);
  return durable::encode(std::string(text));
}

/// The value of a variable of the environment; empty if there is none.
std::string variable(char const* name) {
  char const* const value = std::getenv(name);
  return value ? value : "";
}

weft::cluster::connection_options options_of_environment() {
  return {.patience = std::chrono::seconds(5),
          .user = variable("NATS_USER"),
          .password = variable("NATS_PASSWORD"),
          .token = variable("NATS_TOKEN"),
          .credentials_file = variable("NATS_CREDS"),
          .ca_file = variable("NATS_CA"),
          .certificate_file = variable("NATS_CERT"),
          .key_file = variable("NATS_KEY")};
}

std::unique_ptr<durable::store> opened(std::string const& where,
                                       weft::cluster::connection_options servers) {
  if (!where.starts_with("nats://") && !where.starts_with("tls://"))
    return std::make_unique<durable::sqlite_store>(where,
                                                   durable::sqlite_store_options{.creates = false});
  weft::cluster::nats_store_options o{.creates = false};
  servers.url = where;
  if (auto const at = where.rfind('/'); where[at - 1] != '/') {
    servers.url = where.substr(0, at);
    if (at + 1 != where.size()) o.name = where.substr(at + 1);
  }
  return std::make_unique<weft::cluster::nats_store>(servers, o);
}

int run(std::vector<std::string> words) {
  bool as_json = false;
  bool always_says = false;
  std::string page;
  auto server = options_of_environment();
  std::pair<std::string_view, std::string*> const with_value[] = {
      {"--html=", &page},
      {"--creds=", &server.credentials_file},
      {"--tlsca=", &server.ca_file},
      {"--tlscert=", &server.certificate_file},
      {"--tlskey=", &server.key_file}};
  std::erase_if(words, [&](std::string const& w) {
    if (w == "--json") return as_json = true;
    if (w == "--progress") return always_says = true;
    for (auto const& [name, value] : with_value)
      if (w.starts_with(name)) {
        *value = w.substr(name.size());
        return true;
      }
    return false;
  });
  auto const is = [&](char const* command, std::size_t n) {
    return words.size() == n + 2 && words[1] == command;
  };
  if (words.size() < 2) throw wrong_use();
  auto const store = opened(words[0], server);
  durable::store& s = *store;
  progress how_far(always_says, page.empty());
  if (is("list", 0)) {
    list(s, as_json, how_far);
  } else if (is("show", 1)) {
    show(s, words[2], as_json);
  } else if (is("history", 1)) {
    history(s, words[2], as_json, page, how_far);
  } else if (is("workers", 0)) {
    print_workers(s, as_json);
  } else if (is("send", 3)) {
    s.send({words[2], words[3], value_of(words[4])}, {});
  } else if (is("cancel", 1)) {
    (void)found(s, words[2]);
    durable::engine_base(s, {}).cancel(words[2], "weft: cancelled by weft-durable");
  } else if (is("resume", 1)) {
    if (!s.release(found(s, words[2]).key))
      throw std::runtime_error("weft: the process " + words[2] + " is not quarantined");
  } else {
    throw wrong_use();
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    // `bazel run` starts a program elsewhere than where the command was given.
    if (char const* const here = std::getenv("BUILD_WORKING_DIRECTORY"))
      std::filesystem::current_path(here);
    return run({argv + 1, argv + argc});
  } catch (wrong_use const&) {
    std::cerr
        << "usage: weft-durable STORE list | show ID | history ID | send ID TYPE VALUE | cancel "
           "ID | resume ID | workers\n       [--json] [--html=PAGE.html] [--progress]\n"
           "       STORE is a file, or nats://HOST:PORT/NAME or tls://HOST:PORT/NAME, with\n"
           "       [--creds=FILE] [--tlsca=FILE] [--tlscert=FILE --tlskey=FILE]\n";
    return 2;
  } catch (std::exception const& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
