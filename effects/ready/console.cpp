// SPDX-License-Identifier: MIT
#include "weft/effects/ready/console.hpp"

#include <ostream>
#include <stdexcept>
#include <string>

namespace weft {

void console_to_stream::on(console::print_line const& p) const { put(p.text + '\n'); }

void console_to_stream::put(std::string const& text) const {
  if (!(out_ << text)) throw std::runtime_error("weft::console: a write to the stream failed");
}

}  // namespace weft
