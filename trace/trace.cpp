// SPDX-License-Identifier: MIT
#include "weft/trace/trace.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "weft/sched/base/detail/trace_buffer.hpp"
#include "weft/sched/base/trace_event.hpp"
#include "weft/trace/trace_files.hpp"
#include "weft/trace/traced_handler.hpp"

namespace weft {

struct trace::state {
  trace_options limits;
  std::string file;
  detail::trace_buffer::clock::time_point begin = detail::trace_buffer::clock::now();
  std::mutex mutex;
  // `mutex` guards both lists, and the events in the first buffer, which is that of all threads
  // without a buffer of their own.
  std::vector<std::unique_ptr<detail::trace_buffer>> buffers;
  std::vector<detail::trace_buffer*> closed;

  [[nodiscard]] std::unique_ptr<detail::trace_buffer> make(trace const& home,
                                                           std::uint16_t worker) const {
    return std::make_unique<detail::trace_buffer>(home, worker, limits.max_events, limits.max_text,
                                                  begin);
  }
};

trace::trace(trace_options const& limits) : state_(std::make_unique<state>()) {
  state_->limits = limits;
  state_->file = limits.file;
  state_->buffers.push_back(state_->make(*this, trace_event::outside));
}
trace::~trace() = default;

std::vector<trace_event> trace::events() const {
  std::vector<trace_event> all;
  for (auto const& b : state_->buffers) {
    std::vector<trace_event> own;
    b->copy_to(own);
    std::vector<trace_event> const others = std::move(all);
    all.clear();
    all.reserve(others.size() + own.size());
    std::ranges::merge(others, own, std::back_inserter(all), {}, &trace_event::time,
                       &trace_event::time);
  }
  return all;
}
std::uint64_t trace::dropped() const {
  std::uint64_t n = 0;
  for (auto const& b : state_->buffers) n += b->dropped();
  return n;
}
std::uint64_t trace::texts_dropped() const {
  std::uint64_t n = 0;
  for (auto const& b : state_->buffers) n += b->texts_dropped();
  return n;
}

detail::trace_buffer& trace::open(std::uint16_t worker) {
  std::lock_guard const lock(state_->mutex);
  auto& closed = state_->closed;
  auto const again = std::ranges::find(closed, worker, &detail::trace_buffer::worker);
  if (again != closed.end()) {
    detail::trace_buffer& b = **again;
    closed.erase(again);
    return b;
  }
  closed.reserve(state_->buffers.size());  // so that close() needs no memory
  return *state_->buffers.emplace_back(state_->make(*this, worker));
}
void trace::close(detail::trace_buffer& b) noexcept {
  std::lock_guard const lock(state_->mutex);
  state_->closed.push_back(&b);
}
void trace::add_outside(trace_event e, detail::answering const* by) noexcept {
  std::lock_guard const lock(state_->mutex);
  detail::trace_buffer& b = *state_->buffers.front();
  e.text = b.keep(e.text);
  if (by || !e.under.empty()) b.note_handlers(e, by ? *by : detail::answering());
  b.add(e);
}
void trace::on_run_end() noexcept {
  std::string const& file = state_->file;
  if (file.empty()) return;
  try {
    write_trace(*this, file);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "weft: the trace of a run is not in %s: %s\n", file.c_str(), e.what());
  }
}
void detail::add_here(trace& t, trace_event e, answering const& by) noexcept {
  trace_buffer* const b = trace_buffer::of_thread;
  if (!b || !b->is_of(t)) return t.add_outside(e, &by);
  b->note_handlers(e, by);
  e.process = b->running();
  e.text = b->keep(e.text);
  b->add(e);
}

}  // namespace weft
