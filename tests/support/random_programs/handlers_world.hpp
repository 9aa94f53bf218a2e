// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/support/dice.hpp"
#include "tests/support/random_programs/acts.hpp"
#include "tests/support/random_programs/dialect.hpp"
#include "tests/support/random_programs/program.hpp"
#include "tests/support/tracked.hpp"
#include "weft/effects/effects.hpp"

/// The world of a random program with effects: its parked resumptions, its open regions, and the
/// acts that every part of it may do at any time: a body, a clause, a destructor, on_return.
namespace weft::tests::handlers {

/// A program is a list of choices, since the acts of a destructor depend on what there is.
inline dialect dialect_of_choices() {
  dialect d;
  d.themes = {{act::chooses}};
  d.acts = d.size = 6000;
  return d;
}

/// Lives in frames, handlers and operations.  Its constructions and destructions are counted; a use
/// after destruction aborts.
using thing = tracked<moves::safely>;
/// The resumption of every suspended computation here.
using rest = resumption<int, int>;

/// The exception that programs throw, and the one that is raised at suspended operations.
struct thrown {};
struct raised {};

/// Events, counted over many programs.  A run in which one of these is zero has tested nothing.
struct tally {
  long resumed = 0;              // from ordinary code, with an answer
  long awaited = 0;              // by a co_await, with an answer
  long raised = 0;               // in a resumed computation
  long jumped = 0;               // by last(), into the clause's own continuation
  long jumped_to_parked = 0;     // by last(), into another that was parked
  long dropped = 0;              // destroying things in its frames
  long ended_suspended = 0;      // regions that ended while a computation was suspended in them,
  long ended_inside = 0;         // while they were in frames that were captured further out,
  long ended_before_clause = 0;  // while a coroutine clause of theirs was not done
  long expired = 0;              // these are refusals
  long empty = 0;
  long needed_control = 0;
  long no_region = 0;
  long no_outer = 0;
};

class world;

/// A handler in a region of its own.  The base is before the region, so that it still exists when
/// the region ends and destructors act inside.
class tenant {
 public:
  virtual ~tenant() = default;
  virtual detail::resident const* in_region() const noexcept = 0;
};
template <class Handler>
class in_a_region final : public tenant, public Handler, public region {
 public:
  explicit in_a_region(world& w) : Handler(w, true) {}
  detail::resident const* in_region() const noexcept override { return first(); }
};

class world {
 public:
  /// Makes the choices of these statements, one after the other.
  world(block const& choices, tally& what_happened, void (*start)(world&))
      : happened(what_happened), choices_(choices), start_(start) {
    effort_ = 200 + static_cast<int>(one_of(600));
  }
  world(world const&) = delete;
  world& operator=(world const&) = delete;

  /// Runs programs, uses the resumptions that they leave, and then destroys everything, in any
  /// order.
  void live() {
    for (int programs = 0; programs != 3; ++programs) {
      start_(*this);
      for (int i = 0; i != 30; ++i) act();
    }
    while (is_anything_parked() || !regions_.empty()) {
      if (one_in(2))
        drop_one();
      else
        end_a_region();
    }
  }

  // ---- chance

  unsigned one_of(std::size_t n) {
    auto const most = static_cast<unsigned>(n);
    return made_ == choices_.size() ? random_(most)
                                    : static_cast<unsigned>(choices_[made_++].n) % most;
  }
  bool one_in(unsigned n) { return one_of(n) == 0; }
  /// Whether there is effort left: so every program ends.
  bool goes_on() noexcept { return effort_-- > 0; }

  // ---- what there is

  void park(rest k) { parked_.push_back(std::move(k)); }
  [[nodiscard]] bool is_anything_parked() const noexcept { return slot_ || !parked_.empty(); }
  rest take() {
    if (slot_ && (parked_.empty() || one_in(4))) return std::move(slot_);
    auto const at = parked_.begin() + one_of(parked_.size());
    rest k = std::move(*at);
    parked_.erase(at);
    return k;
  }
  template <class Handler>
  in_a_region<Handler>& open() {
    auto handler = std::make_unique<in_a_region<Handler>>(*this);
    auto& opened = *handler;
    regions_.push_back(std::move(handler));
    return opened;
  }

  // ---- acts

