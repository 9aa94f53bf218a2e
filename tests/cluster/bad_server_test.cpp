// SPDX-License-Identifier: MIT
#include <nats/nats.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/cluster/servers.hpp"
#include "tests/durable/stores.hpp"
#include "tests/prelude.hpp"
#include "tests/support/own_directory.hpp"
#include "weft/cluster/nats_store.hpp"
#include "weft/durable/detail/command.hpp"

using durable::store_error;

/// All options, to be changed one by one.
struct options : cluster::connection_options, cluster::nats_store_options {};
cluster::nats_store store_of(options const& o) { return cluster::nats_store(o, o); }
/// For a store that cannot be used: gives up soon.
options impatient(std::string url) {
  options o;
  o.url = std::move(url);
  o.name = "bad";
  o.patience = 300ms;
  return o;
}

/// What the store says when it is opened.
std::string opening(options const& o) {
  try {
    (void)store_of(o);
  } catch (store_error const& e) {
    return e.what();
  }
  return "opened";
}

std::string store_at(std::string const& url) { return "weft: the store bad at " + url + " "; }

// ---- no server, or another one

TEST_CASE("a store says that no server answers") {
  std::string const url = "nats://127.0.0.1:" + std::to_string(free_port());
  CHECK(opening(impatient(url)) ==
        store_at(url) +
            "cannot be reached: no server of NATS answers: start one, or correct the address");
}

TEST_CASE("a store says that an address is none") {
  for (std::string const url : {"", "nats://127.0.0.1:port", "nats://127.0.0.1:4222,,"})
    CHECK(opening(impatient(url)) ==
          store_at(url == "nats://127.0.0.1:4222,," ? "nats://127.0.0.1:4222," : url) +
              "cannot be reached: an address is not of the form nats://HOST:PORT");
}

TEST_CASE("a store says that a server has no JetStream, and how to start it") {
  nats_server const server({"-js=false"});
  CHECK(opening(impatient(server.url())) ==
        store_at(server.url()) +
            "cannot be opened: the server has no JetStream: start it with `nats-server -js`");
}

/// Listens on a port, and is no server, or an old one.
class impostor {
 public:
  /// Says `greeting` to each client, and answers to PING if `answers`.
  impostor(std::string greeting, bool answers) : greeting_(std::move(greeting)), answers_(answers) {
    thread_ = std::thread([this] { run(); });
  }
  impostor(impostor const&) = delete;
  impostor& operator=(impostor const&) = delete;
  ~impostor() {
    ends_ = true;
    thread_.join();
    for (auto const& s : sockets_) ::close(s.fd);
  }
  [[nodiscard]] std::string url() const { return "nats://127.0.0.1:" + std::to_string(port_); }

