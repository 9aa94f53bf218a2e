// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "sched/runtime/detail/outer_watcher.hpp"
#include "sched/runtime/detail/scheduling.hpp"

/// What a scheduler does before processes run: learns which effects there are, and starts the first
/// one.
namespace weft::detail {

template <backend Backend>
template <class... All, class Find>
void scheduling<Backend>::learn_all(row<All...>, Find&& find) {
  ours_.reserve((2 + explores) * sizeof...(All));
  this->known_.expect(sizeof...(All));
  this->was_started_ = true;
  (learn_effect(identity<All>(), find), ...);
  if constexpr (on_several_threads) this->share_outers();
}
template <backend Backend>
template <class F, class Find>
void scheduling<Backend>::learn_effect(identity<F>, Find& find) {
  if constexpr (is_ours<F>) {
    auto* const a = own(std::make_unique<scheduler_place<scheduling, F, false>>(*this));
    auto* const b = own(std::make_unique<scheduler_place<scheduling, F, true>>(*this));
    if constexpr (explores && std::is_same_v<F, routing>)
      (void)this->registry().routes();  // ROUTE-5 of route_table.hpp
    this->known_.learn(
        {&identity_of<F>, static_cast<evidence<F>*>(a), static_cast<evidence<F>*>(b)});
  } else {
    evidence<F>* outer = find.template operator()<F>();
    this->learn_outer(outer->clauses->home(*outer));
    if constexpr (explores)
      outer = own(std::make_unique<watcher<scheduling, F>>(*this, *outer, Find::asks_further_out,
                                                           Find::template tells_what_it_touches<F>))
                  ->stand_in();
    auto* const r = own(std::make_unique<recorder<F>>(*this, *outer));
    this->known_.learn({&identity_of<F>, outer, r->stand_in()});
  }
}
template <backend Backend>
template <class R>
R* scheduling<Backend>::own(std::unique_ptr<R> r) {
  R* const p = r.get();
  ours_.push_back(std::move(r));
  return p;
}

template <backend Backend>
template <class Program>
void scheduling<Backend>::start(Program program, start_options how) {
  log_limit_ = how.log_limit;
  token_ = std::move(how.stop);
  this->has_virtual_time_ = how.virtual_time;
  this->admission_.limit(how.max_processes, how.when_full);
  this->admission_.begin(1);
  auto* const first = new program_of<Program>(std::move(program));
  if (how.forkable) {
    begin(new_process({}, first), true);
  } else {
    first_ = first;  // its frames refer to what it captured
    begin(new_process({}, first->start()), false);
  }
  if (this->is_cancelling()) this->throw_failures();  // there was no memory to put it
}

template <backend Backend>
process* scheduling<Backend>::new_process(process_id id, class program* p) {
  try {
    return forkable_process::make(id, p, log_limit_, header);
  } catch (...) {
    p->release();
    throw;
  }
}

}  // namespace weft::detail
