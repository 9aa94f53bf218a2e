// SPDX-License-Identifier: MIT
#include "examples/hello.hpp"

#include <iostream>

#include "examples/backend.hpp"

int main(int argc, char** argv) {
  examples::backend(argc, argv).schedule(hello, weft::console_to_stream(std::cout));
}
