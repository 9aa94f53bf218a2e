// SPDX-License-Identifier: MIT
#include "weft/durable/codec.hpp"

#include "tests/prelude.hpp"

using durable::decode;
using durable::encode;

template <class T>
void require_the_same(T const& value) {
  CHECK(decode<T>(encode(value)) == value);
}

TEST_CASE("values are read back as they were stored") {
  require_the_same(true);
  require_the_same(std::numeric_limits<std::int64_t>::min());
  require_the_same(std::numeric_limits<std::uint64_t>::max());
  for (int shift = 0; shift != 64; ++shift)
    for (std::int64_t const near : {-1, 0, 1}) {
      require_the_same(static_cast<std::int64_t>((std::uint64_t{1} << shift)) / 2 + near);
      require_the_same(-(static_cast<std::int64_t>(std::uint64_t{1} << shift) / 2 + near));
      require_the_same((std::uint64_t{1} << shift) + static_cast<std::uint64_t>(near));
    }
  for (std::size_t n = 0; n != 300; ++n) require_the_same(std::string(n, 'a'));
  require_the_same(0.1);
  require_the_same(std::string("with \0 in it", 12));
  require_the_same(std::string(100'000, 'x'));
  require_the_same(std::optional<int>());
  require_the_same(std::vector<std::optional<std::string>>{"a", std::nullopt});
  require_the_same(std::map<std::string, std::set<int>>{{"a", {1, 2}}, {"b", {}}});
  require_the_same(std::tuple(1, std::string("b"), 2.5));
  require_the_same(std::array<std::pair<int, bool>, 2>{{{1, true}, {2, false}}});
}

struct line {
  std::string article{};
  int count = 0;
  std::chrono::milliseconds time{};
  std::variant<std::monostate, int, std::string> note{};
  MSGPACK_DEFINE(article, count, time, note)
  friend bool operator==(line const&, line const&) = default;
};

TEST_CASE("times, variants and structs are stored wherever they stand") {
  require_the_same(90s);
  require_the_same(std::vector<std::chrono::nanoseconds>{1ns, 2h});
  require_the_same(std::optional(instant(5s)));
  require_the_same(std::chrono::sys_seconds(5s));
  require_the_same(std::variant<int, std::string>("text"));
  require_the_same(std::variant<int, int>(std::in_place_index<1>, 7));
  require_the_same(std::vector<std::variant<std::monostate, std::chrono::hours>>{{}, 3h});
  require_the_same(std::vector{line{"nail", 3, 5ms, "steel"}, line{"screw", 4, 6ms, 7}, line{}});
}

/// `line` as it was.
struct old_line {
  std::string article{};
  int count = 0;
  MSGPACK_DEFINE(article, count)
};

TEST_CASE("a value that was stored before its struct grew is read") {
  auto const now = decode<line>(encode(old_line{"nail", 3}));
  CHECK(now == line{"nail", 3, 0ms, {}});
  CHECK(decode<old_line>(encode(line{"screw", 4, 5ms, {}})).count == 4);
}

/// Has bytes of another value in it, and reads them when it is read.
struct nested {
  std::vector<int> numbers{};
  template <class Packer>
  void msgpack_pack(Packer& to) const {
    to.pack(encode(numbers));
  }
  void msgpack_unpack(msgpack::object const& from) {
    numbers = decode<std::vector<int>>(from.as<std::string>());
  }
};

TEST_CASE("a value can be read while another one is") {
  auto const all = decode<std::vector<nested>>(encode(std::vector<nested>{{{1, 2}}, {{3}}}));
  REQUIRE(all.size() == 2);
  CHECK(all[0].numbers == std::vector<int>{1, 2});
  CHECK(all[1].numbers == std::vector<int>{3});
}

TEST_CASE("bytes of another type are refused, with its name") {
  CHECK_THROWS_WITH(decode<std::string>(encode(1)), Contains("string") && Contains("another type"));
  CHECK_THROWS_AS(decode<int>(encode(std::string("x"))), durable::not_readable);
  CHECK_THROWS_AS(decode<std::int8_t>(encode(1000)), durable::not_readable);
  CHECK_THROWS_AS(decode<line>(encode(7)), durable::not_readable);
  CHECK_THROWS_WITH(decode<line>(encode(7)), Contains("line"));
  using either = std::variant<int, std::string>;
  CHECK_THROWS_AS(decode<either>(encode(std::tuple(2, 1))), durable::not_readable);
}

TEST_CASE("bytes that are cut, or have more behind them, are refused") {
  std::string const bytes = encode(std::vector<std::string>{"a", "bcd"});
  for (std::size_t n = 0; n != bytes.size(); ++n)
    CHECK_THROWS_AS(decode<std::vector<std::string>>(bytes.substr(0, n)), durable::not_readable);
  CHECK_THROWS_AS(decode<std::vector<std::string>>(bytes + "x"), durable::not_readable);
}

TEST_CASE("bytes are readable without their type") {
  CHECK(durable::readable(encode(std::tuple(1, std::string("a \"b\""), true))) ==
        R"([1,"a \"b\"",true])");
  CHECK(durable::readable("no MessagePack") == R"("no MessagePack")");
}
