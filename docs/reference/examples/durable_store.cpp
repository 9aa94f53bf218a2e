// SPDX-License-Identifier: MIT
// What an engine does with a store, here with one in a file: commits, messages, times.
#include <array>
#include <filesystem>
#include <iostream>
#include <string>

#include <weft/durable/codec.hpp>
#include <weft/durable/sqlite_store.hpp>
#include <weft/durable/store.hpp>
using namespace weft;
using durable::process_status;

/// The part of the process `k` which charges, sends a message, starts another process, and waits.
durable::commit_part part_of(durable::process_key k, durable::stored_message const& m) {
  durable::commit_part part;
  part.process = k;
  part.id = "order/1";
  part.run = 0;
  part.first = 0;  // its log is empty
  part.entries.push_back({.operation = "step charge", .answer = durable::encode(7)});
  part.received.push_back(m.sequence);
  part.sent.push_back({.to = "shop", .type = "int", .data = durable::encode(7)});
  part.started.push_back({.id = "mail/1",
                          .function = "mail",
                          .version = 1,
                          .arguments = durable::encode(1),
                          .parent = "order/1"});
  part.published = durable::encode(true);
  part.continued = {};  // the run goes on
  part.status = durable::status_change{
      .now = process_status::waiting, .wake = durable::timestamp(1000), .known = 0, .result = {}};
  return part;
}

void use(durable::store& s) {
  (void)s.note_changes_of_others();  // what was before
  durable::process_start const order{"order/1", "order", 1, durable::encode(1), {}};
  durable::commit_effect const begun = s.start(order);
  durable::process_key const k = begun.process;
  durable::outgoing_message const hurry{"order/1", "text", durable::encode(std::string("hurry"))};
  s.send(hurry, "key");
  s.send(hurry, "key");  // the same message
  auto const inbox = s.inbox(k, 0);
  for (durable::stored_message const& m : inbox)
    std::cout << m.type << ' ' << durable::readable(m.data) << " of '" << m.sender << "'\n";

  durable::commit_part part = part_of(k, inbox.front());
  std::cout << "empty: " << part.is_empty() << '\n';
  std::array<durable::commit_part*, 1> const parts{&part};
  for (int i = 0; i != 2; ++i) {
    std::array<durable::commit_result, 1> results;
    s.commit(parts, results);
    std::cout << "accepted: " << results[0].is_accepted << '\n';  // the second one is fenced
    for (durable::commit_effect const& e : results[0].effects)
      std::cout << "  process " << e.process << ", " << durable::name_of(e.status)
                << (e.message.sequence == 0 ? ", is started" : ", has a message") << '\n';
  }

  durable::stored_process const p = s.load(k);
  std::cout << durable::name_of(p.record.status) << ", " << p.log.front().operation << ", "
            << p.inbox.size() << " messages\n";
  std::cout << "next at " << *s.next_wake() << ", due " << s.wake_due(1000, 10).size() << ", ready "
            << s.ready(0, 10).size() << " of " << s.list(0, 10).size() << '\n';
  std::cout << "unfinished " << s.any_unfinished() << ", released " << s.release(k)
            << ", changed by others " << s.note_changes_of_others() << ", shared "
            << (s.sharing() != nullptr) << ", found " << s.find("nobody").has_value() << '\n';
}

int main() {
  auto const folder = std::filesystem::temp_directory_path() / "weft_example_durable_store";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  durable::sqlite_store_options how;
  how.creates = false;
  how.waits_for_disk = false;
  try {
    durable::sqlite_store none(folder / "store.db", how);
  } catch (durable::store_error const&) {
    std::cout << "there is no store\n";
  }
  how.creates = true;
  {
    durable::sqlite_store store(folder / "store.db", how);
    use(store);
    std::cout << "damaged: " << !store.check().empty() << '\n';
  }
  for (auto const status : {process_status::unborn, process_status::ready, process_status::waiting,
                            process_status::completed, process_status::failed,
                            process_status::cancelled, process_status::quarantined})
    std::cout << durable::name_of(status) << (durable::has_ended(status) ? ", has ended" : "")
              << (durable::is_closed(status) ? ", closed\n" : "\n");
  std::filesystem::remove_all(folder);
}
