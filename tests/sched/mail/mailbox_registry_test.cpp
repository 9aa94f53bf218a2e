// SPDX-License-Identifier: MIT
#include "weft/sched/mail/detail/mailbox_registry.hpp"

#include "tests/prelude.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/parts.hpp"
#include "weft/sched/base/detail/ready_sink.hpp"
#include "weft/sched/mail/detail/mail_waiters.hpp"
#include "weft/sched/mail/detail/mailbox.hpp"
#include "weft/sched/mail/detail/receive_awaitables.hpp"
#include "weft/sched/mail/detail/route_table.hpp"
#include "weft/sched/mail/detail/typed_mailbox.hpp"
#include "weft/sched/sync/detail/wake_batch.hpp"

using weft::detail::mailbox_registry;

/// The mailboxes of a scheduler, without the scheduler.
class mail_alone {
 public:
  explicit mail_alone(bool several_threads = false)
      : registry(new mailbox_registry(ready, several_threads)) {}
  mail_alone(mail_alone const&) = delete;
  mail_alone& operator=(mail_alone const&) = delete;
  ~mail_alone() { end(); }
  /// The scheduler is over.
  void end() noexcept {
    if (auto* const r = std::exchange(registry, nullptr)) r->close();
  }

  keeping<> ready;
  mailbox_registry* registry;
};

/// The processes that wait at the mailboxes, as the registry lists them.
std::vector<process const*> waiting(mail_alone& s) {
  std::vector<process const*> all;
  s.registry->for_each_waiter([&all](process const& p) { all.push_back(&p); });
  return all;
}

/// The processes that take_all() takes, in order.
std::vector<process const*> take_all(mail_alone& s) {
  std::vector<process const*> all;
  s.registry->take_all([&](thunk t) {
    (void)s.registry->has_waiters();     // the lock is free
    CHECK_FALSE(t.get()->has_answer());  // the answer may be lost
    CHECK(t.answer() == 0);
    all.push_back(t.get());
  });
  return all;
}

// ---- the list

TEST_CASE("a registry without mailboxes has nothing to do") {
  every_frame_dies const check;
  mail_alone s;
  CHECK_FALSE(s.registry->has_several_threads());
  CHECK_FALSE(s.registry->has_waiters());
  CHECK_FALSE(s.registry->exchange_has_put());
  CHECK(waiting(s).empty());
  CHECK(take_all(s).empty());
  weft::detail::wake_batch batch;
  CHECK(s.registry->take_if(every_process, batch));
  mail_alone const other(true);
  CHECK(other.registry->has_several_threads());
}

using weft::detail::mailbox;
using weft::detail::message_slots;
using weft::detail::receive_waiter;
using weft::detail::send_waiter;
using weft::detail::typed_mailbox;
using weft::detail::untyped_address;

/// The end of an inbox, which gives up its count.
struct inbox_end {
  void operator()(mailbox* b) const noexcept { b->close(); }
};
/// A mailbox, as its inbox holds it, and an address of it.
template <class M = int>
class box {
 public:
  explicit box(mailbox_registry& r, std::size_t capacity = 1)
      : in_(new typed_mailbox<M>(r, capacity)) {
    in_->add_address();
    to_ = untyped_address(in_.get());
  }
  explicit box(mail_alone& s, std::size_t capacity = 1) : box(*s.registry, capacity) {}

  [[nodiscard]] typed_mailbox<M>& operator*() const noexcept { return *in_; }
  [[nodiscard]] typed_mailbox<M>* operator->() const noexcept { return in_.get(); }
  /// Leaves a message.
  void put(M m) {
    mailbox::woken_receiver none{};
    CHECK(in_->template send<false>(&m, false, none) == mailbox::send_outcome::stored);
  }
  void drop_address() { to_ = untyped_address(); }

 private:
  std::unique_ptr<typed_mailbox<M>, inbox_end> in_;
  untyped_address to_;  // dropped first
};