  /// An act, at any time.  Throws nothing.
  void act() {
    if (!goes_on()) return;
    switch (one_of(16)) {
      case 0:
        return drop_one();
      case 1:
        return end_a_region();
      case 2:
        return assign_one();
      case 3:
        return describe_all();
      case 4:
        return start_another();
      case 5:
      case 6:
      case 7:
      case 8:
      case 9:
        return resume_one();
      default:
        return;
    }
  }

  /// Whether a clause in ordinary code may resume: on the native stack, so not too deep.
  [[nodiscard]] bool may_nest() noexcept { return depth_ < 8 && goes_on(); }
  int resume_with(rest k, int value) {
    nested const here(depth_);
    int const answer = resume(std::move(k), value);
    ++happened.resumed;
    return answer;
  }

  /// To be called in a catch block: counts the expected exceptions.  Any other continues: out of
  /// the test, or into a destructor and so to std::terminate.
  void caught() {
    try {
      throw;
    } catch (thrown const&) {
    } catch (handlers::raised const&) {
      ++happened.raised;
    } catch (resumption_expired const&) {
      ++happened.expired;
    } catch (resumption_empty const&) {
      ++happened.empty;
    } catch (needs_control const&) {
      ++happened.needed_control;
    } catch (not_a_region const&) {
      ++happened.no_region;
    } catch (no_outer_handler const&) {
      ++happened.no_outer;
    }
  }

  tally& happened;

 private:
  class nested {
   public:
    explicit nested(int& depth) noexcept : depth_(depth) { ++depth_; }
    nested(nested const&) = delete;
    nested& operator=(nested const&) = delete;
    ~nested() { --depth_; }

   private:
    int& depth_;
  };

  void drop_one() {
    if (!is_anything_parked()) return;
    long const dead = thing::deaths;
    {
      rest const gone = take();
    }
    if (thing::deaths != dead) ++happened.dropped;
  }
  /// The assignment drops the old resumption in the slot; its destructors find the slot filled.
  void assign_one() {
    if (!parked_.empty()) slot_ = take();
  }
  void resume_one() {
    if (!is_anything_parked() || !may_nest()) return;
    rest k = take();
    try {
      if (one_in(6)) {
        nested const here(depth_);
        resume(std::move(k), raising(std::make_exception_ptr(handlers::raised())));
      } else {
        resume_with(std::move(k), 5);
      }
    } catch (...) {
      caught();
    }
  }
  void end_a_region() {
    if (regions_.empty()) return;
    // Younger regions are likelier: without the outermost there is not much left to do.
    auto const at = std::max(one_of(regions_.size()), one_of(regions_.size()));
    auto const ending = std::move(regions_[at]);
    regions_.erase(regions_.begin() + at);
    note_end_of(ending->in_region());
  }
  void describe_all() const {
    for (rest const& k : parked_)
      if (describe(k, 10).empty()) throw std::logic_error("describe says nothing");
  }
  void start_another() {
    if (!may_nest()) return;
    nested const here(depth_);
    start_(*this);
  }

  /// The last resident stands for all in the region.
  void note_end_of(detail::resident const* last) {
    if (!last) return;
    auto const* const prompt = dynamic_cast<detail::prompt const*>(last);
    if (!prompt)
      ++happened.ended_before_clause;
    else if (prompt->is() == detail::prompt::state::suspended)
      ++happened.ended_suspended;
    else if (prompt->held_by() && prompt->held_by()->may_be_cut())
      ++happened.ended_inside;
  }

  block const& choices_;
  std::size_t made_ = 0;
  dice random_{1};  // after the last choice
  void (*const start_)(world&);
  int effort_;
  int depth_ = 0;  // of ordinary code inside programs
  std::vector<rest> parked_;
  rest slot_;
  std::vector<std::unique_ptr<tenant>> regions_;
};

/// An object in a frame, which sometimes acts when it is destroyed.
class guard {
 public:
  explicit guard(world& w) noexcept : world_(w) {}
  guard(guard const&) = delete;
  guard& operator=(guard const&) = delete;
  ~guard() {
    if (world_.one_in(3)) world_.act();
    (void)alive_.value();  // still alive
  }

 private:
  world& world_;
  thing alive_ = 1;
};

}  // namespace weft::tests::handlers
