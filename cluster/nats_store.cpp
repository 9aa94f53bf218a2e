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

/// Returns the name.  Throws store_error if it is empty or has a character that is not allowed: it
/// becomes part of the names of a stream and of a subject, where `.` and the like have a meaning.
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

/// A log that is a JetStream stream.  A thread of its own reads the entries that others append:
///
///  READ-1  While others append, a subscription to the stream brings all entries.
///  READ-2  When many entries in a row were appended by this object, it is alone, and ends the
///          subscription to the stream: the server need not send the object's entries back.
///          Another subscription, to the subject, does not hear this connection, and tells when
///          another program appends.
///  READ-3  No entry is missed between the two subscriptions: the end of the log is looked up when
///          the subscription to the subject is active.
class nats_log final : public durable::command_log {
 public:
  nats_log(connection_options const& servers, nats_store_options const& o)
      : stream_("weft_" + checked_name(o.name)), subject_("weft." + o.name + ".log") {
    try {
      connect(servers, o.name);
      open(o);
    } catch (...) {
      close();
      throw;
    }
  }
  ~nats_log() override { close(); }

  std::uint64_t append(std::string const& bytes) override {
    owned_ack ack;
    connection_->retry("cannot be written", [&](jsErrCode* e) {
      jsPubAck* answer = nullptr;
      auto const s = js_Publish(&answer, js_.get(), subject_.c_str(), bytes.data(),
                                static_cast<int>(bytes.size()), nullptr, e);
      ack.reset(answer);
      // Clears the library's code, by which reason() would say that the server has no JetStream.
      if (s == NATS_NO_RESPONDERS) *e = {};
      return s;
    });
    if (stream_ != ack->Stream)
      throw durable::store_error(connection_->where() + " cannot be written: the subject " +
                                 subject_ + " belongs to another stream now");
    note_own(ack->Sequence);
    return ack->Sequence;
  }

  [[nodiscard]] std::size_t max_size() const override { return max_size_; }

  [[nodiscard]] std::uint64_t last() override { return info()->State.LastSeq; }

  void wait_for(std::uint64_t number) override {
    static constexpr auto before_again = std::chrono::milliseconds(500);
    using clock = std::chrono::steady_clock;
    auto begin = clock::now();
    std::unique_lock locked(lock_);
    if (!follows_) want_entries();
    while (arrivals_.next() <= number) {
      auto const next = arrivals_.next();
      changes_.wait_for(locked, before_again, [&] { return arrivals_.next() != next; });
      if (arrivals_.next() != next)
        begin = clock::now();
      else if (clock::now() - begin > connection_->patience())
        throw durable::store_error(connection_->where() +
                                   " cannot be read: its newest entries do not arrive");
      else
        want_entries();
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
    {
      std::scoped_lock const locked(lock_);
      is_closing_ = true;
      want_entries();
    }
    if (reader_.joinable()) reader_.join();
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

  void connect(connection_options const& servers, std::string const& name) {
    connection_ = std::make_unique<connection>(
        "weft: the store " + name + " at " + without_secrets(servers.url),
        [](std::string const& text) { return std::make_exception_ptr(durable::store_error(text)); },
        servers, connection::callbacks{.hears_itself = false, .on_reconnected = [this] {
                                         on_reconnected();
                                       }});
    if (auto const s = natsConnection_HasHeaderSupport(connection_->get()); s != NATS_OK)
      connection_->fail("cannot be reached", s);
    jsOptions waits;
    jsOptions_Init(&waits);
    waits.Wait = milliseconds(one_request);
    jsCtx* context = nullptr;
    auto const s = natsConnection_JetStream(&context, connection_->get(), &waits);
    if (s != NATS_OK) connection_->fail("cannot be reached", s);
    js_.reset(context);
    static constexpr std::size_t headers = 512;  // the payload limit includes them
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
        made.Discard = js_DiscardNew;  // appending to a full store fails, and loses no old entry
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
      wanted_ = found->State.LastSeq != 0;
      return s;
    });
    reader_ = std::thread([this] { read(); });
  }

  /// Under lock_: makes the thread read all missing entries, by a new subscription.
  void want_entries() {
    wanted_ = true;
    end_reading();
    changes_.notify_all();
  }
  /// Under lock_: ends the thread's wait for an entry, if it waits.
  void end_reading() {
    if (reading_) natsSubscription_Unsubscribe(std::exchange(reading_, nullptr));
  }
  void on_reconnected() {
    std::scoped_lock const locked(lock_);
    want_entries();  // a server that was restarted has forgotten the subscription
  }
  void note_own(std::uint64_t number) {
    std::scoped_lock const locked(lock_);
    own_in_a_row_ = number == last_own_ + 1 ? own_in_a_row_ + 1 : 0;
    last_own_ = std::max(last_own_, number);
    changes_.notify_all();
    if (follows_ && is_alone()) end_reading();
  }
  [[nodiscard]] bool is_alone() const noexcept { return own_in_a_row_ >= 100; }

  /// The body of the reader thread.
  void read() {
    for (;;) {
      bool reads = false;
      {
        std::scoped_lock const locked(lock_);
        if (is_closing_) break;
        reads = wanted_;
      }
      if (reads)
        read_all_that_comes();
      else if (bell_.empty())
        listen();
      else
        wait_for_bell();
    }
    end(bell_);
  }
  void end(std::list<owned_subscription>& s) {
    if (!s.empty()) connection_->end(s);
  }

