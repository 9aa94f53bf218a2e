// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "weft/effects/detail/internal.hpp"
#include "weft/effects/detail/row_set.hpp"
#include "weft/effects/eff.hpp"
#include "weft/effects/errors.hpp"
#include "weft/effects/handle.hpp"
#include "weft/effects/memory/frame_pool.hpp"
#include "weft/effects/ready/emit.hpp"
#include "weft/effects/region.hpp"
#include "weft/effects/resumption.hpp"

namespace weft {

template <class T>
class emitted;

namespace detail {

/// The handler of the computation, and the state that a range and its iterators share.  An emission
/// counts its owners, the range and the iterators: the last of them deletes the emission.
///
///   EACH-1  Either there are both a value and the continuation of the computation; or there is
///       neither, because the computation has not begun, is running, or is over.
///   EACH-2  The continuation is destroyed before the value, and both before the region ends.  So
///       there is nothing left for the region to unwind.
template <class T>
class emission : public region, public handler<emit<T>>, public pooled {
 public:
  emission() noexcept { this->allow_dropping(); }

  void keep() noexcept { ++owners_; }
  void release() noexcept {
    if (--owners_ == 0) delete this;
  }

  /// Runs the computation up to its first value; does nothing if it was called before.
  void begin() {
    if (!std::exchange(has_begun_, true)) start();
  }
  /// Runs the computation up to its next value.
  void next() {
    if (!value_) throw_nothing();
    value_.reset();
    resume(std::move(rest_));
  }
  [[nodiscard]] T& value() {
    if (!value_) throw_nothing();
    return *value_;
  }
  [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }

  void on(typename emit<T>::value v, resumption<void> k) {
    value_.emplace(std::move(v.it));
    rest_ = std::move(k);
  }

 protected:
  virtual ~emission() = default;

 private:
  virtual void start() = 0;
  [[noreturn, gnu::cold, gnu::noinline]] static void throw_nothing() { throw nothing_emitted(); }

  std::size_t owners_ = 0;
  bool has_begun_ = false;
  std::optional<T> value_;  // empty if and only if rest_ is empty (EACH-1)
  resumption<void> rest_;
};

/// A function and its arguments, called once.
template <class F, class... Args>
class call_once {
 public:
  template <class... As>
  explicit call_once(F f, As&&... args) : f_(std::move(f)), args_(std::forward<As>(args)...) {}

  auto operator()() { return std::apply(f_, std::move(args_)); }

 private:
  [[no_unique_address]] F f_;
  std::tuple<Args...> args_;
};

/// The emission whose computation is the result of a `Body`, called once.  Its start() moves the
/// `Body`, with the arguments, into the prompt; the prompt keeps the `Body` as long as there are
/// frames.
template <class T, class Body>
class emission_of final : public emission<T> {
 public:
  explicit emission_of(Body body) : body_(std::move(body)) {}

 private:
  void start() override {
    emission<T>& us = *this;  // messages name the handler by this type
    run(handle(us, *std::exchange(body_, std::nullopt)));
  }

  std::optional<Body> body_;
};

/// `type`: the type of the values that a computation with the row `Row` emits.
template <class Row>
struct emitted_by {
  static constexpr bool only_emits = false;
  using type = anything;
};
template <class T>
struct emitted_by<row<emit<T>>> {
  static constexpr bool only_emits = true;
  using type = T;
};

}  // namespace detail

/// The values that a computation emits, as a range: `each(f, args...)`.
///
/// An input range, and a view of the standard library: pipe it into std::views, and with
/// effects/ready/each_range_v3.hpp into ranges::views.  Copies and iterators are handles of one
/// stream: to advance one of them advances all.  When the last handle is destroyed, the suspended
/// frames are unwound, the innermost first.  Used by one thread at a time.  A copy is O(1), and so
/// is a step of an iterator, which allocates nothing of its own.
template <class T>
class emitted {
  using stream = detail::emission<T>;

 public:
  class iterator;

