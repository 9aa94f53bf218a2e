// SPDX-License-Identifier: MIT
#include "weft/cluster/nats_store.hpp"

#include <nats/nats.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "weft/cluster/detail/arrivals.hpp"

namespace weft::cluster {
namespace detail {

namespace {

using clock = std::chrono::steady_clock;

template <class T, void (*Destroy)(T*)>
struct destroying {
  void operator()(T* p) const noexcept { Destroy(p); }
};
template <class T, void (*Destroy)(T*)>
using owned = std::unique_ptr<T, destroying<T, Destroy>>;

using owned_options = owned<natsOptions, natsOptions_Destroy>;
using owned_connection = owned<natsConnection, natsConnection_Destroy>;
using owned_context = owned<jsCtx, jsCtx_Destroy>;
using owned_subscription = owned<natsSubscription, natsSubscription_Destroy>;
using owned_message = owned<natsMsg, natsMsg_Destroy>;
using owned_ack = owned<jsPubAck, jsPubAck_Destroy>;
using owned_info = owned<jsStreamInfo, jsStreamInfo_Destroy>;
using owned_place = owned<jsMsgMetaData, jsMsgMetaData_Destroy>;

/// How long one request waits.
constexpr auto one_request = std::chrono::seconds(2);

std::vector<std::string> urls_of(std::string_view list) {
  std::vector<std::string> all;
  while (!list.empty()) {
    auto const end = std::min(list.find(','), list.size());
    all.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return all;
}

/// Servers, without what stands before an @.
std::string without_secrets(std::string_view list) {
  std::string all;
  for (auto one : urls_of(list)) {
    auto const scheme = one.find("://");
    auto const begin = scheme == std::string::npos ? 0 : scheme + 3;
    if (auto const at = one.rfind('@'); at != std::string::npos && at >= begin)
      one.erase(begin, at + 1 - begin);
    all += (all.empty() ? "" : ",") + one;
  }
  return all;
}

/// Whether a request that failed so may be answered later: the servers are being started, are
/// choosing a leader, or cannot be reached.
bool may_pass(natsStatus s, jsErrCode e) {
  switch (s) {
    case NATS_TIMEOUT:
    case NATS_NO_RESPONDERS:
    case NATS_CONNECTION_DISCONNECTED:
    case NATS_STALE_CONNECTION:
    case NATS_IO_ERROR:
    case NATS_NO_SERVER:
    case NATS_CONNECTION_CLOSED:    // while it was being made
    case NATS_INSUFFICIENT_BUFFER:  // of what is to be sent when a server is there again
      return true;
    default:
      return e == JSClusterNotAvailErr || e == JSClusterNotLeaderErr || e == JSClusterIncompleteErr;
  }
}

std::string reason(natsStatus s, jsErrCode e) {
  switch (e) {
    case JSNotEnabledErr:
    case JSNotEnabledForAccountErr:
      return "the server has no JetStream: start it with `nats-server -js`";
    case JSInsufficientResourcesErr:
    case JSStorageResourcesExceededErr:
    case JSAccountResourcesExceededErr:
    case JSStreamStoreFailedErr:
    case JSStreamLimitsErr:
      return "the disk of the server, or what it may use of it, is full";
    case JSStreamReplicasNotSupportedErr:
    case JSClusterNoPeersErr:
      return "the cluster has not as many servers as copies are wanted";
    default:
      break;
  }
  switch (s) {
    case NATS_CONNECTION_AUTH_FAILED:
      return "the server does not accept the user";
    case NATS_NOT_PERMITTED:
      return "the server does not permit it to this user";
    case NATS_NO_SERVER:
      return "there is no server";
    case NATS_NO_RESPONDERS:
      return "no server with JetStream answers";
    case NATS_TIMEOUT:
      return "the server does not answer";
    default:
      return natsStatus_GetText(s);
  }
}

}  // namespace

class nats_log final : public durable::command_log {
 public:
  explicit nats_log(nats_store_options const& o)
      : where_("weft: the store " + o.name + " at " + without_secrets(o.url)),
        patience_(o.patience),
        stream_("weft_" + o.name),
        subject_("weft." + o.name + ".log") {
    try {
      connect(o);
      open(o);
    } catch (...) {
      close();
      throw;
    }
  }
  ~nats_log() override { close(); }

  std::uint64_t append(std::string const& bytes) override {
    jsPubOptions how;
    jsPubOptions_Init(&how);
    how.MaxWait = milliseconds(one_request);
    how.ExpectStream = stream_.c_str();
    owned_ack ack;
    retry("cannot be written", [&](jsErrCode* e) {
      jsPubAck* answer = nullptr;
      auto const s = js_Publish(&answer, js_.get(), subject_.c_str(), bytes.data(),
                                static_cast<int>(bytes.size()), &how, e);
      ack.reset(answer);
      return s;
    });
    return ack->Sequence;
  }

  [[nodiscard]] std::size_t max_size() const override { return max_size_; }

  [[nodiscard]] std::uint64_t last() override { return info()->State.LastSeq; }

