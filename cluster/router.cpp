// SPDX-License-Identifier: MIT
#include "weft/cluster/router.hpp"

#include <nats/nats.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "weft/cluster/detail/connection.hpp"

namespace weft::cluster {
namespace detail {

namespace {

constexpr std::size_t most_unsent_bytes = std::size_t{8} << 20U;
constexpr std::size_t longest_subject = 1'000;  // bytes; at 4096 a server closes the connection

bool is_word(std::string_view w, bool is_last, bool is_pattern) {
  if (is_pattern && (w == "*" || (w == ">" && is_last))) return true;
  for (char const c : w)
    if (auto const u = static_cast<unsigned char>(c); u <= ' ' || u == 0x7f || c == '*' || c == '>')
      return false;
  return !w.empty();
}
/// Whether a router may use the subject.  `weft` begins subjects of stores, `$` those of servers.
bool is_subject(std::string_view s, bool is_pattern) {
  if (s.size() > longest_subject || s.starts_with('$') || s == "weft" || s.starts_with("weft."))
    return false;
  for (;;) {
    auto const dot = s.find('.');
    bool const is_last = dot == std::string_view::npos;
    if (!is_word(s.substr(0, dot), is_last, is_pattern)) return false;
    if (is_last) return true;
    s.remove_prefix(dot + 1);
  }
}
[[noreturn]] void refuse(std::string const& subject) {
  throw std::invalid_argument("weft: \"" + subject +
                              "\" is no subject of a router: words with dots between them, without "
                              "blanks, at most 1000 bytes, the first neither `weft` nor with a $; "
                              "`*` and `>` are words of listen() only");
}

}  // namespace

class router_core {
 public:
  explicit router_core(connection_options const& o)
      : connection_(
            "weft: the router at " + without_secrets(o.url),
            [](std::string const& text) { return std::make_exception_ptr(routing_error(text)); }, o,
            {.on_closed = [this] { close_inboxes(); }}),
        max_payload_(connection_.max_payload()),
        sender_([this] { send_all(); }) {}
  router_core(router_core const&) = delete;
  router_core& operator=(router_core const&) = delete;
  ~router_core() = default;

  void close() {
    {
      std::scoped_lock const locked(lock_);
      is_closing_ = true;
      changes_.notify_all();
    }
    sender_.join();
    connection_.close();
  }

  void send(std::string const& subject, std::string bytes) {
    if (bytes.size() > max_payload_)
      throw std::length_error("weft: a message of " + std::to_string(bytes.size()) +
                              " bytes is too long for the router: the server takes " +
                              std::to_string(max_payload_));
    std::scoped_lock const locked(lock_);
    if (is_closing_) {
      count_unsent(1);
      return;
    }
    for (; !messages_.empty() && bytes_ + bytes.size() > most_unsent_bytes; messages_.pop_front()) {
      bytes_ -= messages_.front().bytes.size();
      count_unsent(1);
    }
    messages_.push_back({subject, std::move(bytes)});
    bytes_ += messages_.back().bytes.size();
    changes_.notify_all();
  }

  static std::shared_ptr<lossy_queue> listen(std::shared_ptr<router_core> const& by,
                                             std::string const& subject, std::string prefix,
                                             std::size_t capacity) {
    auto made = std::make_shared<listening>(by, std::move(prefix), capacity);
    by->add(made->queue);
    natsSubscription* s = nullptr;
    // The callback's own pointer to the queue; deleted when the library makes no more calls.
    auto to = std::make_unique<std::shared_ptr<lossy_queue>>(made->queue);
    made->subscription.emplace_back();  // now: once subscribed, nothing may throw bad_alloc
    by->require(natsConnection_Subscribe(&s, by->connection_.get(), subject.c_str(),
                                         &router_core::arrived, to.get()));
    made->subscription.front().reset(s);
    auto* const of_callback = to.release();
    by->require(natsSubscription_SetOnCompleteCB(
        s, [](void* q) { delete static_cast<std::shared_ptr<lossy_queue>*>(q); }, of_callback));
    natsSubscription_SetPendingLimits(s, -1, -1);  // no limit: the lossy_queue has one
    return {made, made->queue.get()};
  }
  /// A completion that comes when the server knows all inboxes that listen now, or does not answer.
  completion<void> confirmation() {
    completer<void> asks;
    auto answer = asks.get_completion();
    std::scoped_lock const locked(lock_);
    if (is_closing_)
      asks.complete();
    else
      confirmations_.push_back(std::move(asks));
    changes_.notify_all();
    return answer;
  }
  void require_open() {
    std::scoped_lock const locked(lock_);
    if (is_closing_ || is_closed_) throw routing_error(closed_text());
  }

  [[nodiscard]] std::uint64_t unsent() const noexcept {
    return unsent_.load(std::memory_order_relaxed);  // relaxed: the count publishes no other data
  }

