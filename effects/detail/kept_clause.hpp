// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "weft/effects/detail/end_of_clause.hpp"
#include "weft/effects/detail/evidence.hpp"
#include "weft/effects/detail/prompt.hpp"
#include "weft/effects/region.hpp"

/// A frame end between a coroutine clause and its waiter: the clause may outlive the body.
namespace weft::detail {

/// Stands between a coroutine clause and its waiter.  Keeps the prompt until the clause is done
/// (PROMPT-1), and the evidence for the clause's own operations.
template <class Callee, class Around>
class kept_clause : public end_of_clause {
 public:
  kept_clause(prompt& p, continuation waiter, void* around) noexcept
      : end_of_clause(p, waiter), evidence_(seen_.view(around)) {}

  [[nodiscard]] void* evidence() const noexcept { return evidence_; }
  [[nodiscard]] bool lost() const noexcept override { return lost_; }

 protected:
  bool lost_ = false;

 private:
  [[no_unique_address]] projection<Callee, Around> seen_;
  void* evidence_;
};

/// A kept_clause of a handler with a region.  When the region ends, the clause must not continue.
template <class Callee, class Around>
class resident_clause final : public kept_clause<Callee, Around>, public resident {
 public:
  resident_clause(prompt& p, continuation waiter, void* around, region& home) noexcept
      : kept_clause<Callee, Around>(p, waiter, around) {
    join(home);
  }

 private:
  void region_ended() noexcept override {
    leave();
    this->lost_ = true;
    cut_chain_of(*this, this->handlers_prompt().handler_name());
  }
  [[nodiscard]] std::string why_it_stays() const override {
    return std::string(this->handlers_prompt().handler_name()) + " has a clause that is not done";
  }
};

}  // namespace weft::detail