 private:
  static void say(int to, std::string_view text) {
    (void)::send(to, text.data(), text.size(), MSG_NOSIGNAL);
  }
  void run() {
    while (!ends_) {
      ::poll(sockets_.data(), sockets_.size(), 5);
      for (auto& s : sockets_) {
        if (s.revents == 0 || s.fd == sockets_[0].fd) continue;
        std::array<char, 4'096> bytes{};
        auto const n = ::recv(s.fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (n <= 0) s.events = 0;
        std::string_view const text(bytes.data(), n > 0 ? static_cast<std::size_t>(n) : 0);
        if (answers_ && text.find("PING") != std::string_view::npos) say(s.fd, "PONG\r\n");
      }
      if (sockets_[0].revents == 0) continue;
      int const client = ::accept4(sockets_[0].fd, nullptr, nullptr, SOCK_CLOEXEC);
      if (client < 0) continue;
      say(client, greeting_);
      sockets_.push_back({client, POLLIN, 0});
    }
  }

  std::string const greeting_;
  bool const answers_;
  std::uint16_t port_ = 0;
  std::vector<pollfd> sockets_{{listening_on_free(port_), POLLIN, 0}};  // the first one listens
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

TEST_CASE("a store says that something else than NATS listens") {
  std::string const no_server =
      "cannot be reached: what answers is no server of NATS, or wants a certificate of this "
      "program";
  SECTION("it says something") {
    impostor const other("HTTP/1.1 400 Bad Request\r\n\r\n", false);
    CHECK(opening(impatient(other.url())) == store_at(other.url()) + no_server);
  }
  SECTION("it says nothing") {
    impostor const other("", false);
    CHECK(opening(impatient(other.url())) ==
          store_at(other.url()) + "cannot be reached: the server does not answer");
  }
}

TEST_CASE("a store says that a server is too old") {
  impostor const old(
      R"(INFO {"server_id":"OLD","version":"2.1.0","go":"go1.13","host":"127.0.0.1","port":4222,)"
      R"("headers":false,"jetstream":false,"max_payload":1048576,"proto":1})"
      "\r\n",
      true);
  CHECK(opening(impatient(old.url())) ==
        store_at(old.url()) +
            "cannot be reached: the server is older than NATS 2.2, or its headers are switched "
            "off: start a newer one");
}

using Catch::Matchers::StartsWith;

options patient(std::string url) {
  auto o = impatient(std::move(url));
  o.patience = 30s;
  return o;
}

template <class F>
std::string said_by(F const& f) {
  try {
    f();
  } catch (store_error const& e) {
    return e.what();
  }
  return "nothing";
}

TEST_CASE("a call says that the server has gone, and the store can be closed") {
  nats_server server;
  auto s = store_of(patient(server.url()));
  auto t = store_of(impatient(server.url()));
  s.start(start_of("a"));
  server.kill_it();
  CHECK_THAT(said_by([&] { t.start(start_of("b")); }),
             StartsWith(store_at(server.url()) + "cannot be written: "));
  CHECK_THAT(said_by([&] { (void)t.find("a"); }),
             StartsWith(store_at(server.url()) + "cannot be read: "));
  server.start();
  CHECK(s.find("a"));
}

/// Another program, which uses the same servers.
class other_program {
 public:
  explicit other_program(std::string const& url) {
    REQUIRE(natsConnection_ConnectTo(&connection_, url.c_str()) == NATS_OK);
    REQUIRE(natsConnection_JetStream(&streams_, connection_, nullptr) == NATS_OK);
  }
  other_program(other_program const&) = delete;
  other_program& operator=(other_program const&) = delete;
  ~other_program() {
    jsCtx_Destroy(streams_);
    natsConnection_Destroy(connection_);
  }
  void make_stream(std::string const& name, char const* subject) {
    jsStreamConfig made;
    REQUIRE(jsStreamConfig_Init(&made) == NATS_OK);
    made.Name = name.c_str();
    made.Subjects = &subject;
    made.SubjectsLen = 1;
    CHECK(js_AddStream(nullptr, streams_, &made, nullptr, nullptr) == NATS_OK);
  }
  void remove_entries(char const* stream) {
    CHECK(js_PurgeStream(streams_, stream, nullptr, nullptr) == NATS_OK);
  }
  void remove_stream(char const* name) {
    CHECK(js_DeleteStream(streams_, name, nullptr, nullptr) == NATS_OK);
  }
  void write(char const* subject, std::string const& bytes) {
    CHECK(js_Publish(nullptr, streams_, subject, bytes.data(), static_cast<int>(bytes.size()),
                     nullptr, nullptr) == NATS_OK);
  }
  [[nodiscard]] bool has_stream(char const* name) {
    jsStreamInfo* found = nullptr;
    bool const has = js_GetStreamInfo(&found, streams_, name, nullptr, nullptr) == NATS_OK;
    jsStreamInfo_Destroy(found);
    return has;
  }

 private:
  natsConnection* connection_ = nullptr;
  jsCtx* streams_ = nullptr;
};

// ---- streams

TEST_CASE("a store that is not there is named, and not made") {
  nats_server const server;
  auto o = impatient(server.url());
  o.creates = false;
  CHECK(opening(o) == store_at(server.url()) + "cannot be opened: there is no such store");
  CHECK_FALSE(other_program(server.url()).has_stream("weft_bad"));
}

TEST_CASE("the stream of another program is refused") {
  nats_server const server;
  other_program other(server.url());
  SECTION("it has the name") {
    other.make_stream("weft_bad", "theirs");
    CHECK(opening(impatient(server.url())) ==
          store_at(server.url()) +
              "cannot be opened: the stream weft_bad is that of another program: give the store "
              "another name");
  }
  SECTION("it has the subject") {
    other.make_stream("theirs", "weft.>");
    CHECK(opening(impatient(server.url())) ==
          store_at(server.url()) +
              "cannot be opened: another stream has its subject: give the store another name");
  }
}

TEST_CASE("a store whose first entries were removed is refused") {
  nats_server const server;
  auto before = store_of(patient(server.url()));
  before.start(start_of("a"));
  other_program(server.url()).remove_entries("weft_bad");
  CHECK(opening(impatient(server.url())) ==
        store_at(server.url()) +
            "cannot be opened: its first entries were removed from the stream weft_bad, and "
            "without them none can be read");
  CHECK(before.find("a"));  // a handle that has read them goes on
}

TEST_CASE("a call says that the store was removed") {
  nats_server const server;
  auto s = store_of(impatient(server.url()));
  s.start(start_of("a"));
  other_program(server.url()).remove_stream("weft_bad");
  CHECK(said_by([&] { (void)s.find("a"); }) ==
        store_at(server.url()) + "cannot be read: there is no such store");
  CHECK(said_by([&] { s.start(start_of("b")); }) ==
        store_at(server.url()) +
            "cannot be written: no server has it: its servers do not run, or it was removed");
}

TEST_CASE("an entry of another program or of a newer version stops readers, and changes nothing") {
  nats_server const server;
  auto s = store_of(patient(server.url()));
  s.start(start_of("a"));
  std::string const entry = "an entry that this version of weft does not know";
  std::string const command = "a command that this version of weft does not know";
  auto const [bytes, what] = GENERATE_REF(table<std::string, std::string>(
      {{"Dear diary", entry},
       {"", entry},
       // An array of six, that begins with the number of a format.
       {std::string("\x96\x02\xa1w\x01\x00\x01\xa0", 8), entry},
       {durable::detail::encode_envelope({"newer", 1, 0, 1, "\x91\x63"}), command}}));
  other_program(server.url()).write("weft.bad.log", bytes);
  CHECK_THAT(said_by([&] { (void)s.find("a"); }), Contains(what));
  CHECK_THAT(said_by([&] { s.start(start_of("b")); }), Contains(what));
  CHECK_THAT(opening(impatient(server.url())), Contains(what));
}

TEST_CASE("a store says that there are fewer servers than copies") {
  std::string const fewer =
      "cannot be opened: the cluster has not as many servers as copies are wanted";
  SECTION("one server") {
    nats_server const server;
    auto o = impatient(server.url());
    o.replicas = 3;
    CHECK(opening(o) == store_at(server.url()) + fewer);
  }
  SECTION("three servers") {
    nats_cluster const servers;
    auto o = patient(servers.url());
    o.replicas = 5;
    CHECK(opening(o) == store_at(servers.url()) + fewer);
  }
}

TEST_CASE("a name with characters that mean something to a server is refused before it is sent") {
  impostor const nobody("", false);
  for (std::string const name : {"", "a.b", "a b", "a*", "a>", "a/b", "\xc3\xa4", "a\n"}) {
    auto o = patient(nobody.url());  // nothing is waited for
    o.name = name;
    CHECK(opening(o) == "weft: a store cannot have the name \"" + name +
                            "\": only letters, digits, - and _ may stand in it");
  }
}

/// Appends an entry to a process, by a store.
bool add_entry(durable::store& s, std::string const& id, std::size_t size) {
  auto p = part_of(s, id);
  p.entries = {{"step one", std::string(size, 'x')}};
  return is_accepted(s, p);
}

// ---- what is full

/// A server that may use only so much of its disk.
class small_server {
 public:
  explicit small_server(std::string const& most) { limit(most); }
  void raise(std::string const& most) {
    limit(most);
    server_->restart();
  }
  nats_server& operator*() {
    if (!server_)
      server_ = std::make_unique<nats_server>(std::vector<std::string>{"-c", files_.file("conf")});
    return *server_;
  }

 private:
  void limit(std::string const& most) {
    std::ofstream(files_.file("conf")) << "jetstream { max_file: " << most << ", max_mem: 64MB }\n";
  }
  own_directory files_;
  std::unique_ptr<nats_server> server_;
};

TEST_CASE(
    "on a full server a commit throws, what was stored stays, and it goes on with more room") {
  small_server server("200KB");
  std::string const full =
      "cannot be written: the disk of the server, or what it may use of it, is full";
  auto s = store_of(patient((*server).url()));
  s.start(start_of("a"));
  std::size_t stored = 0;
  std::string why = "nothing";
  bool accepted = true;
  for (; why == "nothing" && stored < 100; ++stored)
    why = said_by([&] { accepted = add_entry(s, "a", 5'000) && accepted; });
  --stored;  // the last one was not
  CHECK(accepted);
  CHECK(why == store_at((*server).url()) + full);
  CHECK(stored > 5);
  CHECK(loaded(s, "a").log.size() == stored);
  CHECK(said_by([&] { s.start(start_of("b", std::string(50'000, 'a'))); }) ==
        store_at((*server).url()) + full);
  {
    auto other = store_of(patient((*server).url()));  // reading goes on
    CHECK(loaded(other, "a").log.size() == stored);
    CHECK_FALSE(other.find("b"));
  }
  server.raise("100MB");
  CHECK(add_entry(s, "a", 500'000));
  CHECK(loaded(s, "a").log.size() == stored + 1);
  auto other = store_of(patient((*server).url()));
  CHECK(loaded(other, "a").log.size() == stored + 1);
  CHECK_FALSE(other.find("b"));
}

/// Servers that are not there, are others, refuse or are full, and streams that are not weft's: each
/// gives a text that says what is wrong and what to do, and nothing that was stored is lost.
using Catch::Matchers::EndsWith;

TEST_CASE("a change of several entries, of which only some have room, is not made") {
  small_server server("1MB");
  auto s = store_of(patient((*server).url()));
  s.start(start_of("a"));
  CHECK_THAT(said_by([&] { add_entry(s, "a", 3'000'000); }), EndsWith("is full"));
  CHECK(loaded(s, "a").log.empty());
  server.raise("100MB");
  CHECK(loaded(s, "a").log.empty());
  CHECK(add_entry(s, "a", 3'000'000));
  auto other = store_of(patient((*server).url()));
  CHECK(loaded(s, "a").log.size() == 1);
  CHECK(loaded(other, "a").log.size() == 1);
}

// ---- secrets

std::string with_user(std::string const& url, std::string const& user) {
  return "nats://" + user + "@" + url.substr(std::string_view("nats://").size());
}
void check_no_secrets(std::string const& text) {
  for (char const* const secret : {"lovelace", "byron", "sesame", "ada"})
    CHECK(text.find(secret) == std::string::npos);
}

std::string const not_accepted =
    "cannot be reached: the server does not accept this user and password, token or credentials";

TEST_CASE("a server that asks for a user accepts the right one, and a message names none") {
  nats_server const server({"--user", "ada", "--pass", "lovelace"});
  auto o = patient(server.url());
  auto bad = impatient(server.url());
  SECTION("in the options") {
    o.user = bad.user = "ada";
    o.password = "lovelace";
    bad.password = "byron";
  }
  SECTION("in the address") {
    o.url = with_user(server.url(), "ada:lovelace");
    bad.url = with_user(server.url(), "ada:byron");
  }
  SECTION("none, or a token") {
    o.url = with_user(server.url(), "ada:lovelace");
    bad.token = GENERATE("", "sesame");
  }
  CHECK(opening(o) == "opened");
  CHECK(opening(bad) == store_at(server.url()) + not_accepted);
  o.creates = false;
  o.name = "other";
  CHECK_THAT(opening(o), Contains("there is no such store"));
  check_no_secrets(opening(o));
}

TEST_CASE("a server that asks for a token accepts the right one, and a message does not have it") {
  nats_server const server({"--auth", "sesame"});
  auto o = patient(server.url());
  auto bad = impatient(server.url());
  SECTION("in the options") {
    o.token = "sesame";
    bad.token = "lovelace";
  }
  SECTION("in the address") {
    o.url = with_user(server.url(), "sesame");
    bad.url = with_user(server.url(), "lovelace");
  }
  CHECK(opening(o) == "opened");
  CHECK(opening(bad) == store_at(server.url()) + not_accepted);
}

TEST_CASE("the secrets of several addresses stand in no message") {
  std::string const port = std::to_string(free_port());
  std::string const a = "127.0.0.1:" + port;
  std::string const b = "localhost:" + port;
  for (auto const& [given, shown] : std::vector<std::pair<std::string, std::string>>{
           {"nats://ada:lovelace@" + a + ",nats://sesame@" + b, "nats://" + a + ",nats://" + b},
           {"nats://ada:love,lace@" + a + ",tls://ada:by@ron@" + b, "nats://" + a + ",tls://" + b},
           {"nats://ada:a://b@" + a, "nats://" + a},
           {"ada:lovelace@" + a, a},
           {"nats://" + a + "," + b, "nats://" + a + "," + b}})
    CHECK_THAT(opening(impatient(given)), StartsWith(store_at(shown)));
}

// ---- files and TLS

TEST_CASE("a file that is missing, or is another one, is named") {
  nats_server const server;
  own_directory files;
  std::ofstream(files.file("text")) << "Dear diary\n";
  auto const has_text = GENERATE(false, true);
  std::string const file = files.file(has_text ? "text" : "nowhere");
  auto o = impatient(server.url());
  std::string what = "cannot be read";
  SECTION("the credentials") {
    o.credentials_file = file;
    if (has_text) what = "has no credentials";
  }
  SECTION("the certificates that are trusted") {
    o.ca_file = file;
    if (has_text) what = "has no certificates";
  }
  SECTION("the certificate of this program") {
    o.certificate_file = file;
    o.key_file = files.file("text");
    if (has_text) what = "has no certificate, or not that of the key in `key_file`";
  }
  SECTION("its key") {
    o.key_file = files.file("nowhere");
    o.certificate_file = files.file("text");
    CHECK(opening(o) ==
          store_at(server.url()) + "cannot be reached: the file " + o.key_file + " cannot be read");
    return;
  }
  CHECK(opening(o) == store_at(server.url()) + "cannot be reached: the file " + file + " " + what);
}

/// Certificates, made by openssl.
class certificates {
 public:
  certificates() {
    made_ = run("openssl version") && make_issuer("ca") && make_issuer("other") &&
            make("server", "subjectAltName=IP:127.0.0.1") &&
            make("client", "keyUsage=digitalSignature");
  }
  [[nodiscard]] bool are_made() const { return made_; }
  [[nodiscard]] std::string certificate(std::string const& of) const {
    return files_.file(of + ".pem");
  }
  [[nodiscard]] std::string key(std::string const& of) const { return files_.file(of + ".key"); }

 private:
  static bool run(std::string const& command) {
    return std::system((command + " > /dev/null 2>&1").c_str()) == 0;
  }
  [[nodiscard]] bool make_issuer(std::string const& name) const {
    return run("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=" + name + " -keyout " +
               key(name) + " -out " + certificate(name));
  }
  [[nodiscard]] bool make(std::string const& name, std::string const& extension) const {
    std::string const request = files_.file(name + ".csr");
    std::ofstream(files_.file("extension")) << extension << '\n';
    return run("openssl req -newkey rsa:2048 -nodes -subj /CN=" + name + " -keyout " + key(name) +
               " -out " + request) &&
           run("openssl x509 -req -days 2 -CAcreateserial -in " + request + " -CA " +
               certificate("ca") + " -CAkey " + key("ca") + " -extfile " +
               files_.file("extension") + " -out " + certificate(name));
  }
  own_directory files_;
  bool made_ = false;
};

TEST_CASE("a server with TLS is trusted by the right certificates only") {
  certificates const c;
  if (!c.are_made()) {
    WARN("there is no openssl: nothing was tested");
    return;
  }
  std::string const fails =
      "cannot be reached: TLS fails: `ca_file` must have the issuer of the server's certificate, "
      "which must name this address: ";
  std::vector<std::string> const tls{"--tls", "--tlscert", c.certificate("server"), "--tlskey",
                                     c.key("server")};
  {
    nats_server const server(tls);
    std::string const address = server.url().substr(std::string_view("nats://").size());
    for (std::string const scheme : {"nats://", "tls://"}) {
      auto o = patient(scheme + address);
      o.ca_file = c.certificate("ca");
      CHECK(opening(o) == "opened");
      o.ca_file = c.certificate("other");
      CHECK_THAT(opening(o), StartsWith(store_at(o.url) + fails));
      o.ca_file = "";
      CHECK_THAT(opening(o), StartsWith(store_at(o.url) + fails));
    }
    auto o = patient("nats://localhost:" + std::to_string(server.port()));
    o.ca_file = c.certificate("ca");
    CHECK_THAT(opening(o), StartsWith(store_at(o.url) + fails));
  }
  {
    auto asks = tls;
    for (auto const& more :
         {std::string("--tlsverify"), std::string("--tlscacert"), c.certificate("ca")})
      asks.push_back(more);
    nats_server const server(asks);
    auto o = patient(server.url());
    o.ca_file = c.certificate("ca");
    o.certificate_file = c.certificate("client");
    o.key_file = c.key("client");
    CHECK(opening(o) == "opened");
    auto bad = impatient(server.url());
    bad.ca_file = o.ca_file;
    bad.certificate_file = o.certificate_file;
    bad.key_file = c.key("server");
    CHECK(opening(bad) == store_at(server.url()) + "cannot be reached: the file " +
                              bad.certificate_file +
                              " has no certificate, or not that of the key in `key_file`");
    auto const check_refused = [&] {
      std::string const said = opening(bad);
      CHECK_THAT(said, StartsWith(store_at(server.url()) + "cannot be reached: "));
      // The server says no when the client is through; what the client sees of it differs.
      CHECK_THAT(said,
                 EndsWith("is no server of NATS, or wants a certificate of this program") ||
                     EndsWith("no server of NATS answers: start one, or correct the address"));
    };
    bad.certificate_file = bad.key_file = "";
    check_refused();
    bad.certificate_file = c.certificate("other");
    bad.key_file = c.key("other");
    check_refused();
  }
  nats_server const server;
  auto o = patient(server.url());
  o.ca_file = c.certificate("ca");
  CHECK(opening(o) == store_at(server.url()) +
                          "cannot be reached: the server has no TLS: give no `ca_file`, and an "
                          "address that begins with nats://");
}