/// A process that receives at one mailbox or several.
template <class... Ms>
struct receiver {
  explicit receiver(typed_mailbox<Ms>&... boxes) : slots(boxes...), here(slots.at.data(), count) {
    is.get()->keep();
    here.parked.hold(*is.get());
  }
  receiver(receiver const&) = delete;
  receiver& operator=(receiver const&) = delete;
  /// Enters all mailboxes.
  template <bool Locks = false>
  bool waits() {
    bool does = true;
    process* admitted = nullptr;
    for (auto& at : slots.at)
      does &= at.box->template enter<Locks>(at, admitted, none_refused) ==
              mailbox::enter_outcome::waits;
    here.is_everywhere = true;
    return does && !admitted;
  }
  bool goes_on() {
    process* const p = here.parked.take();
    (void)thunk(p);
    return p != nullptr;
  }
  static constexpr unsigned count = sizeof...(Ms);
  thunk is = suspended_process();
  message_slots<Ms...> slots;
  receive_waiter here;  // leaves the mailboxes first
};
/// A process that sends, and waits for room.
struct sender {
  sender(mailbox& b, int m) : message(m), here(b, &message) { is.get()->keep(); }
  sender(sender const&) = delete;
  sender& operator=(sender const&) = delete;
  template <bool Locks = false>
  bool waits() {
    mailbox::woken_receiver none{};
    return here.box->template send_or_wait<Locks>(here, *is.get(), none, none_refused) ==
           mailbox::send_outcome::full;
  }
  thunk is = suspended_process();
  int message;
  send_waiter here;
};

template <class... Waiters>
std::vector<process const*> listed(Waiters const&... of) {
  return {of.is.get()...};
}

/// A message that holds an inbox, and so may keep a mailbox.
struct parcel {
  std::unique_ptr<mailbox, inbox_end> in;
  untyped_address to;
};

void put(typed_mailbox<parcel>& into, parcel m) {
  mailbox::woken_receiver none{};
  CHECK(into.send<false>(&m, false, none) == mailbox::send_outcome::stored);
}

TEST_CASE("a registry lists the processes that wait, in the order of their mailboxes") {
  every_frame_dies const check;
  mail_alone s;
  box a(s);
  box b(s);
  auto c = std::make_optional<box<>>(s);
  a.put(1);
  sender first(*a, 2);
  sender second(*a, 3);
  receiver at_b(*b);
  CHECK(first.waits());
  CHECK_FALSE(first.here.parked.take_if(none_refused));
  CHECK(second.waits());
  CHECK(at_b.waits());
  CHECK(s.registry->has_waiters());
  CHECK(waiting(s) == listed(first, second, at_b));
  // A mailbox that is gone is on no list.
  c.reset();
  box d(s);
  {
    receiver at_d(*d);
    CHECK(at_d.waits());
    CHECK(waiting(s) == listed(first, second, at_b, at_d));
    CHECK(at_d.goes_on());
    CHECK(waiting(s) == listed(first, second, at_b));
  }
  CHECK(take_all(s).size() == 3);
  CHECK_FALSE(s.registry->has_waiters());
}

TEST_CASE("the processes that are meant are taken at all mailboxes, and the others wait on") {
  every_frame_dies const check;
  mail_alone s;
  box a(s);
  box b(s);
  a.put(1);
  std::deque<sender> at_a;
  for (int i = 0; i != 4; ++i) CHECK(at_a.emplace_back(*a, i).waits());
  receiver at_b(*b);
  CHECK(at_b.waits());
  auto const meant = listed(at_a[1], at_a[2], at_b);
  weft::detail::wake_batch batch;
  CHECK(s.registry->take_if(
      [&meant](process const& p) noexcept { return std::ranges::find(meant, &p) != meant.end(); },
      batch));
  CHECK(release(batch) == std::vector{at_a[1].is.get(), at_a[2].is.get(), at_b.is.get()});
  CHECK(waiting(s) == listed(at_a[0], at_a[3]));
  CHECK(take_all(s).size() == 2);
}

