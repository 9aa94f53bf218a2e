// SPDX-License-Identifier: MIT
#include "weft/testing/path.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "weft/sched/base/process_id.hpp"

namespace weft {

schedule_path::schedule_path(std::string_view text) {
  std::size_t const begin = text.find(':');
  std::size_t const end = text.rfind(':');
  if (begin == text.npos || begin < 2 || (text[0] != '1' && text[0] != '2') ||
      (text[1] != 'c' && text[1] != 'p') || (begin != 2 && text[2] != '/'))
    refuse(text, "it must begin with 2c:, 2p:, 1c: or 1p:");
  if (end == begin || text.substr(end + 1) != checksum(text.substr(0, end)))
    refuse(text, "its checksum, behind the last colon, is another one");
  if (text[1] == 'p') granularity_ = granularity::parallel;
  if (begin != 2) {
    auto steps = text.substr(3, begin - 3);
    steps_ = number(text, steps, cut_form);
    if (!steps.empty() || steps_ == 0) refuse(text, cut_form);
  }
  auto const choices = text.substr(begin + 1, end - begin - 1);
  if (text[0] == '1')
    read(text, choices);
  else
    read_named(text, choices);
}
std::string schedule_path::text() const {
  std::string s = names_processes_ ? "2" : "1";
  s += granularity_ == granularity::cooperative ? 'c' : 'p';
  if (steps_ != 0) s += '/' + std::to_string(steps_);
  s += ':';
  std::map<unsigned, process_id> meant;  // which process each number meant last
  for (std::size_t i = 0, n = 0; i != length(); i += n) {
    for (n = 1; i + n != length() && choices_[i + n] == choices_[i];) ++n;
    if (i != 0) s += names_processes_ ? ',' : '.';
    append(s, choices_[i], meant);
    if (n != 1) s += 'x' + std::to_string(n);
  }
  std::string const sum = checksum(s);
  return s += ':' + sum;
}
void schedule_path::append(std::string& s, entry const& c,
                           std::map<unsigned, process_id>& meant) const {
  if (names_processes_ && !c.process) s += 'd';
  s += std::to_string(c.taken);
  if (!c.process) return;
  auto const [it, is_new] = meant.try_emplace(c.taken, *c.process);
  if (!is_new && it->second == *c.process) return;
  it->second = *c.process;
  s += '=' + c.process->text();
}
void schedule_path::refuse(std::string_view text, std::string const& why) {
  throw std::invalid_argument("weft: \"" + std::string(text) + "\" is no path: " + why);
}
void schedule_path::read(std::string_view whole, std::string_view rest) {
  while (!rest.empty()) {
    entry const c{number(whole, rest, numbers), {}};
    add_times(whole, rest, c, numbers);
    if (rest.empty()) return;
    if (rest.front() != '.' || rest.size() == 1) refuse(whole, numbers);
    rest.remove_prefix(1);
  }
}
void schedule_path::read_named(std::string_view whole, std::string_view rest) {
  std::map<unsigned, process_id> meant;
  do {
    bool const is_decision = rest.starts_with('d');
    if (is_decision) rest.remove_prefix(1);
    entry c{number(whole, rest, names), {}};
    if (!is_decision) c.process = process_meant(whole, rest, c.taken, meant);
    add_times(whole, rest, c, names);
    if (!rest.empty() && (rest.front() != ',' || rest.size() == 1)) refuse(whole, names);
    rest.remove_prefix(rest.empty() ? 0 : 1);
  } while (!rest.empty());
  if (!names_processes_) refuse(whole, names);
}
process_id schedule_path::process_meant(std::string_view whole, std::string_view& rest,
                                        unsigned taken, std::map<unsigned, process_id>& meant) {
  if (!rest.starts_with('=')) {
    auto const it = meant.find(taken);
    if (it == meant.end()) refuse(whole, names);
    return it->second;
  }
  rest.remove_prefix(1);
  auto const id = process_id::read(rest.substr(0, rest.find_first_of("x,")));
  if (!id) refuse(whole, names);
  rest.remove_prefix(std::min(rest.find_first_of("x,"), rest.size()));
  return meant[taken] = *id;
}
void schedule_path::add_times(std::string_view whole, std::string_view& rest, entry const& c,
                              char const* form) {
  static constexpr std::size_t most = 100'000'000;
  std::size_t times = 1;
  if (rest.starts_with('x')) {
    rest.remove_prefix(1);
    times = number(whole, rest, form);
  }
  if (times == 0 || times > most - length()) refuse(whole, "a choice is made 0 or too many times");
  choices_.insert(choices_.end(), times, c);
  names_processes_ = names_processes_ || c.process;
}
unsigned schedule_path::number(std::string_view whole, std::string_view& rest, char const* form) {
  unsigned n = 0;
  auto const [at, error] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
  if (error != std::errc()) refuse(whole, form);
  rest.remove_prefix(static_cast<std::size_t>(at - rest.data()));
  return n;
}
std::string schedule_path::checksum(std::string_view text) {
  unsigned sum = 0;
  for (char const c : text) {
    sum ^= static_cast<unsigned>(static_cast<unsigned char>(c)) << 8;
    for (int bit = 0; bit != 8; ++bit) sum = (sum << 1) ^ (sum & 0x8000u ? 0x11021u : 0u);
  }
  std::string s(4, '0');
  for (std::size_t i = 4; i-- != 0; sum >>= 4) s[i] = "0123456789abcdef"[sum & 15u];
  return s;
}

}  // namespace weft
