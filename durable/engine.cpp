// SPDX-License-Identifier: MIT
#include "weft/durable/engine.hpp"

#include <stdexcept>

namespace weft::durable {

engine_base::engine_base(store& s, engine_options const& o) : store_(s), coordinator_(s, o) {
  coordinator_.on_end = [this] {
    std::scoped_lock const locked(lock_);
    ++ends_;
    ended_.notify_all();
  };
}

void engine_base::cancel(std::string const& id, std::string const& why) {
  coordinator_.arrived(store_.send({id, std::string(detail::cancel_message), encode(why)}, {}));
}

bool engine_base::resume_quarantined(std::string_view id) {
  auto const found = store_.find(id);
  if (!found || !store_.release(found->key)) return false;
  coordinator_.arrived({found->key, process_status::ready, {}});
  return true;
}

namespace {
[[noreturn]] void throw_no_process(std::string_view id) {
  throw std::invalid_argument("weft: there is no process " + std::string(id));
}
}  // namespace

std::vector<log_entry> engine_base::history(std::string_view id) {
  auto const found = store_.find(id);
  if (!found) throw_no_process(id);
  return store_.load(found->key).log;
}

std::optional<process_record> engine_base::wait_for(std::string_view id,
                                                    std::chrono::nanoseconds time) {
  auto const begin = std::chrono::steady_clock::now();
  for (;;) {
    std::unique_lock locked(lock_);
    auto const ends = ends_;
    locked.unlock();
    auto found = store_.find(id);  // without the lock, since a store of a cluster may take long
    if (!found) throw_no_process(id);
    if (has_ended(found->status) || found->status == process_status::quarantined) return found;
    auto const left = time - (std::chrono::steady_clock::now() - begin);
    if (left <= std::chrono::nanoseconds::zero()) return std::nullopt;
    // Another engine may end the process, so this loop asks the store again from time to time.
    locked.lock();
    ended_.wait_for(locked,
                    std::min<std::chrono::nanoseconds>(left, std::chrono::milliseconds(100)),
                    [&] { return ends_ != ends; });
  }
}

}  // namespace weft::durable
