// SPDX-License-Identifier: MIT
#include "weft/durable/child_scope.hpp"

namespace weft::durable {

namespace detail {

struct child_end {
  std::string id{};
  std::string failure{};  // empty: the child has completed
};
struct to_child_end {
  child_end operator()(recorded r) const {
    auto const m = read_some_message(r.answer);
    auto const end = read_outcome(m.data);
    child_end found{std::string(m.sender), {}};
    if (end.status != process_status::completed) found.failure = decode<std::string>(end.data);
    return found;
  }
};
/// Waits for the first of these children to end.
asking<children, receive_request, to_child_end> first_end(std::vector<std::string> const& ids) {
  receive_request any(request_kind::outcome, {}, false, 0);
  any.among = &ids;
  return {any, {}};
}

}  // namespace detail

eff<void, children> child_scope::end(std::exception_ptr failure) {
  bool are_cancelled = false;
  while (!open_.empty()) {
    if (failure && !are_cancelled) {
      are_cancelled = true;
      for (std::size_t i = 0; i != open_.size();) {
        try {
          co_await child<void>(open_[i]).cancel();
          ++i;
        } catch (weft::cancelled const&) {  // thrown once only, so the loop tries again
        }
      }
    }
    try {
      detail::child_end const ended = co_await detail::first_end(open_);
      std::erase(open_, ended.id);
      if (!ended.failure.empty() && !failure)
        failure = std::make_exception_ptr(child_failed(ended.id, ended.failure));
    } catch (weft::cancelled const&) {
      if (!failure) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace weft::durable