TEST_CASE("if a batch has no room for more, the processes that are left wait on") {
  every_frame_dies const check;
  mail_alone s;
  box a(s);
  box b(s);
  a.put(1);
  std::deque<sender> at_a;
  for (int i = 0; i != 32; ++i) CHECK(at_a.emplace_back(*a, i).waits());
  receiver at_b(*b);
  CHECK(at_b.waits());
  {
    weft::detail::wake_batch batch;
    until_failure = 0;
    bool const were_all = s.registry->take_if(every_process, batch);
    until_failure = -1;
    CHECK_FALSE(were_all);
    CHECK(release(batch).size() == 32);
  }
  CHECK(waiting(s) == listed(at_b));
  {
    weft::detail::wake_batch batch;
    CHECK(s.registry->take_if(every_process, batch));
    CHECK(release(batch).size() == 1);
  }
  CHECK_FALSE(s.registry->has_waiters());
}

TEST_CASE("all processes are taken without the lock, in the order of their mailboxes") {
  every_frame_dies const check;
  mail_alone s;
  box empty(s);
  box full(s);
  box unused(s);
  full.put(1);
  receiver receives(*empty);
  sender first(*full, 2);
  sender second(*full, 3);
  CHECK(receives.waits());
  CHECK(first.waits());
  CHECK(second.waits());
  CHECK(take_all(s) == listed(receives, first, second));
  CHECK(waiting(s).empty());
  // The mailboxes are on the list still: the next wait is found.
  receiver again(*unused);
  CHECK(again.waits());
  CHECK(waiting(s) == listed(again));
  CHECK(take_all(s).size() == 1);
}

// ---- what is put

TEST_CASE("a process that the end of something wakes is put from outside, and that is noted once") {
  every_frame_dies const check;
  mail_alone s;
  box const used(s);
  thunk const p = suspended_process();
  CHECK_FALSE(s.registry->put([] { return thunk(thunk::reason::quiescent); }));
  CHECK_FALSE(s.registry->exchange_has_put());
  CHECK(s.ready.take().empty());
  CHECK(s.registry->put([&p] {
    p.get()->keep();
    return thunk(p.get(), 7);
  }));
  auto const ready = s.ready.take();
  REQUIRE(ready.size() == 1);
  CHECK(ready[0].what.get() == p.get());
  CHECK(ready[0].what.answer() == 7);
  CHECK(ready[0].from_outside);
  CHECK(s.registry->exchange_has_put());
  CHECK_FALSE(s.registry->exchange_has_put());
}

TEST_CASE("a process that cannot be put from outside is put on a thread of the scheduler") {
  every_frame_dies const check;
  mail_alone s;
  box const used(s);
  thunk const p = suspended_process();
  s.ready.fail_puts(1);
  CHECK(s.registry->put([&p] { return p; }));
  auto const ready = s.ready.take();
  REQUIRE(ready.size() == 1);
  CHECK(ready[0].what.get() == p.get());
  CHECK_FALSE(ready[0].from_outside);
  CHECK(s.registry->exchange_has_put());  // REGISTRY-2
}

TEST_CASE("a receiver is woken when the last address of its mailbox is dropped") {
  every_frame_dies const check;
  mail_alone s(GENERATE(false, true));
  box b(s);
  receiver r(*b);
  CHECK((s.registry->has_several_threads() ? r.waits<true>() : r.waits<false>()));
  b->add_address();
  untyped_address second(&*b);
  b.drop_address();
  CHECK(s.ready.take().empty());
  second = untyped_address();
  auto const ready = s.ready.take();
  REQUIRE(ready.size() == 1);
  CHECK(ready[0].what.get() == r.is.get());
  CHECK(ready[0].what.answer() == receive_waiter::no_senders_left);
  CHECK_FALSE(r.is.get()->has_answer());
  CHECK_FALSE(s.registry->has_waiters());
  CHECK(s.registry->exchange_has_put());
}

TEST_CASE("a receiver at several mailboxes is woken when the last address of all is dropped") {
  every_frame_dies const check;
  mail_alone s;
  box a(s);
  box b(s);
  receiver r(*a, *b);
  CHECK(r.waits());
  b.drop_address();
  CHECK(s.ready.take().empty());
  CHECK(waiting(s).size() == 2);  // it stands at both
  a.drop_address();
  CHECK(s.ready.take_processes() == std::vector{r.is.get()});
}

