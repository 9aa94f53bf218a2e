// SPDX-License-Identifier: MIT
#include "weft/effects/ready/choose.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

namespace weft {

choose::among::among(std::vector<double> w) : count(w.size()), weights(std::move(w)) {
  for (double const x : weights)
    if (!(x >= 0) || !std::isfinite(x))
      throw std::invalid_argument("weft: a weight is finite, and not negative");
}

namespace detail {

std::vector<std::size_t> ascending(std::size_t n, element_less less) {
  std::vector<std::size_t> all(n);
  for (std::size_t i = 0; i != n; ++i) all[i] = i;
  std::sort(all.begin(), all.end(),
            [less](std::size_t i, std::size_t j) { return less(i, j) || (i < j && !less(j, i)); });
  return all;
}

void throw_no_distribution() {
  throw std::domain_error("weft: no result has a weight: there is no distribution");
}

}  // namespace detail
}  // namespace weft
