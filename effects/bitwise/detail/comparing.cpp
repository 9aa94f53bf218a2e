// SPDX-License-Identifier: MIT
#include "weft/effects/bitwise/detail/comparing.hpp"

#include <exception>
#include <source_location>
#include <string>

#include "weft/effects/detail/names.hpp"
#include "weft/effects/errors.hpp"

namespace weft::detail {

std::string text_of_exception(std::exception_ptr const& error) {
  try {
    std::rethrow_exception(error);
  } catch (std::exception const& e) {
    return std::string("an exception, ") + e.what();
  } catch (...) {
    return "an exception";
  }
}

void throw_differ(std::source_location where, std::string const& replayed,
                  std::string const& copied) {
  throw outcomes_differ("weft: resumed by replay and bitwise, the body handled at " + text(where) +
                        " has two outcomes: by replay " + replayed + ", bitwise " + copied +
                        (replayed == copied ? ", another one" : ""));
}

}  // namespace weft::detail
