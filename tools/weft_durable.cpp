// SPDX-License-Identifier: MIT

// weft-durable: looks into a store of durable processes, and acts on them.
//
//     weft-durable STORE list | show ID | history ID | workers      [--json]
//     weft-durable STORE send ID TYPE VALUE | cancel ID | resume ID
//     weft-durable --help, and weft-durable STORE send --help
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

#include <CLI/CLI.hpp>
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
#include <nlohmann/json.hpp>
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
using json = nlohmann::ordered_json;

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
/// A value of a log; as text if JSON cannot say it.
json value_of(std::string const& bytes) {
  std::string const text = durable::readable(bytes);
  json value = json::parse(text, nullptr, false);
  return value.is_discarded() ? json(text) : value;
}
/// One object a line.  A text that is no UTF-8 is printed as far as it is.
void print(json const& object) {
  std::cout << object.dump(-1, ' ', false, json::error_handler_t::replace) << '\n';
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
  json object = {{"id", p.start.id},
                 {"function", p.start.function},
                 {"version", p.start.version},
                 {"status", name_of(p.status)},
                 {"run", p.run},
                 {"entries", p.entries},
                 {"messages", p.messages}};
  if (p.wake) object["wake"] = *p.wake;
  if (!p.start.parent.empty()) object["parent"] = p.start.parent;
  if (p.status == durable::process_status::quarantined)
    object["report"] = p.result;
  else if (!p.result.empty())
    object["result"] = value_of(p.result);
  if (!p.published.empty()) object["published"] = value_of(p.published);
  print(object);
}

void print_workers(durable::store& s, bool as_json) {
  auto* const shared = dynamic_cast<durable::replicated_store*>(&s);
  if (!shared) throw std::runtime_error("weft: a store in a file has no workers");
  for (auto const& w : shared->workers())
    if (as_json)
      print({{"name", w.name}, {"processes", w.processes}});
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
      print({{"position", position}, {"operation", e.operation}, {"answer", value_of(e.answer)}});
    else
      std::cout << position << "  " << e.operation << "  " << durable::readable(e.answer) << '\n';
    how_far.say_entries(++position, p.log.size());
  }
}

/// The bytes of a value that was typed: a number, a truth value, or text.
std::string bytes_of(std::string_view text) {
  if (text == "true" || text == "false") return durable::encode(text == "true");
  std::int64_t number = 0;
  auto const end = text.data() + text.size();
  if (auto const [at, error] = std::from_chars(text.data(), end, number);
      error == std::errc() && at == end)
    return durable::encode(number);
  return durable::encode(std::string(text));
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

/// The arguments.
struct command_line {
  command_line() {
    line.add_option(
            "STORE", where,
            "A file, or nats://HOST:PORT/NAME or tls://HOST:PORT/NAME; without a name it is "
            "the store `weft`.  Of a cluster nats://HOST:PORT,nats://HOST:PORT/NAME")
        ->required();
    line.add_flag("--progress", always_says, "Say how far an operation is, not only on a terminal");
    line.require_subcommand(1);
    // Options may stand behind the command, too.
    for (CLI::App* const command : line.get_subcommands({})) command->fallthrough();

    with_json(list);
    with_json(with_id(show));
    with_json(with_id(history))
        ->excludes(
            history->add_option("--html", page, "Write the history as a page, to this file"));
    with_id(send)
        ->add_option("TYPE", type, "The type of the message, as the process names it")
        ->required();
    send->add_option("VALUE", value, "A number, true, false, or text")->required();
    with_id(cancel);
    with_id(resume);
    with_json(workers);

    auto const from_file = [&](char const* name, std::string& to, char const* variable,
                               char const* what) {
      line.add_option(name, to, what)->envname(variable)->group("Servers");
    };
    from_file("--creds", servers.credentials_file, "NATS_CREDS", "A file of credentials");
    from_file("--tlsca", servers.ca_file, "NATS_CA", "Certificates that are trusted");
    from_file("--tlscert", servers.certificate_file, "NATS_CERT",
              "The certificate of this program");
    from_file("--tlskey", servers.key_file, "NATS_KEY", "The key of that certificate");
    // Secrets are no options: others of this computer can read the arguments of a program.
    for (auto const& [variable, to] :
         {std::pair("NATS_USER", &servers.user), std::pair("NATS_PASSWORD", &servers.password),
          std::pair("NATS_TOKEN", &servers.token)})
      if (char const* const secret = std::getenv(variable)) *to = secret;
    line.footer(
        "A user and a password may stand in the address, as USER:PASSWORD@HOST, or in NATS_USER "
        "and "
        "NATS_PASSWORD; a token in NATS_TOKEN.");
  }

  CLI::App* with_id(CLI::App* command) {
    command->add_option("ID", id, "The id of a process")->required();
    return command;
  }
  CLI::Option* with_json(CLI::App* command) {
    return command->add_flag("--json", as_json, "Print one object a line");
  }

  std::string where, id, type, value, page;
  bool as_json = false;
  bool always_says = false;
  weft::cluster::connection_options servers{.patience = std::chrono::seconds(5)};

  CLI::App line{"Looks into a store of durable processes, and acts on them.", "weft-durable"};
  CLI::App* const list = line.add_subcommand("list", "List all processes");
  CLI::App* const show = line.add_subcommand("show", "Show a process");
  CLI::App* const history = line.add_subcommand("history", "Show the log of a process");
  CLI::App* const send = line.add_subcommand("send", "Send a message to a process");
  CLI::App* const cancel = line.add_subcommand("cancel", "Cancel a process");
  CLI::App* const resume = line.add_subcommand("resume", "Let a quarantined process go on");
  CLI::App* const workers =
      line.add_subcommand("workers", "List the workers of a store on a server");
};

void run(command_line const& c) {
  auto const store = opened(c.where, c.servers);
  durable::store& s = *store;
  progress how_far(c.always_says, c.page.empty());
  if (*c.list) list(s, c.as_json, how_far);
  if (*c.show) show(s, c.id, c.as_json);
  if (*c.history) history(s, c.id, c.as_json, c.page, how_far);
  if (*c.workers) print_workers(s, c.as_json);
  if (*c.send) s.send({c.id, c.type, bytes_of(c.value)}, {});
  if (*c.cancel) {
    (void)found(s, c.id);
    durable::engine_base(s, {}).cancel(c.id, "weft: cancelled by weft-durable");
  }
  if (*c.resume && !s.release(found(s, c.id).key))
    throw std::runtime_error("weft: the process " + c.id + " is not quarantined");
}

}  // namespace

int main(int argc, char** argv) {
  command_line c;
  try {
    c.line.parse(argc, argv);
    // `bazel run` starts a program elsewhere than where the command was given.
    if (char const* const here = std::getenv("BUILD_WORKING_DIRECTORY"))
      std::filesystem::current_path(here);
    run(c);
  } catch (CLI::ParseError const& e) {
    return c.line.exit(e) == 0 ? 0 : 2;
  } catch (std::exception const& e) {
    std::cerr << e.what() << '\n';
    return 1;
  }
}
