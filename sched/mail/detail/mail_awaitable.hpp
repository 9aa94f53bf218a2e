// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <exception>

#include "weft/sched/mail/detail/mailbox_registry.hpp"
#include "weft/sched/mail/detail/typed_mailbox.hpp"

/// The base class of the awaitables of mail, and the awaitable that opens a port.
namespace weft {
struct mail;
template <class M>
struct ports;
}  // namespace weft

namespace weft::detail {

/// An awaitable that stays in the awaiting frame, and holds all objects that its operation refers
/// to.
struct mail_awaitable {
  static constexpr bool row_aware_operation = true;
  mail_awaitable() = default;
  mail_awaitable(mail_awaitable const&) = delete;
  mail_awaitable& operator=(mail_awaitable const&) = delete;
};

template <class M>
class open_awaitable : public mail_awaitable {
 public:
  using result = ports<M>;
  explicit open_awaitable(std::size_t capacity) noexcept : capacity_(capacity) {}
  template <class Row, class Mail = mail>
  typename Mail::open operation_in() {
    return typename Mail::open();
  }
  template <class Ports = ports<M>>
  Ports finish(mailbox_registry* o) {
    if constexpr (require_message<M>())
      return Ports(new typed_mailbox<M>(*o, capacity_));
    else
      std::terminate();
  }

 private:
  std::size_t capacity_;
};

}  // namespace weft::detail
