// SPDX-License-Identifier: MIT

/// Mistake: an operation that answers with a reference
/// Errors: 2
/// Lines: 18

#include <string>

#include <weft/effects/effects.hpp>

using namespace weft;

struct names {
  struct [[nodiscard]] first : op<std::string&> {};
  using operations = op_list<first>;
};
struct knows : handler<names> {
  std::string name = "Ann";
  std::string& on(names::first) { return name; }
};
eff<int, names> reads() {
  std::string& name = co_await names::first{};
  co_return static_cast<int>(name.size());
}
int main() { return run(handle(knows(), reads)); }
