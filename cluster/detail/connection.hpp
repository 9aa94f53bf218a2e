// SPDX-License-Identifier: MIT
#pragma once

#include <nats/nats.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "weft/cluster/connection_options.hpp"

/// A connection to NATS, as stores and routers have it.
namespace weft::cluster::detail {

template <class T, void (*Destroy)(T*)>
struct destroying {
  void operator()(T* p) const noexcept { Destroy(p); }
};
/// The owner of an object of the C library.
template <class T, void (*Destroy)(T*)>
using owned = std::unique_ptr<T, destroying<T, Destroy>>;
using owned_connection = owned<natsConnection, natsConnection_Destroy>;
using owned_message = owned<natsMsg, natsMsg_Destroy>;
using owned_subscription = owned<natsSubscription, natsSubscription_Destroy>;

/// How long one request waits.
inline constexpr auto one_request = std::chrono::seconds(2);

template <class Duration>
[[nodiscard]] std::int64_t milliseconds(Duration d) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
}
/// A list of servers, without what stands before an @.
[[nodiscard]] std::string without_secrets(std::string_view list);
/// Whether a request that failed so may be answered later: the servers are being started, are
/// choosing a leader, or cannot be reached.
[[nodiscard]] bool may_pass(natsStatus s, jsErrCode e) noexcept;

/// A connection that is made again whenever it breaks, until it is closed.  Thread safe, but for
/// close() and the destructor.
class connection {
 public:
  struct callbacks {
    /// Whether subscriptions get what this connection sends.
    bool hears_itself = true;
    // Called on a thread of the library, one call at a time.
    std::function<void()> on_reconnected{};
    /// The last call.  Nobody asked for it if the servers do not accept the user any more.
    std::function<void()> on_closed{};
  };
  /// Makes the exception that says `text`.
  using error = std::exception_ptr (*)(std::string const& text);

  /// Waits for a server, `patience` at most.  `where` begins each text of an exception.
  connection(std::string where, error e, connection_options const& o, callbacks c);
  connection(connection const&) = delete;
  connection& operator=(connection const&) = delete;
  ~connection() { close(); }

  /// Sends what was written, if the server takes it soon; when it returns, the last callback has
  /// returned.  Does nothing the second time.
  void close() noexcept;

  /// Ends a subscription, the only one in the list; and keeps it, as the library before 3.6.1 may
  /// still access it, on the thread that reads from the server.
  void end(std::list<owned_subscription>& s) noexcept;
  /// Waits until the server has what was written, for one request at most.  Then that thread has
  /// done with subscriptions that were ended before: destroys them.
  void flush() noexcept;

  [[nodiscard]] natsConnection* get() const noexcept { return connection_.get(); }
  /// How many bytes a message can have.
  [[nodiscard]] std::size_t max_payload() const;
  [[nodiscard]] std::string const& where() const noexcept { return where_; }
  [[nodiscard]] std::chrono::nanoseconds patience() const noexcept { return patience_; }

  [[noreturn]] void fail(std::string const& what, natsStatus s, jsErrCode e = {}) const;
  /// Calls `f(jsErrCode*)` until it succeeds, or patience ends.
  template <class F>
  void retry(std::string const& what, F const& f) const {
    using clock = std::chrono::steady_clock;
    auto const begin = clock::now();
    auto pause = std::chrono::milliseconds(5);
    for (;;) {
      jsErrCode e{};
      natsStatus const s = f(&e);
      if (s == NATS_OK) return;
      if (!may_pass(s, e) || clock::now() - begin > patience_) fail(what, s, e);
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, std::chrono::milliseconds(200));
    }
  }

 private:
  static void on_reconnected(natsConnection* c, void* me);
  static void on_closed(natsConnection* c, void* me);

  std::string const where_;
  error const error_;
  std::chrono::nanoseconds const patience_;
  callbacks const callbacks_;
  std::mutex lock_;
  std::condition_variable changes_;
  bool is_closed_ = false;               // under lock_: the library makes no more calls
  std::list<owned_subscription> ended_;  // under lock_
  owned_connection connection_;
};

}  // namespace weft::cluster::detail