  void wait_for(std::uint64_t number) override {
    static constexpr auto before_again = std::chrono::milliseconds(500);
    auto begin = clock::now();
    std::uint64_t next = 0;
    std::unique_lock locked(lock_);
    while (arrivals_.next() <= number) {
      if (std::exchange(next, arrivals_.next()) != arrivals_.next()) begin = clock::now();
      if (clock::now() - begin > patience_)
        throw durable::store_error(where_ + " cannot be read: its newest entries do not arrive");
      bool const has_changed = changes_.wait_for(locked, before_again, [&] {
        return arrivals_.next() > number || arrivals_.is_gap() || is_stale_;
      });
      if (!arrivals_.is_gap() && !is_stale_ && (has_changed || next != arrivals_.next())) continue;
      locked.unlock();
      subscribe();
      locked.lock();
    }
  }

  [[nodiscard]] std::vector<entry> take(std::uint64_t after) override {
    std::scoped_lock const locked(lock_);
    return arrivals_.take(after);
  }

  void on_arrival(std::function<void()> f) override {
    std::scoped_lock const locked(tell_lock_);
    tell_ = std::move(f);
  }

 private:
  template <class Duration>
  static std::int64_t milliseconds(Duration d) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
  }

  void close() {
    end_subscription();
    if (!connection_) return;
    natsConnection_Close(connection_.get());
    std::unique_lock locked(lock_);
    changes_.wait(locked, [this] { return is_closed_; });  // the last call of the library
  }

  [[noreturn]] void fail(std::string const& what, natsStatus s, jsErrCode e) const {
    throw durable::store_error(where_ + " " + what + ": " + reason(s, e));
  }

