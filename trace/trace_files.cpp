// SPDX-License-Identifier: MIT
#include "weft/trace/trace_files.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>
#include <ostream>
#include <queue>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "weft/sched/base/process_id.hpp"
#include "weft/sched/base/trace_event.hpp"
#include "weft/trace/detail/json_object.hpp"
#include "weft/trace/trace.hpp"

namespace weft {
namespace {

using detail::json_object;

constexpr std::array<std::string_view, 22> names_of_kinds = {
    "perform",    "answer", "suspend",    "resume",  "put",  "take",    "steal", "park",
    "wake",       "unpark", "spawn",      "fork",    "send", "receive", "timer", "task_offered",
    "task_taken", "cancel", "checkpoint", "restore", "fail", "end"};
constexpr std::array<std::string_view, 4> names_of_reasons = {"started", "yielded", "woken",
                                                              "handed over"};

void write(std::string const& text, std::ostream& to) {
  if (!to.write(text.data(), static_cast<std::streamsize>(text.size())))
    throw std::runtime_error("weft: a trace cannot be written: its stream has failed");
}

[[nodiscard]] bool has_process(trace_kind k) noexcept {
  return k != trace_kind::steal && k != trace_kind::park && k != trace_kind::wake &&
         k != trace_kind::unpark && k != trace_kind::cancel && k != trace_kind::checkpoint &&
         k != trace_kind::restore;
}
[[nodiscard]] bool has_other(trace_kind k) noexcept {
  return k == trace_kind::spawn || k == trace_kind::fork;
}
[[nodiscard]] bool has_value(trace_kind k) noexcept {
  return k == trace_kind::resume || k == trace_kind::put || k == trace_kind::steal ||
         k == trace_kind::task_offered || k == trace_kind::task_taken || k == trace_kind::cancel;
}

/// The fields of an event, except its time, kind and thread.
void add_fields(json_object& o, trace_event const& e) {
  if (has_process(e.kind)) o.add("process", e.process.text());
  if (has_other(e.kind)) o.add("other", e.other.text());
  if (!e.operation.empty()) o.add("operation", e.operation);
  if (!e.handler.empty()) o.add("handler", e.handler);
  if (!e.under.empty()) o.add("under", e.under);
  if (e.depth != trace_event::unknown) o.add("depth", e.depth);
  if (e.line != 0) o.add("file", e.file).add("line", e.line);
  if (!e.text.empty()) o.add("text", e.text);
  if (e.object != 0) o.add("object", e.object);
  if (has_value(e.kind)) o.add("value", e.value);
  if (e.kind == trace_kind::put) o.add("reason", name_of_reason(e.reason));
  if (e.other_worker != trace_event::outside) o.add("other_worker", e.other_worker);
  if (e.is_replayed) o.add("replayed", 1);
}

/// The number of a thread's track: Perfetto has no thread 0.
[[nodiscard]] std::uint64_t track_of(trace_event const& e) noexcept {
  return e.worker == trace_event::outside ? 1 : std::uint64_t{e.worker} + 2;
}

class perfetto_writer {
 public:
  explicit perfetto_writer(std::ostream& to) : to_(to) {}

  void write_all(std::span<trace_event const> events) {
    text_ = "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n";
    name("process_name", 0, "weft");
    for (trace_event const& e : events) add(e);
    for (auto const& [track, s] : steps_)
      if (s.is_open) end_step(track, last_);
    text_ += "\n]}\n";
    write(text_, to_);
  }

 private:
  /// The state of a thread's track.
  struct step {
    bool is_named = false;
    bool is_open = false;
    std::string name;
    std::int64_t ready = 0;  // processes that the thread has put, and no thread has taken
  };
  struct put {
    std::uint64_t track;
    std::int64_t time;
    put_reason reason;
  };
  struct mailbox {
    std::queue<std::uint64_t> sent;  // the arrows of messages that are not received yet
    std::size_t received = 0;        // receipts that stand before their sends in the trace
  };

  /// An entry of the file, which begins with the members that all entries have.
  struct entry : json_object {
    entry(perfetto_writer& w, std::string_view phase, std::uint64_t track, std::int64_t time)
        : json_object(w.text_for_entry()) {
      add("ph", phase).add("pid", 1).add("tid", track).add_time("ts", time);
    }
  };
  std::string& text_for_entry() {
    if (text_.size() > std::size_t{1} << 16) {
      write(text_, to_);
      text_.clear();
    }
    text_ += is_first_ ? "" : ",\n";
    is_first_ = false;
    return text_;
  }
  void name(std::string_view what, std::uint64_t track, std::string const& text) {
    entry o(*this, "M", track, 0);
    o.add("name", what).object("args").add("name", text);
  }
  void end_step(std::uint64_t track, std::int64_t time) { entry const e(*this, "E", track, time); }
  void arrow(std::string_view phase, std::string_view what, std::uint64_t track, std::int64_t time,
             std::uint64_t id) {
    entry o(*this, phase, track, time);
    o.add("name", what).add("cat", what).add("id", id);
    if (phase == "f") o.add("bp", "e");
  }

