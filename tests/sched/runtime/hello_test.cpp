// SPDX-License-Identifier: MIT
#include "examples/hello.hpp"

#include "tests/prelude.hpp"

TEST_CASE("hello prints the same lines into a string") {
  std::string printed;
  weft::schedule(hello, weft::console_to_string(printed));
  CHECK(printed == "hello 1\nhello 2\n1\n4\n2\n5\n6\n");
}
