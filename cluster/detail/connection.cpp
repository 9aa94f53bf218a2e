// SPDX-License-Identifier: MIT
#include "weft/cluster/detail/connection.hpp"

#include <fstream>
#include <utility>
#include <vector>

namespace weft::cluster::detail {

namespace {

using owned_options = owned<natsOptions, natsOptions_Destroy>;

std::vector<std::string> urls_of(std::string_view list) {
  std::vector<std::string> all;
  while (!list.empty()) {
    auto const end = std::min(list.find(','), list.size());
    all.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return all;
}

/// The NATS library's last error on this thread, without the source line that it names.
std::string reason_of_tls() {
  char const* const last = nats_GetLastError(nullptr);
  std::string_view said = last ? last : "";
  if (auto const place = said.find("): "); place != std::string_view::npos)
    said.remove_prefix(place + 3);
  return std::string(said);
}

std::string reason(natsStatus s, jsErrCode e) {
  switch (e) {
    case JSNotEnabledErr:
    case JSNotEnabledForAccountErr:
      return "the server has no JetStream: start it with `nats-server -js`";
    case JSStreamNotFoundErr:
      return "there is no such store";
    case JSStreamSubjectOverlapErr:
      return "another stream has its subject: give the store another name";
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
      return "the server does not accept this user and password, token or credentials";
    case NATS_NOT_PERMITTED:
      return "the server does not permit it to this user";
    case NATS_NO_SERVER:
      return "no server of NATS answers: start one, or correct the address";
    case NATS_NO_RESPONDERS:
      return "no server has it: its servers do not run, or it was removed";
    case NATS_TIMEOUT:
      return "the server does not answer";
    case NATS_PROTOCOL_ERROR:
      return "what answers is no server of NATS, or wants a certificate of this program";
    case NATS_INVALID_ARG:
      return "an address is not of the form nats://HOST:PORT";
    case NATS_NO_SERVER_SUPPORT:
      return "the server is older than NATS 2.2, or its headers are switched off: start a newer "
             "one";
    case NATS_SECURE_CONNECTION_WANTED:
      return "the server has no TLS: give no `ca_file`, and an address that begins with nats://";
    case NATS_SECURE_CONNECTION_REQUIRED:
      return "the server wants TLS: give an address that begins with tls://";
    case NATS_SSL_ERROR:
      return "TLS fails: `ca_file` must have the issuer of the server's certificate, which must "
             "name "
             "this address: " +
             reason_of_tls();
    default:
      return natsStatus_GetText(s);
  }
}

}  // namespace

std::string without_secrets(std::string_view list) {
  static constexpr std::string_view scheme_ends = "://";
  // A password may have commas: a part without `://` goes on with the part before.
  std::vector<std::string> servers;
  for (auto const& one : urls_of(list))
    if (servers.empty() || one.find(scheme_ends) != std::string::npos)
      servers.push_back(one);
    else
      servers.back() += "," + one;
  std::string all;
  for (auto& one : servers) {
    auto const scheme = one.find(scheme_ends);
    auto const begin = scheme == std::string::npos ? 0 : scheme + scheme_ends.size();
    if (auto const at = one.rfind('@'); at != std::string::npos && at >= begin)
      one.erase(begin, at + 1 - begin);
    all += (all.empty() ? "" : ",") + one;
  }
  return all;
}

bool may_pass(natsStatus s, jsErrCode e) noexcept {
  switch (s) {
    case NATS_TIMEOUT:
    case NATS_NO_RESPONDERS:
    case NATS_CONNECTION_DISCONNECTED:
    case NATS_STALE_CONNECTION:
    case NATS_IO_ERROR:
    case NATS_NO_SERVER:
    case NATS_PROTOCOL_ERROR:       // the server went away in the middle of a line
    case NATS_CONNECTION_CLOSED:    // the connection was closed while it was being made
    case NATS_INSUFFICIENT_BUFFER:  // the messages to send after a reconnect fill their buffer
      return true;
    default:
      return e == JSClusterNotAvailErr || e == JSClusterNotLeaderErr || e == JSClusterIncompleteErr;
  }
}

connection::connection(std::string where, error e, connection_options const& o, callbacks c)
    : where_(std::move(where)), error_(e), patience_(o.patience), callbacks_(std::move(c)) {
  natsOptions* made = nullptr;
  auto const require = [&](natsStatus s) {
    if (s != NATS_OK) fail("cannot be reached", s);
  };
  require(natsOptions_Create(&made));
  owned_options const how(made);
  std::vector<std::string> const urls = urls_of(o.url);
  std::vector<char const*> servers;
  for (auto const& u : urls) servers.push_back(u.c_str());
  require(servers.empty()
              ? NATS_INVALID_ARG
              : natsOptions_SetServers(made, servers.data(), static_cast<int>(servers.size())));
  require(natsOptions_SetName(made, "weft"));
  require(natsOptions_SetTimeout(made, milliseconds(one_request)));
  require(natsOptions_SetMaxReconnect(made, -1));
  require(natsOptions_SetReconnectWait(made, 50));
  require(natsOptions_SetReconnectJitter(made, 50, 50));
  require(natsOptions_SetPingInterval(made, 2'000));
  require(natsOptions_SetMaxPingsOut(made, 2));
  require(natsOptions_SetSendAsap(made, true));
  require(natsOptions_SetWriteDeadline(made, milliseconds(one_request)));
  require(natsOptions_UseGlobalMessageDelivery(made, true));  // else each listener has a thread
  require(natsOptions_SetNoEcho(made, !callbacks_.hears_itself));
  require(natsOptions_SetReconnectedCB(made, &connection::on_reconnected, this));
  require(natsOptions_SetClosedCB(made, &connection::on_closed, this));
  // Without a handler, the library prints errors to stderr.  weft's calls report their errors.
  require(natsOptions_SetErrorHandler(
      made, [](natsConnection*, natsSubscription*, natsStatus, void*) {}, nullptr));
  if (!o.user.empty()) require(natsOptions_SetUserInfo(made, o.user.c_str(), o.password.c_str()));
  if (!o.token.empty()) require(natsOptions_SetToken(made, o.token.c_str()));
  auto const require_file = [&](std::string const& file, natsStatus s, char const* what) {
    if (s != NATS_OK)
      std::rethrow_exception(error_(where_ + " cannot be reached: the file " + file + " " + what));
  };
  for (auto const* const file : {&o.credentials_file, &o.ca_file, &o.certificate_file, &o.key_file})
    if (!file->empty())
      require_file(*file, std::ifstream(*file) ? NATS_OK : NATS_NOT_FOUND, "cannot be read");
  if (!o.credentials_file.empty())
    require(natsOptions_SetUserCredentialsFromFiles(made, o.credentials_file.c_str(), nullptr));
  if (!o.ca_file.empty()) {
    require(natsOptions_SetSecure(made, true));
    require_file(o.ca_file, natsOptions_LoadCATrustedCertificates(made, o.ca_file.c_str()),
                 "has no certificates");
  }
  if (!o.certificate_file.empty())
    require_file(
        o.certificate_file,
        natsOptions_LoadCertificatesChain(made, o.certificate_file.c_str(), o.key_file.c_str()),
        "has no certificate, or not that of the key in `key_file`");
  retry("cannot be reached", [&](jsErrCode*) {
    natsConnection* made_now = nullptr;
    auto const s = natsConnection_Connect(&made_now, made);
    connection_.reset(made_now);
    if (s == NATS_ERR && !o.credentials_file.empty())  // natsConnection_Connect() reads the file
      require_file(o.credentials_file, s, "has no credentials");
    return s;
  });
}

void connection::close() noexcept {
  if (!connection_) return;
  natsConnection_Close(connection_.get());
  std::list<owned_subscription> ended;
  std::unique_lock locked(lock_);
  changes_.wait(locked, [this] { return is_closed_; });  // set by the last callback
  ended.swap(ended_);
  locked.unlock();
}

void connection::end(std::list<owned_subscription>& s) noexcept {
  natsSubscription_Unsubscribe(s.front().get());
  std::scoped_lock const locked(lock_);
  ended_.splice(ended_.end(), s);
}

void connection::flush() noexcept {
  std::list<owned_subscription> ended;
  {
    std::scoped_lock const locked(lock_);
    ended.swap(ended_);
  }
  if (natsConnection_FlushTimeout(connection_.get(), milliseconds(one_request)) == NATS_OK) return;
  std::scoped_lock const locked(lock_);
  ended_.splice(ended_.end(), ended);
}

std::size_t connection::max_payload() const {
  return static_cast<std::size_t>(natsConnection_GetMaxPayload(connection_.get()));
}

void connection::fail(std::string const& what, natsStatus s, jsErrCode e) const {
  std::rethrow_exception(error_(where_ + " " + what + ": " + reason(s, e)));
}

void connection::on_reconnected(natsConnection*, void* me) {
  if (auto const& f = static_cast<connection*>(me)->callbacks_.on_reconnected) f();
}
void connection::on_closed(natsConnection*, void* me) {
  auto& c = *static_cast<connection*>(me);
  if (c.callbacks_.on_closed) c.callbacks_.on_closed();
  std::scoped_lock const locked(c.lock_);
  c.is_closed_ = true;
  c.changes_.notify_all();
}

}  // namespace weft::cluster::detail
