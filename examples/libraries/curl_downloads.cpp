// SPDX-License-Identifier: MIT

/// Downloads by curl's multi interface, each of which a process awaits; and the server that answers
/// them, whose processes run on the same thread.  curl's sockets are in the same loop as the
/// scheduler.
#include <curl/curl.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iostream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "examples/libraries/descriptor_loop.hpp"
#include <weft/effects/effects.hpp>
#include <weft/io/connection.hpp>
#include <weft/io/reactor.hpp>
#include <weft/sched/schedule.hpp>
#include <weft/sched/sync/completion.hpp>
#include <weft/sched/tasks/when_all.hpp>
using namespace weft;
using examples::descriptor_loop;

namespace {

/// curl's multi interface, in a loop.
class downloads {
 public:
  explicit downloads(descriptor_loop& loop) : loop_(loop), multi_(curl_multi_init()) {
    curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &downloads::on_socket);
    curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &downloads::on_timer);
    curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this);
  }
  downloads(downloads const&) = delete;
  downloads& operator=(downloads const&) = delete;
  ~downloads() { curl_multi_cleanup(multi_); }

  /// One download: it ends with the process that awaits it.
  class transfer {
   public:
    transfer(downloads& of, std::string const& url) : of_(of), easy_(curl_easy_init()) {
      curl_easy_setopt(easy_, CURLOPT_URL, url.c_str());
      curl_easy_setopt(easy_, CURLOPT_NOPROXY, "*");
      curl_easy_setopt(easy_, CURLOPT_FAILONERROR, 1L);
      curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
      curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
      curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &transfer::on_data);
      curl_multi_add_handle(of_.multi_, easy_);
    }
    transfer(transfer const&) = delete;
    transfer& operator=(transfer const&) = delete;
    ~transfer() {
      curl_multi_remove_handle(of_.multi_, easy_);
      curl_easy_cleanup(easy_);
    }
    completer<CURLcode> ended;
    std::string body;

   private:
    static std::size_t on_data(char* data, std::size_t, std::size_t n, void* self) {
      static_cast<transfer*>(self)->body.append(data, n);
      return n;
    }
    downloads& of_;
    CURL* easy_;
  };

 private:
  static int on_socket(CURL*, curl_socket_t fd, int what, void* self, void*) {
    auto* const us = static_cast<downloads*>(self);
    if (what == CURL_POLL_REMOVE) {
      us->loop_.forget(fd);
      return 0;
    }
    int const events =
        ((what & CURL_POLL_IN) != 0 ? POLLIN : 0) | ((what & CURL_POLL_OUT) != 0 ? POLLOUT : 0);
    us->loop_.watch(fd, static_cast<short>(events), [us, fd](short came) {
      int const mask = ((came & (POLLIN | POLLHUP | POLLERR)) != 0 ? CURL_CSELECT_IN : 0) |
                       ((came & POLLOUT) != 0 ? CURL_CSELECT_OUT : 0);
      us->proceed(fd, mask);
    });
    return 0;
  }
  static int on_timer(CURLM*, long milliseconds, void* self) {
    auto* const us = static_cast<downloads*>(self);
    std::optional<instant> at;
    if (milliseconds >= 0) at = instant::clock::now() + std::chrono::milliseconds(milliseconds);
    us->loop_.call_at(at, [us] { us->proceed(CURL_SOCKET_TIMEOUT, 0); });
    return 0;
  }
  void proceed(curl_socket_t fd, int mask) {
    int running = 0;
    curl_multi_socket_action(multi_, fd, mask, &running);
    int left = 0;
    while (CURLMsg const* const m = curl_multi_info_read(multi_, &left)) {
      transfer* of = nullptr;
      curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &of);
      of->ended.complete(m->data.result);
    }
  }

  descriptor_loop& loop_;
  CURLM* multi_;
};

eff<std::string, completions> fetch(downloads& curl, std::string url) {
  downloads::transfer t(curl, url);
  auto ended = t.ended.get_completion();
  CURLcode const how = co_await ended.wait();
  if (how != CURLE_OK) throw std::runtime_error(curl_easy_strerror(how));
  co_return std::move(t.body);
}

// ---- the server

eff<void, networking> answers(connection c) {
  std::string request;
  std::array<std::byte, 512> buffer;
  while (request.find("\r\n\r\n") == request.npos) {
    std::size_t const n = co_await c.read(buffer);
    if (n == 0) co_return;
    request.append(reinterpret_cast<char const*>(buffer.data()), n);
  }
  std::string const path = request.substr(4, request.find(' ', 4) - 4);
  std::string const body = "this is " + path + '\n';
  std::string const head = path == "/none" ? "HTTP/1.0 404 Not Found" : "HTTP/1.0 200 OK";
  std::string const all =
      head + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  co_await c.write(std::as_bytes(std::span(all)));
  co_await c.close();
}
eff<void, spawning<networking>, networking> serves(listener door, int times) {
  for (int i = 0; i != times; ++i) {
    connection c = co_await door.accept();
    co_await spawn(answers, std::move(c));
  }
}

// ---- the client

using program_row =
    row<spawning<networking, spawning<networking>>, tasking<completions>, networking>;

eff<void, program_row> program(downloads& curl) {
  listener door = co_await weft::listen(endpoint());
  std::string const home = "http://" + door.local().text();
  co_await spawn(serves, std::move(door), 3);
  auto const [left, right] =
      co_await when_all(fetch(curl, home + "/left"), fetch(curl, home + "/right"));
  std::cout << left << right;
  try {
    (void)co_await fetch(curl, home + "/none");
  } catch (std::runtime_error const& e) {
    std::cout << e.what() << '\n';
  }
}

}  // namespace

int main() {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  {
    descriptor_loop loop;
    downloads curl(loop);
    reactor network;
    scheduler<> s;
    s.start([&] { return program(curl); }, network);
    loop.run(s);
  }
  curl_global_cleanup();
}
