// SPDX-License-Identifier: MIT

/// Mistake: an operation of your own, without `co_await`

#include <string>
#include <utility>

#include <weft/effects/effects.hpp>

using namespace weft;

struct press {
  struct [[nodiscard]] publish : op<void> {
    [[nodiscard("weft: co_await it")]] explicit publish(std::string t) : text(std::move(t)) {}
    std::string text;
  };
  using operations = op_list<publish>;
};
struct drops_it : handler<press> {
  void on(press::publish const&) {}
};
eff<void, press> publishes() {
  press::publish("a headline");
  co_return;
}
int main() { run(handle(drops_it(), publishes)); }
