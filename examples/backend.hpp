// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <string_view>
#include <system_error>
#include <utility>

#include "effects/effects.hpp"
#include "sched/schedule.hpp"

namespace examples {

/// The arguments of an example: which backend runs its processes.
///
///     int main(int argc, char** argv) {
///       examples::backend(argc, argv).schedule(hello, weft::console_to_stream(std::cout));
///     }
///
/// An example with an argument of its own says how that is called, and may ask for it.  What it
/// does not know ends the program with 2, after a line on how it is used.
class backend {
 public:
  backend(int argc, char** argv, std::string_view own = "") : name_(argv[0]), own_(own) {
    bool is_one_thread = false;
    for (char** argument = argv + 1; argument != argv + argc; ++argument) {
      std::string_view const text = *argument;
      if (text == "--backend=sharing")
        is_sharing_ = true;
      else if (text == "--backend=one_thread")
        is_one_thread = true;
      else if (text.starts_with("--threads="))
        threads_ = number(text.substr(text.find('=') + 1));
      else if (!own.empty() && argument_.empty())
        argument_ = text;
      else
        refuse();
    }
    if (is_one_thread && is_sharing_) refuse();
    if (threads_ >= 0 && !is_sharing_) refuse();
  }

  /// The example's own one; empty if there is none.
  [[nodiscard]] std::string_view argument() const { return argument_; }
  /// A whole number, from 0.
  [[nodiscard]] int number(std::string_view text) const {
    char const* const end = text.data() + text.size();
    int n = -1;
    auto const [read_to, error] = std::from_chars(text.data(), end, n);
    if (error != std::errc() || read_to != end || n < 0) refuse();
    return n;
  }
  [[noreturn]] void refuse() const {
    std::cerr << "usage: " << name_ << " [--backend=one_thread | --backend=sharing [--threads=n]]"
              << (own_.empty() ? "" : " ") << own_ << '\n';
    std::exit(2);
  }

  /// Under sharing several threads use the handlers: each gets a lock.
  template <class Program, class... Handlers>
  void schedule(Program program, Handlers... handlers) const {
    run(false, std::move(program), std::move(handlers)...);
  }
  /// The same, and time passes only when all sleep: so it is the same each time, and takes none.
  template <class Program, class... Handlers>
  void schedule_in_virtual_time(Program program, Handlers... handlers) const {
    run(true, std::move(program), std::move(handlers)...);
  }

 private:
  template <class Program, class... Handlers>
  void run(bool virtual_time, Program program, Handlers... handlers) const {
    if (!is_sharing_)
      return weft::schedule({.virtual_time = virtual_time}, std::move(program),
                            std::move(handlers)...);
    unsigned const threads = threads_ < 0 ? 0 : static_cast<unsigned>(threads_);
    weft::schedule<weft::sharing>({.threads = threads, .virtual_time = virtual_time},
                                  std::move(program), weft::synchronized(std::move(handlers))...);
  }

  std::string_view name_;
  std::string_view own_;
  std::string_view argument_;
  bool is_sharing_ = false;
  int threads_ = -1;  // not said
};

}  // namespace examples
