// SPDX-License-Identifier: MIT
#include "weft/durable/detail/answers.hpp"

#include <cstddef>

#include "weft/durable/codec.hpp"
#include "weft/durable/detail/request.hpp"
#include "weft/durable/errors.hpp"

namespace weft::durable::detail {

namespace {

using packer = msgpack::packer<msgpack::sbuffer>;

/// An array of `n` elements.  `f` writes them; if `last` is not empty, it is the last one, as
/// MessagePack.
template <class F>
std::string array(std::uint32_t n, F const& f, std::string_view last = {}) {
  msgpack::sbuffer bytes(32 + last.size());
  packer to(bytes);
  to.pack_array(n);
  f(to);
  bytes.write(last.data(), last.size());
  return {bytes.data(), bytes.size()};
}

/// Reads an array, element by element.
class elements {
  template <class F>
  auto read(F const& f) {
    try {
      reading in;
      auto value = f(in.first(rest_, at_));
      rest_.remove_prefix(at_);
      return value;
    } catch (msgpack::type_error const& e) {
      throw_not_readable("an answer", e.what());
    } catch (msgpack::unpack_error const& e) {
      throw_not_readable("an answer", e.what());
    }
  }

 public:
  explicit elements(std::string_view bytes) : rest_(bytes) {
    // A short array begins with one byte: 0x90 plus its size.
    if (rest_.empty() || (static_cast<unsigned char>(rest_.front()) & 0xf0U) != 0x90U)
      throw_not_readable("an answer", "it is no array");
    rest_.remove_prefix(1);
  }
  template <class T>
  T next() {
    return read([](msgpack::object const& o) { return o.as<T>(); });
  }
  /// The next element, a text, in place.
  std::string_view text() {
    return read([this](msgpack::object const& o) {
      auto const text = o.as<std::string>();
      return rest_.substr(at_ - text.size(), text.size());
    });
  }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

 private:
  std::string_view rest_;
  std::size_t at_ = 0;
};

constexpr std::string_view value_head("\x92\x00", 2);
constexpr char nil = '\xc0';

}  // namespace

std::string step_answer(std::string_view value) {
  std::string bytes(value_head);
  return bytes.append(value);
}
std::string step_failure(unsigned attempts, std::string_view why) {
  return array(3, [&](packer& to) { to.pack(1).pack(attempts).pack(std::string(why)); });
}
std::string step_interruption() {
  return array(1, [](packer& to) { to.pack(2); });
}
std::string_view value_of_step(std::string_view answer, std::string_view step) {
  if (answer.starts_with(value_head)) return answer.substr(value_head.size());
  elements in(answer);
  auto const kind = in.next<int>();
  if (kind == 2) throw step_interrupted(std::string(step));
  if (kind != 1) throw_not_readable("an answer of a step", "it is of no known kind");
  auto const attempts = in.next<unsigned>();
  throw step_failed(std::string(step), attempts, in.next<std::string>());
}

std::string attempt_answer(failed_attempt const& a) {
  return array(3, [&](packer& to) { to.pack(a.attempts).pack(a.why).pack(a.again); });
}
failed_attempt read_attempt(std::string_view answer) {
  elements in(answer);
  failed_attempt a;
  a.attempts = in.next<unsigned>();
  a.why = in.next<std::string>();
  a.again = in.next<timestamp>();
  return a;
}

std::string message_answer(std::uint64_t sequence, std::string_view sender, std::string_view data) {
  return array(3, [&](packer& to) { to.pack(sequence).pack(std::string(sender)); }, data);
}
std::string nothing_answer() { return std::string(1, nil); }
std::optional<received_message> read_message(std::string_view answer) {
  if (answer.size() == 1 && answer.front() == nil) return std::nullopt;
  elements in(answer);
  received_message m;
  m.sequence = in.next<std::uint64_t>();
  m.sender = in.text();
  m.data = in.rest();
  return m;
}

received_message read_some_message(std::string_view answer) {
  auto const m = read_message(answer);
  if (!m) throw_not_readable("a message", "none came in time, when this wait had a deadline");
  return *m;
}

std::string outcome_message(process_status s, std::string_view result) {
  return array(2, [&](packer& to) { to.pack(static_cast<unsigned>(s)); }, result);
}
outgoing_message message_of_end(std::string to, process_status s, std::string_view result) {
  return {std::move(to), std::string(ended_message), outcome_message(s, result)};
}
process_outcome read_outcome(std::string_view bytes) {
  elements in(bytes);
  auto const s = static_cast<process_status>(in.next<unsigned>());
  return {s, in.rest()};
}

std::string number_answer(std::int64_t n) { return encode(n); }
std::int64_t read_number(std::string_view answer) { return decode<std::int64_t>(answer); }

}  // namespace weft::durable::detail
