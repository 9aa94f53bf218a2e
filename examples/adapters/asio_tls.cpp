// SPDX-License-Identifier: MIT

/// Two processes talk over TLS, by Asio.  The context of Asio runs their scheduler: there is one
/// thread.  Its last read has a deadline.

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <array>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/ssl.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "weft/adapters/asio.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/schedule.hpp"

using namespace weft;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using stream = ssl::stream<tcp::socket>;

using talking = eff<void, console, completions>;
using serving = eff<void, spawning<console, completions>, console, completions>;

/// A key, and a certificate that it signs itself.
struct identity {
  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key{EVP_EC_gen("P-256"), EVP_PKEY_free};
  std::unique_ptr<X509, void (*)(X509*)> certificate{X509_new(), X509_free};

  identity() {
    X509* const c = certificate.get();
    X509_gmtime_adj(X509_getm_notBefore(c), 0);
    X509_gmtime_adj(X509_getm_notAfter(c), 3600);
    X509_set_pubkey(c, key.get());
    std::string const name = "localhost";
    X509_NAME_add_entry_by_txt(X509_get_subject_name(c), "CN", MBSTRING_ASC,
                               reinterpret_cast<unsigned char const*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(c, X509_get_subject_name(c));
    X509_sign(c, key.get(), EVP_sha256());
  }
};

talking serve(tcp::acceptor& door, ssl::context& tls) {
  stream s(co_await door.async_accept(use_weft), tls);
  co_await s.async_handshake(stream::server, use_weft);
  std::array<char, 100> asked{};
  std::size_t const n = co_await s.async_read_some(asio::buffer(asked), use_weft);
  std::string const answer = "you said: " + std::string(asked.data(), n);
  (void)co_await asio::async_write(s, asio::buffer(answer), use_weft);
  // Waits until the client leaves.
  (void)co_await s.async_read_some(asio::buffer(asked), use_weft.as_tuple());
}
talking ask(asio::io_context& context, tcp::endpoint at, ssl::context& tls) {
  stream s(context, tls);
  co_await s.next_layer().async_connect(at, use_weft);
  co_await s.async_handshake(stream::client, use_weft);
  std::string const question = "hello";
  (void)co_await asio::async_write(s, asio::buffer(question), use_weft);
  std::array<char, 15> answer{};
  (void)co_await asio::async_read(s, asio::buffer(answer), use_weft);
  co_await console::print_line{std::string(answer.data(), answer.size())};
  auto const soon = instant::clock::now() + std::chrono::milliseconds(10);
  auto const [error, n] =
      co_await s.async_read_some(asio::buffer(answer), use_weft.until(soon).as_tuple());
  co_await console::print_line{"more: " + error.message()};
}

int main() {
  identity const me;
  ssl::context tls(ssl::context::tls);
  SSL_CTX_use_certificate(tls.native_handle(), me.certificate.get());
  SSL_CTX_use_PrivateKey(tls.native_handle(), me.key.get());
  ssl::context trusts(ssl::context::tls);
  trusts.set_verify_mode(ssl::verify_peer);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(trusts.native_handle()), me.certificate.get());

  asio::io_context context;
  tcp::acceptor door(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
  scheduler<> s;
  s.start(
      [&]() -> serving {
        co_await spawn(serve, std::ref(door), std::ref(tls));
        co_await ask(context, door.local_endpoint(), trusts);
      },
      console_to_stream(std::cout));
  auto const running = run_on(context, s);
  context.run();
}