  /// Makes an empty range.
  emitted() = default;
  emitted(detail::internal, stream& s) noexcept : stream_(&s) { s.keep(); }
  emitted(emitted const& other) noexcept : stream_(other.stream_) {
    if (stream_) stream_->keep();
  }
  emitted(emitted&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  emitted& operator=(emitted other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~emitted() {
    if (stream_) stream_->release();
  }

  /// An iterator at the current value of the stream.  The first call runs the computation up to its
  /// first value.  If the computation throws, so does begin(), and the stream is over.  The first
  /// call makes one allocation besides the frames, from a pool.
  [[nodiscard]] iterator begin() const {
    iterator const here(*this);  // the computation may destroy or assign *this
    if (here.of_.stream_) here.of_.stream_->begin();
    return here;
  }
  /// The end of the stream.
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

 private:
  stream* stream_ = nullptr;
};

/// An iterator, which is at the current value of the stream, or at the end.
template <class T>
class emitted<T>::iterator {
 public:
  using iterator_concept = std::input_iterator_tag;
  // counted_iterator of range-v3, which its view `take` uses, needs the next three.
  using iterator_category = std::input_iterator_tag;
  using reference = T&;
  using pointer = T*;
  using value_type = T;
  using difference_type = std::ptrdiff_t;

  /// Makes an iterator at the end.
  iterator() = default;

  /// The value, which may be moved from.  It lives until the next ++ of any iterator.  Throws
  /// nothing_emitted at the end, and while the computation runs.
  [[nodiscard]] T& operator*() const { return stream_of().value(); }
  [[nodiscard]] T* operator->() const { return std::addressof(**this); }

  /// Runs the computation up to its next value or its end.  O(1), however deep the calls are
  /// nested.  If the computation throws, so does ++, and the iterator is then at the end.  Throws
  /// nothing_emitted at the end, and while the computation runs.
  iterator& operator++() {
    stream_of().next();
    return *this;
  }
  void operator++(int) { ++*this; }

  friend bool operator==(iterator const& i, std::default_sentinel_t) noexcept {
    return i.is_at_end();
  }

 private:
  friend emitted;
  explicit iterator(emitted const& of) noexcept : of_(of) {}
  [[nodiscard]] bool is_at_end() const noexcept {
    return !of_.stream_ || !of_.stream_->has_value();
  }
  [[nodiscard]] stream& stream_of() const {
    if (!of_.stream_) throw nothing_emitted();
    return *of_.stream_;
  }

  emitted of_;
};
}  // namespace weft

template <class T>
inline constexpr bool std::ranges::enable_view<weft::emitted<T>> = true;  // from <string_view>

namespace weft {

/// A lazy range of the values that the computation `f(args...)`, an eff<void, emit<T>>, emits:
///
///     for (int const n : each(squares, 9) | std::views::take(3)) std::cout << n << '\n';
///
/// Nothing runs before begin(), which runs the computation up to its first value; each ++ runs it
/// up to the next.  The computation may emit at any depth of calls: an element costs O(1) whatever
/// the depth, because the innermost frame is resumed directly, and no call passes the value on.
///
/// `f` and the arguments are copied or moved, and live as long as the frames.  So `f` may be a
/// capturing lambda, and arguments may be move-only.  For a reference pass std::ref; its referent
/// must outlive the range.  Two allocations and the frames, all from a pool.
///
/// When not to use it: where all values are wanted at once.  To push them into a handler with a
/// value clause costs one call for each, and no resumption.
template <class F, class... Args>
[[nodiscard]] auto each(F f, Args&&... args) {
  constexpr bool is_a_function = [] {
    if constexpr (detail::body_function<F, std::decay_t<Args>...>)
      return std::is_void_v<typename std::invoke_result_t<F&, std::decay_t<Args>...>::value_type>;
    else
      return false;
  }();
  static_assert(
      is_a_function,
      "weft: each takes a function that returns an eff<void, emit<T>>, and its arguments: "
      "not its result; a reference goes as std::ref(x)");
  if constexpr (!is_a_function) {
    return emitted<detail::anything>();
  } else {
    using by =
        detail::emitted_by<typename std::invoke_result_t<F&, std::decay_t<Args>...>::effects>;
    static_assert(by::only_emits,
                  "weft: the row of the function that each runs is one emit<T>: handle other "
                  "effects inside it, "
                  "or pull from a handler of your own");
    using T = typename by::type;
    if constexpr (!by::only_emits) {
      return emitted<T>();
    } else {
      using body = detail::call_once<F, std::decay_t<Args>...>;
      return emitted<T>(detail::internal(), *new detail::emission_of<T, body>(
                                                body(std::move(f), std::forward<Args>(args)...)));
    }
  }
}

}  // namespace weft
