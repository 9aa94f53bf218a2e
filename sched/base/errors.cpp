// SPDX-License-Identifier: MIT
#include "weft/sched/base/errors.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <typeinfo>
#include <utility>
#include <vector>

#include "weft/sched/base/detail/process_names.hpp"

namespace weft {

char const* cancelled::what() const noexcept { return text_ ? text_->c_str() : literal_; }

bool detail::is_cancelled(std::exception_ptr const& error) noexcept {
  if (!error) return false;
#ifdef __GLIBCXX__  // libstdc++ tells the type without a throw
  std::type_info const& type = *error.__cxa_exception_type();
  if (type == typeid(cancelled) || type == typeid(timed_out)) return true;
#endif
  try {  // the type may be derived from `cancelled`
    std::rethrow_exception(error);
  } catch (cancelled const&) {
    return true;
  } catch (...) {
    return false;
  }
}

scheduler_stopped::scheduler_stopped()
    : runtime_error("weft: submit: the scheduler has ended, or is shutting down") {}

too_many_processes::too_many_processes(std::string const& what, std::size_t most)
    : runtime_error("weft: " + what + ": there are as many processes as .max_processes allows, " +
                    std::to_string(most)) {}

char const* no_senders::what() const noexcept {
  return "weft: no message is left to receive, and no sender is left";
}

namespace {
/// Appends `text`, in which all lines but the first are indented.
void append_indented(std::string& to, std::string_view text) {
  for (char const c : text) to += c == '\n' ? "\n  " : std::string_view(&c, 1);
}
std::string text_of(std::vector<exceptions::failure> const& all) {
  static constexpr std::size_t most = 16;
  std::string s = "weft: " + std::to_string(all.size()) + " processes failed, the first is " +
                  all.front().process.text() + ':';
  // The failures behind the first are sorted by id.  They come when all processes are cancelled, so
  // the order in which they come means nothing.
  std::vector<exceptions::failure const*> in_order;
  in_order.reserve(all.size());
  for (auto const& f : all) in_order.push_back(&f);
  std::ranges::sort(in_order.begin() + 1, in_order.end(), {},
                    [](auto const* f) { return f->process; });
  for (std::size_t i = 0; i != in_order.size(); ++i) {
    exceptions::failure const& f = *in_order[i];
    if (i == most) return s + "\n  and " + std::to_string(all.size() - most) + " more";
    s += "\n  process " + f.process.text() + ": ";
    try {
      std::rethrow_exception(f.error);
    } catch (std::exception const& e) {
      append_indented(s, e.what());
    } catch (...) {
      s += "an exception that is no std::exception";
    }
  }
  return s;
}
}  // namespace

exceptions::exceptions(std::vector<failure> f) : runtime_error(text_of(f)), all(std::move(f)) {}

namespace {
std::string text_of(std::vector<deadlock::waiter> const& all) {
  std::string s = "weft: deadlock: every process waits, and none is left to wake another";
  detail::process_names names;
  for (auto const& w : all) names.add(w.process, w.function);
  for (auto const& w : all) s += "\n  " + names.text(w.process) + " in " + w.text();
  return s;
}
}  // namespace

std::string deadlock::waiter::text() const {
  std::string s = what;
  if (held_by) s += ", held by process " + held_by->process.text() + " since " + held_by->since;
  if (!reason.empty()) s += ", for " + reason;
  return s;
}
deadlock::deadlock(std::vector<waiter> w) : runtime_error(text_of(w)), all(std::move(w)) {}

}  // namespace weft