TEST_CASE("the processes that wait at an inbox that ends are woken") {
  every_frame_dies const check;
  mail_alone s;
  std::optional<box<>> b(std::in_place, s);
  b->put(1);
  sender first(**b, 2);
  sender second(**b, 3);
  CHECK(first.waits());
  CHECK(second.waits());
  b.reset();
  auto const ready = s.ready.take();
  REQUIRE(ready.size() == 2);
  CHECK(ready[0].what.get() == first.is.get());
  CHECK(ready[1].what.get() == second.is.get());
  for (auto const& e : ready) CHECK(e.what.answer() == 0);  // not sent
  CHECK_FALSE(s.registry->has_waiters());
}

TEST_CASE("a process whose operation ends while it waits leaves its mailbox, and is put") {
  every_frame_dies const check;
  mail_alone s;
  box a(s);
  box b(s);
  b.put(1);
  auto r = std::make_unique<receiver<int>>(*a);
  auto w = std::make_unique<sender>(*b, 2);
  CHECK(r->waits());
  CHECK(w->waits());
  std::vector<process*> const expected{r->is.get(), w->is.get()};
  thunk const first = r->is;
  thunk const second = w->is;
  r.reset();
  w.reset();
  CHECK(s.ready.take_processes() == expected);
  CHECK_FALSE(s.registry->has_waiters());
  CHECK(s.registry->exchange_has_put());
}

TEST_CASE("a mailbox whose inbox has ended stays until the last operation has left it") {
  every_frame_dies const check;
  mail_alone s;
  std::optional<box<>> b(std::in_place, s);
  auto r = std::make_unique<receiver<int>>(**b);
  CHECK(r->waits());
  CHECK(r->goes_on());  // its alarm has woken it: it is inside still (MAILBOX-5)
  b.reset();
  CHECK(waiting(s).empty());
  r.reset();
  CHECK(s.ready.take().empty());
}

// ---- routes

TEST_CASE("the table of routes is made when it is first asked for, and lasts") {
  every_frame_dies const check;
  mail_alone s;
  CHECK(s.registry->routes_if_any() == nullptr);
  auto& routes = s.registry->routes();
  CHECK(&s.registry->routes() == &routes);
  CHECK(s.registry->routes_if_any() == &routes);
  box b(s);
  routes.add({}, *b, weft::detail::identity_of<int>);
  CHECK(routes.find({}, weft::detail::identity_of<int>).get() == &*b);
  CHECK(routes.remove({}).get() == &*b);
  CHECK(routes.find({}, weft::detail::identity_of<int>).get() == nullptr);
}

// ---- the end of the scheduler

TEST_CASE("a registry outlives its scheduler as long as there is a mailbox") {
  every_frame_dies const check;
  std::optional<mail_alone> s(std::in_place);
  std::optional<box<>> first(std::in_place, *s);
  std::optional<box<>> second(std::in_place, *s);
  first->put(1);
  s->end();
  s.reset();
  CHECK_FALSE((*first)->registry().has_waiters());
  mailbox::woken_receiver none{};
  int m = 2;
  // The mailbox with messages was closed; no process receives from the other one.
  CHECK((*first)->send<false>(&m, false, none) == mailbox::send_outcome::closed);
  CHECK((*second)->send<false>(&m, false, none) == mailbox::send_outcome::stored);
  first.reset();
  second.reset();
}

TEST_CASE("the messages that are left are destroyed when the scheduler ends") {
  every_frame_dies const check;
  counter alive = 0;
  std::optional<mail_alone> s(std::in_place);
  box<lives> a(*s, 9);
  box<lives> empty(*s, 9);
  std::optional<box<lives>> closed(std::in_place, *s, 9);
  for (int i = 0; i != 3; ++i) {
    a.put(lives(alive));
    closed->put(lives(alive));
  }
  CHECK(alive == 6);
  closed.reset();
  CHECK(alive == 3);
  s.reset();
  CHECK(alive == 0);
}

/// A mailbox whose inbox lies in a message.
typed_mailbox<parcel>* open(mail_alone& s) { return new typed_mailbox<parcel>(*s.registry, 9); }
parcel with_ends_of(typed_mailbox<parcel>& b) {
  b.add_address();
  return {std::unique_ptr<mailbox, inbox_end>(&b), untyped_address(&b)};
}

