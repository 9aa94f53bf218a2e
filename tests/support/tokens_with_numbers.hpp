// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/tokens.hpp"
#include "weft/effects/effects.hpp"
#include "weft/sched/mail/mail.hpp"
#include "weft/sched/mail/routing.hpp"
#include "weft/sched/schedule.hpp"
#include "weft/sched/sync/completion.hpp"
#include "weft/sched/sync/external_event.hpp"
#include "weft/sched/sync/timing.hpp"
#include "weft/sched/tasks/scope.hpp"
#include "weft/sched/tasks/task_handle.hpp"

/// Tokens that are distinct: in mailboxes, from outside, and from tasks.
namespace weft::tests {

// ---- mail

enum class receiving : unsigned char { any, next, in_time };
enum class sending : unsigned char { any, in_time };

class tokens_in_a_port final : public tokens {
 public:
  tokens_in_a_port(receiving how, std::size_t capacity, sending s = sending::any)
      : how_(how), sending_(s), capacity_(capacity) {}
  law_job begin(law_scope&) override {
    auto both = co_await open<int>({.capacity = capacity_});
    in_ = std::make_unique<inbox<int>>(std::move(both.in));
    to_ = std::make_unique<address<int>>(std::move(both.to));
  }
  law<bool> give(int number) override {
    while (sending_ == sending::in_time) {
      instant const now = co_await timing::now{};
      auto const result = co_await to_->send_until(now + std::chrono::milliseconds(1), number);
      if (result) co_return true;
      if (result.unsent != number) throw std::logic_error("the message has not come back");
      if (result.what == delivery::no_inbox) co_return false;
    }
    bool const is_sent = co_await to_->send(number);
    co_return is_sent;
  }
  law<int> take() override {
    if (how_ == receiving::any) {
      int const number = co_await in_->receive();
      co_return number;
    }
    if (how_ == receiving::next) {
      auto const number = co_await in_->next();
      co_return number.value();
    }
    for (;;) {
      instant const now = co_await timing::now{};
      auto const number = co_await in_->receive_until(now + std::chrono::milliseconds(1));
      if (number) co_return *number;
    }
  }
  law<int> left() override {
    for (int n = 0;; ++n) {
      auto const number = co_await in_->try_receive();
      if (!number) co_return n;
    }
  }
  [[nodiscard]] bool has_one_taker() const override { return true; }
  [[nodiscard]] bool are_alike() const override { return false; }

 private:
  receiving const how_;
  sending const sending_;
  std::size_t const capacity_;
  std::unique_ptr<inbox<int>> in_;
  std::unique_ptr<address<int>> to_;
};

/// By the id of the process that takes the tokens.
class tokens_by_id final : public tokens {
 public:
  law_job begin(law_scope&) override {
    in_ = co_await open_inbox<int>({.capacity = 2});
    to_ = in_.owner();
  }
  law<bool> give(int number) override {
    bool const is_sent = co_await send(to_, number);
    co_return is_sent;
  }
  law<int> take() override {
    int const number = co_await in_.receive();
    co_return number;
  }
  law<int> left() override {
    for (int n = 0;; ++n) {
      auto const number = co_await in_.try_receive();
      if (!number) co_return n;
    }
  }
  [[nodiscard]] bool has_one_taker() const override { return true; }
  [[nodiscard]] bool are_alike() const override { return false; }

 private:
  routed_inbox<int> in_;
  process_id to_;
};

/// Of two inboxes, in turn.
class tokens_in_two_ports final : public tokens {
 public:
  explicit tokens_in_two_ports(bool in_time) : in_time_(in_time) {}
  law_job begin(law_scope&) override {
    auto a = co_await open<int>({.capacity = 1});
    auto b = co_await open<int>();
    first_ = std::make_unique<inbox<int>>(std::move(a.in));
    second_ = std::make_unique<inbox<int>>(std::move(b.in));
    to_.push_back(std::move(a.to));
    to_.push_back(std::move(b.to));
  }
  law<bool> give(int number) override {
    bool const is_sent = co_await to_[static_cast<std::size_t>(number) % 2].send(number);
    co_return is_sent;
  }
  law<int> take() override {
    if (!in_time_) {
      auto const m = co_await select(*first_, *second_);
      co_return m.index() == 0 ? std::get<0>(m) : std::get<1>(m);
    }
    for (;;) {
      instant const now = co_await timing::now{};
      auto const m = co_await select_until(now + std::chrono::milliseconds(1), *first_, *second_);
      if (m) co_return m->index() == 0 ? std::get<0>(*m) : std::get<1>(*m);
    }
  }
  law<int> left() override {
    int n = 0;
    for (auto* const in : {first_.get(), second_.get()})
      for (auto m = co_await in->try_receive(); m; m = co_await in->try_receive()) ++n;
    co_return n;
  }
  [[nodiscard]] bool has_one_taker() const override { return true; }
  [[nodiscard]] bool are_alike() const override { return false; }

