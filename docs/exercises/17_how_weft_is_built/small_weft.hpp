// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <coroutine>
#include <deque>
#include <exception>
#include <iostream>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

/// The small weft: steps 1 to 4 of docs/17_how_weft_is_built.md.
namespace small_weft {

template <class T>
using kept = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

/// The place of a result: it lies with the caller.
template <class T>
struct slot {
  std::optional<kept<T>> value;
  std::exception_ptr error;

  T take() {
    if (error) std::rethrow_exception(error);
    if constexpr (!std::is_void_v<T>) return *std::move(value);
  }
};

struct prompt;  // step 2

/// What all frames have in common.
struct frame {
  std::coroutine_handle<> parent;  // continues when this frame has ended
  void* to = nullptr;              // a slot<T>, for the result
  prompt* handlers = nullptr;      // step 2
};
inline frame& frame_of(std::coroutine_handle<> h) {
  return std::coroutine_handle<frame>::from_address(h.address()).promise();
}

template <class T>
struct frame_with_slot : frame {
  slot<T>& result() { return *static_cast<slot<T>*>(to); }
  void unhandled_exception() { result().error = std::current_exception(); }
};
template <class T>
struct frame_with_result : frame_with_slot<T> {
  void return_value(T v) { this->result().value.emplace(std::move(v)); }
};
template <>
struct frame_with_result<void> : frame_with_slot<void> {
  void return_void() { result().value.emplace(); }
};

/// The end of a frame: its result is written, so it is destroyed, and its parent continues.
struct at_end {
  bool await_ready() noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> me) noexcept {
    std::coroutine_handle<> const next = frame_of(me).parent;
    me.destroy();
    return next;
  }
  void await_resume() noexcept {}
};

/// A computation of a `T`.  It begins when it is awaited.
template <class T>
class [[nodiscard]] eff {
 public:
  struct promise_type : frame_with_result<T> {
    eff get_return_object() {
      return eff(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    at_end final_suspend() noexcept { return {}; }
  };

  explicit eff(std::coroutine_handle<> f) : frame_(f) {}
  eff(eff&& other) noexcept : frame_(other.release()) {}
  ~eff() {
    if (frame_) frame_.destroy();
  }
  std::coroutine_handle<> release() { return std::exchange(frame_, {}); }

 private:
  std::coroutine_handle<> frame_;
};

/// `co_await computation`.
template <class T>
class calling {
 public:
  explicit calling(eff<T> callee) : callee_(callee.release()) {}
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> me) {
    frame_of(callee_).parent = me;
    frame_of(callee_).to = &result_;
    frame_of(callee_).handlers = frame_of(me).handlers;  // step 2
    return callee_;                                      // a jump, not a call
  }
  T await_resume() { return result_.take(); }

 private:
  std::coroutine_handle<> callee_;
  slot<T> result_;
};
template <class T>
calling<T> operator co_await(eff<T>&& e) {
  return calling<T>(std::move(e));
}

/// Runs a computation from ordinary code.
template <class T>
T run(eff<T> e) {
  slot<T> result;
  std::coroutine_handle<> const f = e.release();
  frame_of(f).parent = std::noop_coroutine();
  frame_of(f).to = &result;
  f.resume();
  return result.take();
}

/// Base of an operation that is answered with an `R`.
template <class R>
struct op {
  using result = R;
};
template <class O>
concept operation = std::derived_from<O, op<typename O::result>>;
template <class O>
constexpr char name_of = 0;  // its address names the operation

/// One run of a body under a handler, as the frames inside see it.
struct prompt {
  prompt* outer = nullptr;
  std::coroutine_handle<> base;                    // the frame of `handle`
  virtual void* clause_for(void const* name) = 0;  // a clause<O>, or null

 protected:
  ~prompt() = default;
};
/// How a handler answers the operation `O`.  Returns the frame that runs next.
template <class O>
struct clause {
  virtual std::coroutine_handle<> answer(O o, std::coroutine_handle<> leaf,
                                         slot<typename O::result>& waiting) = 0;

 protected:
  ~clause() = default;
};

/// `co_await operation`.
template <operation O>
class performing {
 public:
  explicit performing(O o) : what_(std::move(o)) {}
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> me) {
    for (prompt* p = frame_of(me).handlers; p; p = p->outer)
      if (void* const c = p->clause_for(&name_of<O>))
        return static_cast<clause<O>*>(c)->answer(std::move(what_), me, result_);
    std::cerr << "no handler\n";
    std::terminate();
  }
  typename O::result await_resume() { return result_.take(); }

 protected:
  slot<typename O::result> result_;

 private:
  O what_;
};

template <operation O>
performing<O> operator co_await(O o) {
  return performing<O>(std::move(o));
}

/// Calls `f`, and puts into the slot what it returns or throws.
template <class T, class F>
void fill(slot<T>& s, F f) {
  try {
    if constexpr (std::is_void_v<T>) {
      f();
      s.value.emplace();
    } else {
      s.value.emplace(f());
    }
  } catch (...) {
    s.error = std::current_exception();
  }
}

