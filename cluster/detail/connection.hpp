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
/// The list of servers without users and passwords, which stand before an @.
[[nodiscard]] std::string without_secrets(std::string_view list);
/// Whether a request that failed with these codes may succeed later: the servers are being started,
/// are choosing a leader, or cannot be reached.
[[nodiscard]] bool may_pass(natsStatus s, jsErrCode e) noexcept;

/// A connection that is made again whenever it breaks, until it is closed.  Thread safe, but for
/// close() and the destructor.
class connection {
 public:
  struct callbacks {
    /// Whether this connection's subscriptions get the messages that it sends.
    bool hears_itself = true;
    // The two callbacks are called on a thread of the library, one call at a time.
    std::function<void()> on_reconnected{};
    /// The last callback: after close(), or when the servers do not accept the user any more.
    std::function<void()> on_closed{};
  };
  /// Makes the exception that says `text`.
  using error = std::exception_ptr (*)(std::string const& text);

  /// Waits for a server, o.patience at most.  If none accepts the connection, or if an option is
  /// wrong, throws what `e` makes; the text, as that of fail(), begins with `where`.
  connection(std::string where, error e, connection_options const& o, callbacks c);
  connection(connection const&) = delete;
  connection& operator=(connection const&) = delete;
  ~connection() { close(); }

  /// Closes the connection; before that sends the bytes that were written, if the server takes them
  /// soon.  When close() returns, the last callback has returned.  A second call does nothing.
  void close() noexcept;

  /// Ends the subscription in `s`, a list of one, but keeps the object: the library before 3.6.1
  /// may still access it on the thread that reads from the server.
  void end(std::list<owned_subscription>& s) noexcept;
  /// Waits until the server has received all that was written, at most `one_request`.  If it has,
  /// destroys the subscriptions that were ended before the call: no thread of the library accesses
  /// them any more.
  void flush() noexcept;

  [[nodiscard]] natsConnection* get() const noexcept { return connection_.get(); }
  /// How many bytes a message can have.
  [[nodiscard]] std::size_t max_payload() const;
  [[nodiscard]] std::string const& where() const noexcept { return where_; }
  [[nodiscard]] std::chrono::nanoseconds patience() const noexcept { return patience_; }

  [[noreturn]] void fail(std::string const& what, natsStatus s, jsErrCode e = {}) const;
  /// Calls `f(jsErrCode*)` until it succeeds.  Throws as fail() does if may_pass() is false for the
  /// error, or when patience() has passed.
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
  std::list<owned_subscription> ended_;  // under lock_: put by end(), destroyed by flush(), close()
  owned_connection connection_;
};

}  // namespace weft::cluster::detail