 private:
  bool const in_time_;
  std::unique_ptr<inbox<int>> first_;
  std::unique_ptr<inbox<int>> second_;
  std::vector<address<int>> to_;
};

// ---- from outside, and from tasks: the first token that was not taken is waited for

class tokens_in_order : public tokens {
 public:
  static constexpr std::size_t most = 64;
  law<int> take() final {
    int const number = static_cast<int>(next_);
    co_await take_number(next_);
    ++next_;
    co_return number;
  }
  law<int> left() final {
    int n = 0;
    for (std::size_t i = next_; i != most; ++i) n += is_there(i);
    co_return n;
  }
  [[nodiscard]] bool has_one_taker() const final { return true; }
  [[nodiscard]] bool are_alike() const final { return false; }

 protected:
  virtual law_job take_number(std::size_t i) = 0;
  [[nodiscard]] virtual bool is_there(std::size_t i) const = 0;

 private:
  std::size_t next_ = 0;
};

class tokens_as_completions final : public tokens_in_order {
 public:
  explicit tokens_as_completions(bool in_time) : in_time_(in_time) {
    for (auto& c : from_) results_.push_back(c.get_completion());
  }
  law<bool> give(int number) override {
    from_[static_cast<std::size_t>(number)].complete(number);
    co_return true;
  }

 protected:
  law_job take_number(std::size_t i) override {
    if (!in_time_) {
      (void)co_await results_[i].wait();
      co_return;
    }
    for (bool has_come = false; !has_come;) {
      instant const now = co_await timing::now{};
      auto const value = co_await results_[i].wait_until(now + std::chrono::milliseconds(1));
      has_come = value.has_value();
    }
  }
  [[nodiscard]] bool is_there(std::size_t i) const override { return results_[i].is_ready(); }

 private:
  bool const in_time_;
  std::array<completer<int>, most> from_;
  std::vector<completion<int>> results_;
};

class tokens_at_outside_gates final : public tokens_in_order {
 public:
  law<bool> give(int number) override {
    gates_[static_cast<std::size_t>(number)].open();
    co_return true;
  }

 protected:
  law_job take_number(std::size_t i) override { co_await completions::wait{gates_[i]}; }
  [[nodiscard]] bool is_there(std::size_t i) const override { return gates_[i].is_open(); }

 private:
  std::array<external_event, most> gates_;
};

/// Tokens that are the results of tasks in another scope, which wait to be woken.
class tokens_from_tasks final : public tokens_in_order {
 public:
  explicit tokens_from_tasks(std::size_t n) : count_(n) {}
  law_job begin(law_scope& s) override {
    for (std::size_t i = 0; i != count_; ++i) s.start(handles_[i], waits, std::ref(gates_[i]));
    co_return;
  }
  law<bool> give(int number) override {
    gates_[static_cast<std::size_t>(number)].open();
    co_return true;
  }

 protected:
  law_job take_number(std::size_t i) override {
    if (i >= count_) throw std::logic_error("there are not so many");
    if (i % 2 == 0) {
      (void)co_await handles_[i];
      co_return;
    }
    bool has_ended = false;
    while (!has_ended) has_ended = co_await handles_[i].wait_for(std::chrono::milliseconds(1));
  }
  [[nodiscard]] bool is_there(std::size_t i) const override {
    return i < count_ && gates_[i].is_open();
  }
  void end() noexcept override {
    for (auto& g : gates_) g.open();
  }

 private:
  static law<int> waits(external_event& at) {
    co_await completions::wait{at};
    co_return 1;
  }
  std::size_t const count_;
  std::array<external_event, most> gates_;
  std::array<task_handle<int>, most> handles_;
};

}  // namespace weft::tests
