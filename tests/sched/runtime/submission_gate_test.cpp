// SPDX-License-Identifier: MIT
#include "weft/sched/runtime/detail/incoming/submission_gate.hpp"

#include "tests/prelude.hpp"
#include "weft/sched/runtime/detail/incoming/submissions.hpp"

using weft::detail::submission_gate;

TEST_CASE("the tickets of a gate are numbered from one on") {
  submission_gate g;
  CHECK_FALSE(g.is_closed());
  for (std::uint64_t n = 1; n != 4; ++n) {
    CHECK(g.draw() == n);
    g.arrive(true);
  }
  CHECK(g.started() == 3);
}

TEST_CASE("a gate that is closed stays closed, and gives no ticket") {
  submission_gate g;
  CHECK(g.draw() == 1);
  g.close();
  CHECK(g.is_closed());
  g.close();
  CHECK(g.is_closed());
  CHECK(g.draw() == 0);
  CHECK(g.draw() == 0);
  g.arrive(true);
  g.wait_for_pending_tickets();  // returns: the one ticket has arrived
  CHECK(g.started() == 1);
}

TEST_CASE("a closed gate without tickets waits for nothing") {
  submission_gate g;
  g.close();
  g.wait_for_pending_tickets();
  CHECK(g.started() == 0);
}

TEST_CASE("the processes that have begun are those put by tickets, and internal ones") {
  submission_gate g;
  CHECK(g.started() == 0);
  CHECK(g.draw() == 1);
  CHECK(g.draw() == 2);
  CHECK(g.started() == 0);  // both are under way
  g.arrive(false);          // making the process threw
  CHECK(g.started() == 0);
  g.arrive(true);
  CHECK(g.started() == 1);
  g.internal_sent += 2;
  CHECK(g.started() == 3);
}

using weft::detail::submission_ticket;

TEST_CASE("a ticket is under way until it ends, and counts if its process was put") {
  submission_gate g;
  std::optional<submission_ticket> first(g);
  std::optional<submission_ticket> second(g);
  CHECK(first->number() == 1);
  CHECK(second->number() == 2);
  first->mark_started();
  CHECK(g.started() == 0);
  first.reset();
  CHECK(g.started() == 1);
  second.reset();
  CHECK(g.started() == 1);
  g.close();
  g.wait_for_pending_tickets();
}

TEST_CASE("a ticket of a closed gate throws, and does not count") {
  submission_gate g;
  g.close();
  CHECK_THROWS_AS(submission_ticket(g), scheduler_stopped);
  g.wait_for_pending_tickets();
  CHECK(g.started() == 0);
}

TEST_CASE("the last submitter of a scheduler that is gone leaves without a trace") {
  submission_gate g;
  g.submitters = 2;
  g.leave();
  CHECK(g.submitters == 1);
  g.leave();
  CHECK(g.submitters == 0);
  CHECK(g.internal_sent == 0);
}

TEST_CASE("a closed gate waits until the threads under way have put their processes") {
  for (int round = 0; round != rounds(200); ++round) {
    submission_gate g;
    counter come = 0;
    int put = 0;
    std::thread outside([&] {
      submission_ticket ticket(g);
      ++come;
      until([&] { return g.is_closed(); });
      put = 1;
      ticket.mark_started();
    });
    until([&] { return come == 1; });
    g.close();
    g.wait_for_pending_tickets();
    CHECK(put == 1);  // SUBMIT-2
    CHECK(g.started() == 1);
    outside.join();
  }
}

TEST_CASE("a thread that finds the gate closed sees all that was written before") {
  for (int round = 0; round != rounds(200); ++round) {
    submission_gate g;
    int written = 0;
    int seen = 0;
    std::thread outside([&] {
      until([&] { return g.is_closed(); });
      seen = written;
    });
    written = 7;
    g.close();
    outside.join();
    CHECK(seen == 7);
  }
}

TEST_CASE(
    "with several threads each ticket is drawn once, and is waited for when the gate closes") {
  constexpr int threads = 3;
  for (int round = 0; round != rounds(200); ++round) {
    submission_gate g;
    counter come = 0;
    std::array<std::vector<std::uint64_t>, threads> put;  // by each thread while it is under way
    for (auto& p : put) p.reserve(1'000);
    std::vector<std::thread> all;
    for (std::size_t i = 0; i != threads; ++i)
      all.emplace_back([&, i] {
        for (int late = 0; late != 50;) {
          std::uint64_t const n = g.draw();
          if (n == 0) {
            ++late;  // further draws do not disturb the closed gate
            continue;
          }
          bool const has_room = put[i].size() != put[i].capacity();
          if (has_room) put[i].push_back(n);
          g.arrive(has_room);
          if (put[i].size() == 10) ++come;
          if (!has_room) std::this_thread::yield();
        }
      });
    until([&] { return come >= threads; });
    g.close();
    g.wait_for_pending_tickets();
    // No thread is under way: what was put is complete, and nothing is put any more.
    std::vector<std::uint64_t> found;
    for (auto const& p : put) found.insert(found.end(), p.begin(), p.end());
    std::ranges::sort(found);
    CHECK(std::ranges::adjacent_find(found) == found.end());
    CHECK(static_cast<std::int64_t>(found.size()) == g.started());
    CHECK(found.front() == 1);
    for (auto& t : all) t.join();
    CHECK(static_cast<std::int64_t>(found.size()) == g.started());
  }
}
