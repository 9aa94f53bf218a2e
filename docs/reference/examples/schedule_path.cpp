// SPDX-License-Identifier: MIT
// A schedule as text: made, written and read.
#include <iostream>
#include <stdexcept>

#include <weft/testing/path.hpp>
using namespace weft;

int main() {
  schedule_path path(granularity::parallel);
  path.reserve(3);
  path.add(1, process_id().child(2));
  path.add(0, process_id().child(1));
  path.add(1);  // a decision
  std::cout << path.text() << ", " << path.length() << " choices\n";

  schedule_path const read(path.text());
  std::cout << (read == path) << (read.grain() == granularity::parallel) << read.names_processes()
            << read[2] << '\n';
  std::cout << read.process(0)->text() << ' ' << read.process(2).has_value() << '\n';
  try {
    schedule_path const wrong("2p:1=1.2");
  } catch (std::invalid_argument const&) {
    std::cout << "no path\n";
  }
}
