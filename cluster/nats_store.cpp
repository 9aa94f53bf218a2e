// SPDX-License-Identifier: MIT
#include "weft/cluster/nats_store.hpp"

#include <nats/nats.h>

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "weft/cluster/connection_options.hpp"
#include "weft/cluster/detail/arrivals.hpp"
#include "weft/cluster/detail/connection.hpp"

namespace weft::cluster {
namespace detail {

namespace {

using owned_context = owned<jsCtx, jsCtx_Destroy>;
using owned_ack = owned<jsPubAck, jsPubAck_Destroy>;
using owned_info = owned<jsStreamInfo, jsStreamInfo_Destroy>;
using owned_place = owned<jsMsgMetaData, jsMsgMetaData_Destroy>;

/// What the options of a store have of a connection.
connection_options connection_of(nats_store_options const& o) {
  return {.url = o.url,
          .patience = o.patience,
          .user = o.user,
          .password = o.password,
          .token = o.token,
          .credentials_file = o.credentials_file,
          .ca_file = o.ca_file,
          .certificate_file = o.certificate_file,
          .key_file = o.key_file};
}

/// The name is part of the names of a stream and a subject, where other characters mean something.
std::string const& checked_name(std::string const& name) {
  static constexpr auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  };
  if (name.empty() || !std::ranges::all_of(name, is_allowed))
    throw durable::store_error("weft: a store cannot have the name \"" + name +
                               "\": only letters, digits, - and _ may stand in it");
  return name;
}

}  // namespace

class nats_log final : public durable::command_log {
 public:
  explicit nats_log(nats_store_options const& o)
      : stream_("weft_" + checked_name(o.name)), subject_("weft." + o.name + ".log") {
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
    owned_ack ack;
    connection_->retry("cannot be written", [&](jsErrCode* e) {
      jsPubAck* answer = nullptr;
      auto const s = js_Publish(&answer, js_.get(), subject_.c_str(), bytes.data(),
                                static_cast<int>(bytes.size()), &how, e);
      ack.reset(answer);
      if (s == NATS_NO_RESPONDERS) *e = {};  // which the client calls a server without JetStream
      return s;
    });
    if (stream_ != ack->Stream)
      throw durable::store_error(connection_->where() + " cannot be written: the subject " +
                                 subject_ + " belongs to another stream now");
    return ack->Sequence;
  }

  [[nodiscard]] std::size_t max_size() const override { return max_size_; }

  [[nodiscard]] std::uint64_t last() override { return info()->State.LastSeq; }

  void wait_for(std::uint64_t number) override {
    static constexpr auto before_again = std::chrono::milliseconds(500);
    using clock = std::chrono::steady_clock;
    auto begin = clock::now();
    std::uint64_t next = 0;
    std::unique_lock locked(lock_);
    while (arrivals_.next() <= number) {
      if (std::exchange(next, arrivals_.next()) != arrivals_.next()) begin = clock::now();
      if (clock::now() - begin > connection_->patience())
        throw durable::store_error(connection_->where() +
                                   " cannot be read: its newest entries do not arrive");
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
  void close() {
    end_subscription();
    if (connection_) connection_->close();
  }

  [[nodiscard]] owned_info info() const {
    owned_info found;
    connection_->retry("cannot be read", [&](jsErrCode* e) {
      jsStreamInfo* answer = nullptr;
      auto const s = js_GetStreamInfo(&answer, js_.get(), stream_.c_str(), nullptr, e);
      found.reset(answer);
      return s;
    });
    return found;
  }

  void connect(nats_store_options const& o) {
    connection_ = std::make_unique<connection>(
        "weft: the store " + o.name + " at " + without_secrets(o.url),
        [](std::string const& text) { return std::make_exception_ptr(durable::store_error(text)); },
        connection_of(o), connection::callbacks{.on_reconnected = [this] { on_reconnected(); }});
    if (auto const s = natsConnection_HasHeaderSupport(connection_->get()); s != NATS_OK)
      connection_->fail("cannot be reached", s);
    jsOptions waits;
    jsOptions_Init(&waits);
    waits.Wait = milliseconds(one_request);
    jsCtx* context = nullptr;
    auto const s = natsConnection_JetStream(&context, connection_->get(), &waits);
    if (s != NATS_OK) connection_->fail("cannot be reached", s);
    js_.reset(context);
    static constexpr std::size_t headers = 512;  // they count
    max_size_ = connection_->max_payload() - headers;
  }

  void open(nats_store_options const& o) {
    connection_->retry("cannot be opened", [&](jsErrCode* e) {
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
      if (c.SubjectsLen != 1 || subject_ != c.Subjects[0])
        throw durable::store_error(connection_->where() + " cannot be opened: the stream " +
                                   stream_ +
                                   " is that of another program: give the store another name");
      if (found->State.FirstSeq > 1)
        throw durable::store_error(
            connection_->where() +
            " cannot be opened: its first entries were removed from the stream " + stream_ +
            ", and without them none can be read");
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
    connection_->retry("cannot be read", [&](jsErrCode* e) {
      natsSubscription* made = nullptr;
      auto const s = js_SubscribeSync(&made, js_.get(), subject_.c_str(), nullptr, &how, e);
      if (s == NATS_OK) subscription_.emplace_back(made);
      return s;
    });
    auto* const from = subscription_.front().get();
    natsSubscription_SetPendingLimits(from, -1, -1);
    reader_ = std::thread([this, from] { receive(from); });
    connection_->flush();
  }
  /// Under subscribe_lock_, or at the end.
  void end_subscription() {
    if (subscription_.empty()) return;
    connection_->end(subscription_);
    reader_.join();
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

  void on_reconnected() {
    std::scoped_lock const locked(lock_);
    is_stale_ = true;  // a server that was started again does not know its consumers
    changes_.notify_all();
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

  std::string const stream_;
  std::string const subject_;
  std::size_t max_size_ = 0;
  std::unique_ptr<connection> connection_;
  owned_context js_;

  std::mutex lock_;  // for what has arrived
  std::condition_variable changes_;
  arrivals arrivals_;
  bool is_stale_ = false;  // entries may not arrive by themselves

  std::mutex tell_lock_;
  std::function<void()> tell_;

  std::mutex subscribe_lock_;
  std::list<owned_subscription> subscription_;  // none, or one
  std::thread reader_;                          // of the subscription
};

nats_log_owner::nats_log_owner(nats_store_options const& o)
    : stream_(std::make_unique<nats_log>(o)) {}
nats_log_owner::~nats_log_owner() = default;

}  // namespace detail

nats_store::nats_store(nats_store_options const& o)
    : nats_log_owner(o), durable::replicated_store(*stream_, o.sharing) {}

}  // namespace weft::cluster
