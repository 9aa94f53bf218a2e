// SPDX-License-Identifier: MIT
// The id of a process is the path of spawns that led to it.
#include <iostream>

#include <weft/sched/schedule.hpp>
using namespace weft;

int main() {
  process_id const first;
  process_id const child = first.child(2);
  process_id const grandchild = child.child(1);
  std::cout << first.text() << ' ' << child.text() << ' ' << grandchild.text() << '\n';
  std::cout << child.nth_after(3).text() << " is three children later\n";
  std::cout << process_id::submitted(1).text() << " was submitted from outside\n";
  process_id const of_the_library = process_id::internal(1);
  std::cout << of_the_library.text() << ' ' << of_the_library.is_internal() << '\n';
  std::cout << (process_id::read("1.2") == child) << (child < grandchild)
            << (child.hash() != grandchild.hash()) << '\n';
}