  /// Calls `f` until it succeeds, or patience ends.
  template <class F>
  void retry(std::string const& what, F const& f) const {
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

  [[nodiscard]] owned_info info() const {
    owned_info found;
    retry("cannot be read", [&](jsErrCode* e) {
      jsStreamInfo* answer = nullptr;
      auto const s = js_GetStreamInfo(&answer, js_.get(), stream_.c_str(), nullptr, e);
      found.reset(answer);
      return s;
    });
    return found;
  }

  void connect(nats_store_options const& o) {
    natsOptions* made = nullptr;
    auto const require = [&](natsStatus s) {
      if (s != NATS_OK) fail("cannot be reached", s, {});
    };
    require(natsOptions_Create(&made));
    owned_options const how(made);
    std::vector<std::string> const urls = urls_of(o.url);
    std::vector<char const*> servers;
    for (auto const& u : urls) servers.push_back(u.c_str());
    require(natsOptions_SetServers(made, servers.data(), static_cast<int>(servers.size())));
    require(natsOptions_SetName(made, "weft"));
    require(natsOptions_SetTimeout(made, milliseconds(one_request)));
    require(natsOptions_SetMaxReconnect(made, -1));
    require(natsOptions_SetReconnectWait(made, 50));
    require(natsOptions_SetReconnectJitter(made, 50, 50));
    require(natsOptions_SetPingInterval(made, 2'000));
    require(natsOptions_SetMaxPingsOut(made, 2));
    require(natsOptions_SetSendAsap(made, true));
    require(natsOptions_SetReconnectedCB(made, &nats_log::on_reconnected, this));
    require(natsOptions_SetClosedCB(made, &nats_log::on_closed, this));
    // Its message of errors goes to stderr unless somebody wants it; weft says what a call finds.
    require(natsOptions_SetErrorHandler(
        made, [](natsConnection*, natsSubscription*, natsStatus, void*) {}, nullptr));
    if (!o.user.empty()) require(natsOptions_SetUserInfo(made, o.user.c_str(), o.password.c_str()));
    if (!o.token.empty()) require(natsOptions_SetToken(made, o.token.c_str()));
    if (!o.credentials_file.empty())
      require(natsOptions_SetUserCredentialsFromFiles(made, o.credentials_file.c_str(), nullptr));
    if (!o.ca_file.empty()) {
      require(natsOptions_SetSecure(made, true));
      require(natsOptions_LoadCATrustedCertificates(made, o.ca_file.c_str()));
    }
    if (!o.certificate_file.empty())
      require(
          natsOptions_LoadCertificatesChain(made, o.certificate_file.c_str(), o.key_file.c_str()));
    retry("cannot be reached", [&](jsErrCode*) {
      natsConnection* c = nullptr;
      auto const s = natsConnection_Connect(&c, made);
      connection_.reset(c);
      return s;
    });
    jsOptions waits;
    jsOptions_Init(&waits);
    waits.Wait = milliseconds(one_request);
    jsCtx* context = nullptr;
    require(natsConnection_JetStream(&context, connection_.get(), &waits));
    js_.reset(context);
    static constexpr std::size_t headers = 512;  // they count
    max_size_ = static_cast<std::size_t>(natsConnection_GetMaxPayload(connection_.get())) - headers;
  }

  void open(nats_store_options const& o) {
    retry("cannot be opened", [&](jsErrCode* e) {
      jsStreamInfo* answer = nullptr;
      auto s = js_GetStreamInfo(&answer, js_.get(), stream_.c_str(), nullptr, e);
      if (s == NATS_NOT_FOUND && o.creates) {
        char const* subject = subject_.c_str();
        jsStreamConfig made;
        jsStreamConfig_Init(&made);
        made.Name = stream_.c_str();
        made.Description = "durable processes of weft, format 1";
        made.Subjects = &subject;
        made.SubjectsLen = 1;
        made.Storage = js_FileStorage;
        made.Discard = js_DiscardNew;  // a full store is an error, and loses nothing
        made.Replicas = o.replicas;
        made.DenyDelete = true;
        s = js_AddStream(&answer, js_.get(), &made, nullptr, e);
      }
      owned_info const found(answer);
      if (s != NATS_OK) return s;
      auto const& c = *found->Config;
      if (c.SubjectsLen != 1 || subject_ != c.Subjects[0] || found->State.FirstSeq > 1)
        throw durable::store_error(where_ + " cannot be opened: the stream " + stream_ +
                                   " is that of another program, or has lost its first entries");
      return s;
    });
    subscribe();
  }

  /// Asks for the entries after the last one that has arrived.
  void subscribe() {
    std::scoped_lock const one(subscribe_lock_);
    end_subscription();
    jsSubOptions how;
    jsSubOptions_Init(&how);
    how.Stream = stream_.c_str();
    how.ManualAck = true;
    how.Config.DeliverPolicy = js_DeliverByStartSequence;
    {
      std::scoped_lock const locked(lock_);
      is_stale_ = false;
      arrivals_.asked_again();
      how.Config.OptStartSeq = arrivals_.next();
    }
    how.Config.AckPolicy = js_AckNone;
    how.Config.MaxDeliver = 1;
    how.Config.MemoryStorage = true;
    how.Config.Replicas = 1;
    retry("cannot be read", [&](jsErrCode* e) {
      natsSubscription* made = nullptr;
      auto const s = js_SubscribeSync(&made, js_.get(), subject_.c_str(), nullptr, &how, e);
      subscription_.reset(made);
      return s;
    });
    natsSubscription_SetPendingLimits(subscription_.get(), -1, -1);
    reader_ = std::thread([this, from = subscription_.get()] { receive(from); });
  }
  /// Under subscribe_lock_, or at the end.
  void end_subscription() {
    if (!subscription_) return;
    natsSubscription_Unsubscribe(subscription_.get());
    reader_.join();
    subscription_.reset();
  }
  void receive(natsSubscription* from) {
    for (;;) {
      natsMsg* m = nullptr;
      auto const s = natsSubscription_NextMsg(&m, from, 60'000);
      owned_message const message(m);
      if (s == NATS_OK)
        arrived(m);
      else if (s != NATS_TIMEOUT)
        return;
    }
  }

  static void on_reconnected(natsConnection*, void* me) {
    auto& log = *static_cast<nats_log*>(me);
    std::scoped_lock const locked(log.lock_);
    log.is_stale_ = true;  // a server that was started again does not know its consumers
    log.changes_.notify_all();
  }
  static void on_closed(natsConnection*, void* me) {
    auto& log = *static_cast<nats_log*>(me);
    std::scoped_lock const locked(log.lock_);
    log.is_closed_ = true;
    log.changes_.notify_all();
  }
  void arrived(natsMsg* m) {
    jsMsgMetaData* place = nullptr;
    if (natsMsg_GetMetaData(&place, m) != NATS_OK) return;
    owned_place const at(place);
    {
      std::scoped_lock const locked(lock_);
      bool const is_next = arrivals_.put(
          at->Sequence.Stream,
          std::string(natsMsg_GetData(m), static_cast<std::size_t>(natsMsg_GetDataLength(m))));
      changes_.notify_all();
      if (!is_next) return;
    }
    std::scoped_lock const locked(tell_lock_);
    if (tell_) tell_();
  }

  std::string const where_;
  clock::duration const patience_;
  std::string const stream_;
  std::string const subject_;
  std::size_t max_size_ = 0;
  owned_connection connection_;
  owned_context js_;

  std::mutex lock_;  // for what has arrived
  std::condition_variable changes_;
  arrivals arrivals_;
  bool is_stale_ = false;  // entries may not arrive by themselves
  bool is_closed_ = false;

  std::mutex tell_lock_;
  std::function<void()> tell_;

  std::mutex subscribe_lock_;
  owned_subscription subscription_;
  std::thread reader_;  // of the subscription
};

nats_log_owner::nats_log_owner(nats_store_options const& o)
    : stream_(std::make_unique<nats_log>(o)) {}
nats_log_owner::~nats_log_owner() = default;

}  // namespace detail

nats_store::nats_store(nats_store_options const& o)
    : nats_log_owner(o), durable::replicated_store(*stream_, o.sharing) {}

}  // namespace weft::cluster