TEST_CASE("mailboxes that lie in each other end with their scheduler") {
  every_frame_dies const check;
  SECTION("one in itself") {
    mail_alone s;
    auto* const a = open(s);
    put(*a, with_ends_of(*a));
  }
  SECTION("two in each other") {
    mail_alone s;
    auto* const a = open(s);
    auto* const b = open(s);
    put(*a, with_ends_of(*b));
    put(*b, with_ends_of(*a));
  }
  SECTION("a chain, each in the one before, and the last one in itself") {
    mail_alone s;
    std::vector<typed_mailbox<parcel>*> all;
    for (int i = 0; i != 10; ++i) all.push_back(open(s));
    for (std::size_t i = 0; i != 9; ++i) put(*all[i], with_ends_of(*all[i + 1]));
    put(*all[9], with_ends_of(*all[0]));
  }
}

// ---- threads

TEST_CASE("the routes of a registry that several threads ask for are one table") {
  constexpr std::size_t threads = 3;
  for (int round = 0; round != rounds(50); ++round) {
    mail_alone s(true);
    counter come = 0;
    std::array<weft::detail::route_table*, threads> found{};
    std::vector<std::thread> all;
    for (std::size_t i = 0; i != threads; ++i)
      all.emplace_back([&, i] {
        ++come;
        until([&] { return come == threads; });
        auto* const early = s.registry->routes_if_any();
        found[i] = &s.registry->routes();
        if (early && early != found[i]) found[i] = nullptr;
      });
    for (auto& t : all) t.join();
    for (auto* const t : found) CHECK((t != nullptr && t == found[0]));
  }
}

TEST_CASE("while several threads make, use and end mailboxes each process is taken or put once") {
  every_frame_dies const check;
  constexpr int threads = 2;
  int const each = rounds(5'000);
  mail_alone s(true);
  counter waited = 0, taken = 0, cut_off = 0, wrong = 0, over = 0;
  // A process ends its operation when it goes on: not while it is being taken.
  std::mutex takes;
  std::vector<std::thread> all;
  for (int i = 0; i != threads; ++i)
    all.emplace_back([&, i] {
      dice random(static_cast<unsigned>(i));
      for (int n = 0; n != each; ++n) {
        auto* const b = new typed_mailbox<int>(*s.registry, 1);
        b->add_address();
        std::unique_ptr<mailbox, inbox_end> in(b);
        untyped_address to(b);
        std::optional<receiver<int>> r(*b);
        if (r->waits<true>())
          ++waited;
        else
          ++wrong;
        switch (random(3)) {
          case 0:
            to = untyped_address();  // the receiver is put
            break;
          case 1:
            in.reset();  // the same
            break;
          default:
            break;  // the end of the receiver's operation has it put
        }
        std::lock_guard const lock(takes);
        r.reset();
      }
      ++over;
    });
  // A canceller meanwhile takes some of the processes.
  for (unsigned turn = 0; over != threads; ++turn) {
    {
      std::lock_guard const lock(takes);
      weft::detail::wake_batch batch;
      if (!s.registry->take_if([turn](process const&) noexcept { return turn % 2 == 0; }, batch))
        ++wrong;
      taken += static_cast<int>(release(batch).size());
      if (turn % 16 == 0) s.registry->take_all([&taken](thunk) { ++taken; });
    }
    cut_off += static_cast<int>(s.ready.take().size());
    std::this_thread::yield();
  }
  for (auto& t : all) t.join();
  cut_off += static_cast<int>(s.ready.take().size());
  CHECK(wrong == 0);
  CHECK(waited == threads * each);
  CHECK(taken + cut_off == waited);
  CHECK_FALSE(s.registry->has_waiters());
}

TEST_CASE("a mailbox may end on another thread while its scheduler ends") {
  for (int round = 0; round != rounds(200); ++round) {
    every_frame_dies const check;
    counter alive = 0;
    {
      mail_alone s(true);
      box<lives> a(s, 9);
      a.put(lives(alive));
      counter come = 0;
      std::thread other([&, b = std::move(a)]() mutable {
        ++come;
        until([&] { return come == 2; });
        b.drop_address();
        {
          auto const gone = std::move(b);
        }
      });
      ++come;
      until([&] { return come == 2; });
      s.end();
      other.join();
    }
    CHECK(alive == 0);
  }
}
