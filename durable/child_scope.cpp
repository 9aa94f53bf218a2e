// SPDX-License-Identifier: MIT
#include "weft/durable/child_scope.hpp"

#include "weft/sched/base/errors.hpp"

namespace weft::durable {

namespace {
struct child_end {
  std::string id{};
  std::string failure{};  // empty: it has completed
};
/// Waits for the first of these children to end.
auto first_end(std::vector<std::string> const& ids) {
  auto const finish = [](detail::recorded r) {
    auto const m = *detail::read_message(r.answer);
    auto const end = detail::read_outcome(m.data);
    child_end found{std::string(m.sender), {}};
    if (end.status != process_status::completed) found.failure = decode<std::string>(end.data);
    return found;
  };
  detail::receive_request any(detail::request_kind::outcome, {}, false, 0);
  any.among = &ids;
  return detail::asking<children, detail::receive_request, decltype(finish)>(any, finish);
}
}  // namespace

eff<void, children> child_scope::end(std::exception_ptr failure) {
  bool are_cancelled = false;
  while (!open_.empty()) {
    if (failure && !are_cancelled) {
      are_cancelled = true;
      for (std::size_t i = 0; i != open_.size(); ++i) co_await child<void>(open_[i]).cancel();
    }
    try {
      child_end const ended = co_await first_end(open_);
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
