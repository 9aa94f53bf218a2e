// SPDX-License-Identifier: MIT
#include "weft/io/detail/numeric_address.hpp"

#include <arpa/inet.h>

#include "tests/prelude.hpp"

/// Addresses in digits, as the system's inet_pton takes them.

bool inet_pton_takes(int family, std::string const& s) {
  in6_addr room;
  return ::inet_pton(family, s.c_str(), &room) == 1;
}

TEST_CASE("an address in digits is what inet_pton takes, whatever characters are changed") {
  std::string_view const characters = "0123456789afAF:.g";
  tests::dice roll(1);
  unsigned taken = 0;
  for (std::string const start : {"127.0.0.1",
                                  "0.0.0.0",
                                  "255.255.255.255",
                                  "1.2.3",
                                  "01.2.3.4",
                                  "::",
                                  "::1",
                                  "1::",
                                  "fe80::1",
                                  "1:2:3:4:5:6:7:8",
                                  "1:2:3:4:5:6:7::",
                                  "::2:3:4:5:6:7:8",
                                  "::ffff:1.2.3.4",
                                  "1:2:3:4:5:6:1.2.3.4",
                                  "1:2:3:4:5:6:7:1.2.3.4",
                                  "12345::",
                                  "1:::2",
                                  "1::2::3",
                                  ":1",
                                  "1:",
                                  "",
                                  "localhost"})
    for (unsigned changes = 0; changes != 2'000; ++changes) {
      std::string s = start;
      for (unsigned n = roll(4); changes != 0 && n != 0; --n) {
        std::size_t const at = roll(static_cast<unsigned>(s.size()) + 1);
        if (roll(2) == 0)
          s.erase(at, 1);
        else
          s.insert(at, 1, characters[roll(static_cast<unsigned>(characters.size()))]);
      }
      bool const is_ipv4 = inet_pton_takes(AF_INET, s);
      bool const is_ipv6 = inet_pton_takes(AF_INET6, s);
      taken += is_ipv4 || is_ipv6;
      if (detail::is_ipv4(s) != is_ipv4 || detail::is_ipv6(s) != is_ipv6) FAIL(s);
    }
  CHECK(taken > 5'000);
}