/// The clause of the handler `H`, whose answer is an `A`, for the operation `O`.
template <class H, class A, class O>
struct clause_of;
template <class H, class A, class O>
  requires requires(H& h, O o) { h.on(std::move(o)); }
struct clause_of<H, A, O> : clause<O> {  // on(operation): a value clause
  clause_of(H& h, prompt&) : handler(h) {}
  std::coroutine_handle<> answer(O o, std::coroutine_handle<> leaf,
                                 slot<typename O::result>& waiting) final {
    fill(waiting, [&] { return handler.on(std::move(o)); });
    return leaf;  // which continues with its answer
  }
  H& handler;
};

/// A handler around a body, for the operations `Os`.
template <class H, class A, class... Os>
struct handling final : prompt, clause_of<H, A, Os>... {
  explicit handling(H& h) : clause_of<H, A, Os>(h, *this)... {}
  void* clause_for(void const* name) override {
    void* found = nullptr;
    ((name == &name_of<Os> ? void(found = static_cast<clause<Os>*>(this)) : void()), ...);
    return found;
  }
};

/// `co_await` of a body, under a new prompt.
template <class A>
class entering : public calling<A> {
 public:
  entering(eff<A> body, prompt& here) : calling<A>(std::move(body)), here_(here) {}
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> me) {
    here_.outer = frame_of(me).handlers;
    here_.base = me;
    std::coroutine_handle<> const body = calling<A>::await_suspend(me);
    frame_of(body).handlers = &here_;
    return body;
  }

 private:
  prompt& here_;
};

/// Runs the body under a handler.
template <class... Os, class H, class A>
eff<A> handle(H& h, eff<A> body) {
  handling<H, A, Os...> here(h);
  co_return co_await entering<A>(std::move(body), here);
}

/// The continuation of a body that waits for an `R`: the frames from `leaf` to that of `handle`.
template <class R, class A>
class resumption {
 public:
  resumption(std::coroutine_handle<> leaf, slot<R>& waiting, std::coroutine_handle<> base)
      : leaf_(leaf), waiting_(&waiting), base_(base) {}
  resumption(resumption&& k) noexcept
      : leaf_(std::exchange(k.leaf_, {})), waiting_(k.waiting_), base_(k.base_) {}
  ~resumption() {  // dropped: the innermost frame is destroyed first
    while (leaf_) {
      auto const next = leaf_ == base_ ? nullptr : frame_of(leaf_).parent;
      std::exchange(leaf_, next).destroy();
    }
  }

  /// Resumes, and returns the answer of the handler.
  template <class... V>
  friend A resume(resumption k, V... value) {
    slot<A> answer;
    frame_of(k.base_).parent = std::noop_coroutine();
    frame_of(k.base_).to = &answer;
    k.waiting_->value.emplace(std::move(value)...);
    std::exchange(k.leaf_, {}).resume();
    return answer.take();
  }

  std::coroutine_handle<> leaf() const { return leaf_; }  // for exercise 4
  std::coroutine_handle<> base() const { return base_; }

 private:
  std::coroutine_handle<> leaf_;
  slot<R>* waiting_;
  std::coroutine_handle<> base_;
};

template <class H, class A, class O>
struct clause_of : clause<O> {  // on(operation, resumption)
  using R = typename O::result;
  clause_of(H& h, prompt& p) : handler(h), here(p) {}
  std::coroutine_handle<> answer(O o, std::coroutine_handle<> leaf, slot<R>& waiting) final {
    H& h = handler;
    auto const base = here.base;  // `here`, and this clause, may be destroyed by h.on()
    auto const waiter = frame_of(base).parent;
    auto& to = *static_cast<slot<A>*>(frame_of(base).to);
    fill(to, [&] { return h.on(std::move(o), resumption<R, A>(leaf, waiting, base)); });
    return waiter;  // which gets the answer of the clause
  }
  H& handler;
  prompt& here;
};

struct yield : op<void> {};
struct spawn : op<void> {
  explicit spawn(eff<void> p) : process(std::move(p)) {}
  eff<void> process;
};

/// A continuation with its answer.
template <class R, class... V>
eff<void> box(resumption<R, void> k, V... answer) {
  resume(std::move(k), std::move(answer)...);
  co_return;
}

class scheduler {
 public:
  void on(yield, resumption<void, void> k) { put(box(std::move(k))); }
  void on(spawn s) { put(handle<yield, spawn>(*this, std::move(s.process))); }

  void put(eff<void> next) { ready_.push_back(std::move(next)); }
  void run_all() {
    while (!ready_.empty()) {
      eff<void> next = std::move(ready_.front());
      ready_.pop_front();
      run(std::move(next));
    }
  }

 private:
  std::deque<eff<void>> ready_;
};

}  // namespace small_weft
