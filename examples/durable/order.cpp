// SPDX-License-Identifier: MIT

/// Orders that outlive their program: a payment, a wait of days, and a refund if it is needed.
///
/// `order` is a durable process.  Its payments and refunds are steps: each is done once, and its
/// answer is stored before the process goes on.  If the card service is busy, the step is tried again.
/// Then the process waits for the delivery, fourteen days at the most.  If the customer cancels, or the
/// parcel does not come, the payment is refunded: the process takes back what it has done, like a saga.
///
/// The program ends while three orders wait.  A second one opens the same file, and they go on.
/// Time is virtual, so fourteen days take none.

#include <chrono>
#include <filesystem>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

#include <weft/durable/engine.hpp>
#include <weft/durable/sqlite_store.hpp>
#include <weft/effects/effects.hpp>
#include <weft/sched/schedule.hpp>

using namespace weft;
using namespace std::chrono_literals;

// ---- the outside: a card service, which is busy at first

struct cards {
  struct [[nodiscard]] charge : op<std::string> {
    charge(durable::idempotency_key const& k, int a) : key(k.text), amount(a) {}
    std::string key;
    int amount;
  };
  struct [[nodiscard]] refund : op<void> {
    explicit refund(std::string r) : receipt(std::move(r)) {}
    std::string receipt;
  };
  using operations = op_list<charge, refund>;
};
struct card_service : handler<cards> {
  std::string on(cards::charge const& c) {
    if (!was_busy[c.key]++) {
      std::cout << c.key << ": the card service is busy\n";
      throw std::runtime_error("busy");
    }
    std::cout << c.key << ": charged " << c.amount << '\n';
    return "receipt of " + c.key;
  }
  void on(cards::refund const& r) { std::cout << "refunded: " << r.receipt << '\n'; }
  std::map<std::string, int> was_busy;
};

eff<std::string, cards> charge(durable::idempotency_key const& key, int amount) {
  co_return co_await cards::charge(key, amount);
}
eff<void, cards> refund(std::string const& receipt) { co_await cards::refund(receipt); }

// ---- the process

struct delivered {
  std::string to;
  MSGPACK_DEFINE(to)
};

eff<std::string, durable::all<cards>> order(int amount) {
  std::string const receipt =
      co_await durable::step({.name = "charge", .attempts = 5, .first_delay = 1s}, charge, amount);
  std::string why = "it was not delivered";
  try {
    instant const in_time = co_await timing::now{} + 14 * 24h;
    auto const parcel = co_await durable::receive_until<delivered>(in_time);
    if (parcel) co_return "delivered to " + parcel->message.to;
  } catch (cancelled const&) {
    why = "the customer has cancelled";
  }
  co_await durable::step("refund", refund, receipt);
  co_return "refunded, as " + why;
}
constexpr durable::function order_process{"order", 1, order};

// ---- two programs, one after the other

void take_orders(std::string const& file) {
  durable::sqlite_store store(file);
  durable::engine e({.until = durable::run_until::idle, .clock = durable::clock_source::scheduler},
                    store, order_process);
  e.start("order/1", order_process, 100);
  e.start("order/2", order_process, 200);
  e.start("order/3", order_process, 300);
  card_service service;
  // Until each has charged, and waits.
  schedule({.virtual_time = true}, [&] { return e.run(); }, service);
}

void go_on(std::string const& file) {
  durable::sqlite_store store(file);
  durable::engine e(
      {.until = durable::run_until::all_ended, .clock = durable::clock_source::scheduler}, store,
      order_process);
  e.send("order/1", delivered{"the neighbour"});
  e.cancel("order/2");
  card_service service;
  schedule({.virtual_time = true}, [&] { return e.run(); }, service);
  for (char const* const id : {"order/1", "order/2", "order/3"})
    std::cout << id << ": " << e.result<std::string>(id) << '\n';
}

int main() {
  auto const folder = std::filesystem::temp_directory_path() / "weft_example_order";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::string const file = folder / "orders.db";
  take_orders(file);
  std::cout << "-- the program has ended; another one goes on\n";
  go_on(file);
  std::filesystem::remove_all(folder);
}
