// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

namespace weft::tests {

/// What `f`, which is called in ordinary code or in a process, is refused with: the text of the
/// std::logic_error that it throws.
template <class F>
std::string refusal_of(F f) {
  try {
    f();
  } catch (std::logic_error const& e) {
    return e.what();
  }
  return "none";
}

}  // namespace weft::tests
