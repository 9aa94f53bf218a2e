// SPDX-License-Identifier: MIT
#include "weft/effects/detail/handler_lock.hpp"

#include <mutex>

namespace weft::detail {

class handler_lock::mutex : public std::mutex {};

handler_lock::handler_lock() : mutex_(new mutex) {}
handler_lock::~handler_lock() { delete mutex_; }
void handler_lock::lock() { mutex_->lock(); }
void handler_lock::unlock() noexcept { mutex_->unlock(); }

}  // namespace weft::detail
