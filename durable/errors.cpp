// SPDX-License-Identifier: MIT
#include "weft/durable/errors.hpp"

namespace weft::durable {

step_failed::step_failed(std::string const& s, unsigned n, std::string const& w)
    : std::runtime_error("weft: the step \"" + s + "\" has failed " + std::to_string(n) +
                         (n == 1 ? " time: " : " times: ") + w),
      step(s),
      attempts(n),
      why(w) {}

step_interrupted::step_interrupted(std::string const& s)
    : std::runtime_error("weft: the step \"" + s +
                         "\", which runs at most once, was begun before a crash, and its answer is "
                         "not known") {}

child_failed::child_failed(std::string const& i, std::string const& why)
    : std::runtime_error("weft: the child " + i + " has no result: " + why), id(i) {}

}  // namespace weft::durable