  /// Reads all entries (READ-1) until this object is alone, or the subscription has to be made
  /// anew.
  void read_all_that_comes() {
    std::list<owned_subscription> all;
    if (!subscribe(all)) return;
    end(bell_);
    auto* const from = all.front().get();
    while (owned_message const m = next_of(from)) arrived(m.get());
    bool rests = false;
    {
      std::scoped_lock const locked(lock_);
      follows_ = false;
      rests = is_alone() && !wanted_;
      if (!rests) wanted_ = true;
    }
    if (rests) listen();
    end(all);
    connection_->flush();
  }
  /// Waits for the next message; null if the subscription was ended.
  static owned_message next_of(natsSubscription* from) {
    for (;;) {
      natsMsg* m = nullptr;
      auto const s = natsSubscription_NextMsg(&m, from, 60'000);
      if (s != NATS_TIMEOUT) return owned_message(s == NATS_OK ? m : nullptr);
    }
  }
  void wait_for_bell() {
    auto* const from = bell_.front().get();
    {
      std::scoped_lock const locked(lock_);
      if (wanted_) return;
      reading_ = from;
    }
    next_of(from);
    std::scoped_lock const locked(lock_);
    reading_ = nullptr;
    wanted_ = true;
  }
  /// Subscribes to the subject (READ-2).  Wants all entries again if one may be missing (READ-3).
  void listen() {
    natsSubscription* made = nullptr;
    auto const s = natsConnection_SubscribeSync(&made, connection_->get(), subject_.c_str());
    if (s == NATS_OK) bell_.emplace_back(made);
    bool is_on = s == NATS_OK;
    is_on = is_on &&
            natsConnection_FlushTimeout(connection_->get(), milliseconds(one_request)) == NATS_OK;
    jsStreamInfo* answer = nullptr;
    is_on =
        is_on && js_GetStreamInfo(&answer, js_.get(), stream_.c_str(), nullptr, nullptr) == NATS_OK;
    owned_info const found(answer);
    std::unique_lock locked(lock_);
    // Waits a little: the server's answer to an append of this object may be on its way.
    bool const knows_all = is_on && changes_.wait_for(locked, std::chrono::milliseconds(100), [&] {
      return found->State.LastSeq <= std::max(last_own_, arrivals_.next() - 1);
    });
    if (!knows_all) wanted_ = true;
  }
  /// Subscribes to the stream from the first missing entry on.  If the servers do not make the
  /// subscription, returns false after a pause.
  bool subscribe(std::list<owned_subscription>& to) {
    jsSubOptions how;
    jsSubOptions_Init(&how);
    how.Stream = stream_.c_str();
    how.ManualAck = true;
    how.Config.DeliverPolicy = js_DeliverByStartSequence;
    {
      std::scoped_lock const locked(lock_);
      wanted_ = false;
      own_in_a_row_ = 0;
      arrivals_.asked_again();
      how.Config.OptStartSeq = arrivals_.next();
    }
    how.Config.AckPolicy = js_AckNone;
    how.Config.MaxDeliver = 1;
    how.Config.MemoryStorage = true;
    how.Config.Replicas = 1;
    natsSubscription* made = nullptr;
    auto const s = js_SubscribeSync(&made, js_.get(), subject_.c_str(), nullptr, &how, nullptr);
    std::unique_lock locked(lock_);
    if (s == NATS_OK && !is_closing_) {
      to.emplace_back(made);
      natsSubscription_SetPendingLimits(made, -1, -1);
      reading_ = made;
      follows_ = true;
      if (wanted_) end_reading();  // set again while the lock was free
      return true;
    }
    if (s == NATS_OK) to.emplace_back(made);
    wanted_ = true;
    changes_.wait_for(locked, std::chrono::milliseconds(50), [this] { return is_closing_; });
    locked.unlock();
    end(to);
    return false;
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
      if (arrivals_.is_gap()) want_entries();
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

  std::mutex lock_;  // guards the members down to own_in_a_row_
  std::condition_variable changes_;
  arrivals arrivals_;
  bool wanted_ = false;  // entries may be missing: the thread has to subscribe to the stream anew
  bool is_closing_ = false;
  bool follows_ = false;                 // the thread has a subscription to the stream
  natsSubscription* reading_ = nullptr;  // the subscription on which the thread waits; or null
  std::uint64_t last_own_ = 0;           // the last entry that this object has appended
  std::uint64_t own_in_a_row_ = 0;

  std::mutex tell_lock_;
  std::function<void()> tell_;

  std::list<owned_subscription> bell_;  // the subscription to the subject (READ-2), or empty
  std::thread reader_;
};

nats_log_owner::nats_log_owner(connection_options const& servers, nats_store_options const& o)
    : stream_(std::make_unique<nats_log>(servers, o)) {}
nats_log_owner::~nats_log_owner() = default;

}  // namespace detail

nats_store::nats_store(connection_options const& servers, nats_store_options const& o)
    : nats_log_owner(servers, o), durable::replicated_store(*stream_, o.sharing) {}

}  // namespace weft::cluster