  void add(trace_event const& e) {
    std::uint64_t const track = track_of(e);
    step& here = steps_[track];
    last_ = e.time;
    if (!here.is_named) {
      here.is_named = true;
      here.name =
          e.worker == trace_event::outside ? "outside" : "worker " + std::to_string(e.worker);
      name("thread_name", track, here.name);
    }
    bool const ends_step = e.kind == trace_kind::resume || e.kind == trace_kind::take ||
                           e.kind == trace_kind::park || e.kind == trace_kind::end;
    if (ends_step && here.is_open) {
      here.is_open = false;
      end_step(track, e.time);
    }
    switch (e.kind) {
      case trace_kind::resume:
        return begin_step(e, track, here);
      case trace_kind::put:
        return note_put(e, track);
      case trace_kind::take:
        return note_take(e, track);
      case trace_kind::send:
        return note_sent(e, track);
      case trace_kind::receive:
        return note_received(e, track);
      default:
        return instant(e, track);
    }
  }
  void begin_step(trace_event const& e, std::uint64_t track, step& here) {
    here.is_open = true;
    {
      entry o(*this, "B", track, e.time);
      o.add("name",
            e.process.text() + ' ' + std::string(e.operation.empty() ? "begins" : e.operation));
      json_object args = o.object("args");
      add_fields(args, e);
    }
    if (auto const found = taken_.find(e.process.hash()); found != taken_.end()) {
      std::string_view const what = found->second.reason == put_reason::woken ? "wake-up" : "steal";
      arrow("s", what, found->second.track, found->second.time, ++arrows_);
      arrow("f", what, track, e.time, arrows_);
      taken_.erase(found);
    }
  }
  void note_put(trace_event const& e, std::uint64_t track) {
    puts_[e.process.hash()] = {track, e.time, e.reason};
    count(track, +1, e.time);
    instant(e, track);
  }
  /// If another thread has put the process, or a wake-up has, keeps the put for an arrow.
  /// begin_step() draws the arrow, since it must end at a slice.
  void note_take(trace_event const& e, std::uint64_t track) {
    if (auto const found = puts_.find(e.process.hash()); found != puts_.end()) {
      if (found->second.track != track || found->second.reason == put_reason::woken)
        taken_[e.process.hash()] = found->second;
      count(found->second.track, -1, e.time);
      puts_.erase(found);
    }
  }
  /// Adds `more` to the thread's counter: how many processes it has put, and no thread has taken.
  void count(std::uint64_t track, int more, std::int64_t time) {
    steps_[track].ready += more;
    entry o(*this, "C", 0, time);
    json_object args = o.add("name", "ready").object("args");
    for (auto const& [number, s] : steps_)
      if (s.is_named) args.add(s.name, static_cast<std::uint64_t>(s.ready));
  }
  void instant(trace_event const& e, std::uint64_t track) {
    entry o(*this, "i", track, e.time);
    o.add("s", "t").add("name", name_of_kind(e.kind));
    json_object args = o.object("args");
    add_fields(args, e);
  }
  // A sender adds its event after it has sent, so the receipt, on another thread, may come first in
  // the trace.  Then both are instants, since no arrow points back in time.
  void note_sent(trace_event const& e, std::uint64_t track) {
    mailbox& b = mailboxes_[e.object];
    if (b.received != 0) {
      --b.received;
      return instant(e, track);
    }
    b.sent.push(++arrows_);
    arrow("s", "message", track, e.time, arrows_);
  }
  void note_received(trace_event const& e, std::uint64_t track) {
    mailbox& b = mailboxes_[e.object];
    if (b.sent.empty()) {
      ++b.received;
      return instant(e, track);
    }
    arrow("f", "message", track, e.time, b.sent.front());
    b.sent.pop();
  }

  std::ostream& to_;
  std::string text_;
  bool is_first_ = true;
  std::int64_t last_ = 0;
  std::uint64_t arrows_ = 0;
  std::map<std::uint64_t, step> steps_;  // by track
  std::map<std::uint64_t, put> puts_;    // by process: the put of each one that is in a queue
  std::map<std::uint64_t, put> taken_;   // by process: for the arrow to a step that has not begun
  std::map<std::uint64_t, mailbox> mailboxes_;
};

}  // namespace

std::string_view name_of_reason(put_reason r) noexcept {
  return names_of_reasons[static_cast<std::size_t>(r)];
}
std::string_view name_of_kind(trace_kind k) noexcept {
  return names_of_kinds[static_cast<std::size_t>(k)];
}

void write_json_lines(std::span<trace_event const> events, std::ostream& to) {
  std::string line;
  for (trace_event const& e : events) {
    line.clear();
    {
      json_object o(line);
      o.add("time", static_cast<std::uint64_t>(e.time)).add("kind", name_of_kind(e.kind));
      if (e.worker != trace_event::outside) o.add("worker", e.worker);
      add_fields(o, e);
    }
    line += '\n';
    write(line, to);
  }
}

void write_perfetto(std::span<trace_event const> events, std::ostream& to) {
  perfetto_writer(to).write_all(events);
}

void write_trace(std::span<trace_event const> events, std::string const& file,
                 std::uint64_t dropped) {
  bool const is_page = file.ends_with(".html");
  bool const is_perfetto = file.ends_with(".json");
  if (!is_page && !is_perfetto && !file.ends_with(".jsonl"))
    throw std::invalid_argument("weft: a trace is a file .html, .json or .jsonl: " + file);
  std::ofstream to(file);
  if (!to) throw std::runtime_error("weft: the file cannot be written: " + file);
  if (is_page)
    write_page(events, to, dropped);
  else if (is_perfetto)
    write_perfetto(events, to);
  else
    write_json_lines(events, to);
  if (!to.flush()) throw std::runtime_error("weft: the file cannot be written: " + file);
}
void write_trace(trace const& t, std::string const& file) {
  write_trace(t.events(), file, t.dropped());
}

}  // namespace weft