 private:
  struct outgoing {
    std::string subject;
    std::string bytes;
  };
  /// Listens for an inbox, and owns its queue.
  struct listening {
    listening(std::shared_ptr<router_core> r, std::string prefix, std::size_t capacity)
        : by(std::move(r)), queue(std::make_shared<lossy_queue>(std::move(prefix), capacity)) {}
    listening(listening const&) = delete;
    listening& operator=(listening const&) = delete;
    ~listening() {
      if (!subscription.empty() && subscription.front()) by->end(subscription);
    }
    std::shared_ptr<router_core> by;
    std::shared_ptr<lossy_queue> queue;  // shared with the callback
    std::list<owned_subscription> subscription;
  };

  void add(std::shared_ptr<lossy_queue> const& q) {
    std::scoped_lock const locked(lock_);
    std::erase_if(inboxes_, [](auto const& one) { return one.expired(); });
    inboxes_.push_back(q);
    if (is_closed_) q->close(closed_text());
  }
  void end(std::list<owned_subscription>& s) noexcept {
    connection_.end(s);
    std::scoped_lock const locked(lock_);
    has_ended_some_ = true;
    changes_.notify_all();
  }
  void require(natsStatus s) const {
    if (s == NATS_CONNECTION_CLOSED) throw routing_error(closed_text());
    if (s != NATS_OK) connection_.fail("cannot listen", s);
  }

  [[nodiscard]] std::string closed_text() const { return connection_.where() + " was closed"; }
  void count_unsent(std::uint64_t n) noexcept {
    unsent_.fetch_add(n, std::memory_order_relaxed);  // relaxed: the count publishes no other data
  }

  /// The body of the sender thread, the only thread that waits for the server.
  void send_all() {
    for (bool is_last = false; !is_last;) {
      std::deque<outgoing> messages;
      std::vector<completer<void>> asked;
      bool flushes = false;
      {
        std::unique_lock locked(lock_);
        changes_.wait(locked, [this] {
          return is_closing_ || has_ended_some_ || !messages_.empty() || !confirmations_.empty();
        });
        messages.swap(messages_);
        asked.swap(confirmations_);
        bytes_ = 0;
        flushes = std::exchange(has_ended_some_, false) || !asked.empty();
        is_last = is_closing_;  // no message and no confirmation is added any more
      }
      // While the connection is broken, the library would keep messages, and send them when they
      // are stale.
      for (auto const& m : messages)
        if (!is_connected() ||
            natsConnection_Publish(connection_.get(), m.subject.c_str(), m.bytes.data(),
                                   static_cast<int>(m.bytes.size())) != NATS_OK)
          count_unsent(1);
      if (flushes && !is_last && is_connected()) connection_.flush();
      for (auto& a : asked) a.complete();
    }
  }
  [[nodiscard]] bool is_connected() const {
    return natsConnection_Status(connection_.get()) == NATS_CONN_STATUS_CONNECTED;
  }

  static void arrived(natsConnection*, natsSubscription*, natsMsg* m, void* to) {
    owned_message const message(m);
    (*static_cast<std::shared_ptr<lossy_queue>*>(to))
        ->put({natsMsg_GetData(m), static_cast<std::size_t>(natsMsg_GetDataLength(m))});
  }
  /// Called when the connection was closed, by close() or by the library.
  void close_inboxes() {
    std::vector<std::weak_ptr<lossy_queue>> all;
    {
      std::scoped_lock const locked(lock_);
      is_closed_ = true;
      all.swap(inboxes_);
    }
    for (auto const& one : all)
      if (auto const q = one.lock()) q->close(closed_text());
  }

  std::mutex lock_;  // guards the members down to is_closed_
  std::condition_variable changes_;
  std::deque<outgoing> messages_;  // to be sent
  std::size_t bytes_ = 0;          // the size of messages_
  std::vector<completer<void>> confirmations_;
  std::vector<std::weak_ptr<lossy_queue>> inboxes_;
  bool has_ended_some_ = false;  // a subscription has ended since the last flush
  bool is_closing_ = false;
  bool is_closed_ = false;
  std::atomic<std::uint64_t> unsent_ = 0;

  connection connection_;  // declared after the members that its last callback accesses
  std::size_t const max_payload_;
  std::thread sender_;
};

void send(router_core& by, std::string const& subject, std::string message) {
  by.send(subject, std::move(message));
}

eff<std::shared_ptr<lossy_queue>, completions> listen(std::shared_ptr<router_core> by,
                                                      std::string subject, std::string prefix,
                                                      std::size_t capacity) {
  if (!is_subject(subject, true)) refuse(subject);
  if (capacity == 0)
    throw std::logic_error("weft: a lossy_inbox must have a capacity of at least 1");
  by->require_open();
  auto queue = router_core::listen(by, subject, std::move(prefix), capacity);
  auto answered = by->confirmation();
  co_await answered.wait();
  co_return queue;
}

std::shared_ptr<std::string const> require_subject(std::string subject) {
  if (!is_subject(subject, false)) refuse(subject);
  return std::make_shared<std::string const>(std::move(subject));
}

}  // namespace detail

router::router(connection_options const& o) : core_(std::make_shared<detail::router_core>(o)) {}
router::~router() { core_->close(); }
std::uint64_t router::unsent() const noexcept { return core_->unsent(); }

}  // namespace weft::cluster
