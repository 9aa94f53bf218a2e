// SPDX-License-Identifier: MIT
#include "weft/effects/detail/passed_frames.hpp"

#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <source_location>
#include <string>
#include <vector>

#include "weft/effects/detail/names.hpp"

namespace weft::detail {
namespace {

struct passed_exception {
  std::exception_ptr error;
  std::vector<std::source_location> frames;
};
struct kept_stacks {
  std::mutex mutex;
  std::deque<passed_exception> last;  // guarded by `mutex`; the latest exception is at the back
};
kept_stacks& all_kept() {
  static kept_stacks all;
  return all;
}
constexpr std::size_t most_kept = 16;

}  // namespace

void note_passed_frame(std::source_location where, std::exception_ptr const& error) noexcept {
  if (where.line() == 0) return;
  try {
    auto& all = all_kept();
    std::lock_guard const lock(all.mutex);
    for (auto& each : all.last)
      if (each.error == error) return each.frames.push_back(where);
    if (all.last.size() == most_kept) all.last.pop_front();
    all.last.push_back({error, {where}});
  } catch (...) {  // no memory: the noted stack lacks this frame
  }
}

void forget_passed_frames() noexcept {
  auto& all = all_kept();
  std::lock_guard const lock(all.mutex);
  all.last.clear();
}

std::string passed_frames_of(std::exception_ptr const& error) {
  auto& all = all_kept();
  std::lock_guard const lock(all.mutex);
  std::string text;
  for (auto const& each : all.last)
    if (each.error == error)
      for (auto const& where : each.frames)
        text += "  called at " + weft::detail::text(where) + '\n';
  return text;
}

}  // namespace weft::detail
