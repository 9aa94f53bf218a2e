// SPDX-License-Identifier: MIT
#include "weft/durable/detail/command.hpp"

#include <tuple>
#include <utility>

#include "weft/durable/codec.hpp"

namespace weft::durable {

namespace {

// The members of each struct that are stored, in this order.  New ones come at the end.
auto fields(auto& e)
  requires requires { e.operation; }
{
  return std::tie(e.operation, e.answer);
}
auto fields(auto& m)
  requires requires { m.to; }
{
  return std::tie(m.to, m.type, m.data);
}
auto fields(auto& s)
  requires requires { s.arguments; }
{
  return std::tie(s.id, s.function, s.version, s.arguments, s.parent);
}
auto fields(auto& s)
  requires requires { s.known; }
{
  return std::tie(s.now, s.wake, s.known, s.result);
}
auto fields(auto& p)
  requires requires { p.received; }
{
  return std::tie(p.process, p.id, p.run, p.first, p.entries, p.received, p.sent, p.started,
                  p.status, p.published, p.continued);
}

template <class T>
concept with_fields = requires(T& t) { fields(t); };

using packer = msgpack::packer<msgpack::sbuffer>;

template <class T>
void write(packer& to, std::vector<T> const& all);
template <class T>
void write(packer& to, std::optional<T> const& value);
template <class T>
void write(packer& to, T const& value) {
  if constexpr (std::is_enum_v<T>) {
    to.pack(static_cast<unsigned>(value));
  } else if constexpr (with_fields<T const>) {
    auto const all = fields(value);
    to.pack_array(static_cast<std::uint32_t>(std::tuple_size_v<decltype(all)>));
    std::apply([&](auto const&... each) { (write(to, each), ...); }, all);
  } else {
    to.pack(value);
  }
}
template <class T>
void write(packer& to, std::vector<T> const& all) {
  to.pack_array(static_cast<std::uint32_t>(all.size()));
  for (auto const& each : all) write(to, each);
}
template <class T>
void write(packer& to, std::optional<T> const& value) {
  if (value)
    write(to, *value);
  else
    to.pack_nil();
}

template <class T>
void read(msgpack::object const& from, T& value);
template <class T>
void read(msgpack::object const& from, std::vector<T>& all);
template <class T>
void read(msgpack::object const& from, std::optional<T>& value);

template <class T>
void read(msgpack::object const& from, std::vector<T>& all) {
  if (from.type != msgpack::type::ARRAY) throw msgpack::type_error();
  all.resize(from.via.array.size);
  for (std::size_t i = 0; i != all.size(); ++i) read(from.via.array.ptr[i], all[i]);
}
template <class T>
void read(msgpack::object const& from, std::optional<T>& value) {
  if (!from.is_nil()) read(from, value.emplace());
}
template <class... Ts>
void read_all(msgpack::object const& from, std::size_t first, Ts&... values) {
  if (from.type != msgpack::type::ARRAY || from.via.array.size < first + sizeof...(values))
    throw msgpack::type_error();
  std::size_t i = first;
  (read(from.via.array.ptr[i++], values), ...);
}
template <class T>
void read(msgpack::object const& from, T& value) {
  if constexpr (std::is_enum_v<T>)
    value = static_cast<T>(from.as<unsigned char>());
  else if constexpr (with_fields<T>)
    std::apply([&](auto&... each) { read_all(from, 0, each...); }, fields(value));
  else
    from.convert(value);
}

std::string text_of(msgpack::sbuffer const& bytes) { return {bytes.data(), bytes.size()}; }

constexpr unsigned entry_format = 1;

}  // namespace

namespace detail {

std::string encode_commit(std::span<commit_part* const> parts) {
  msgpack::sbuffer bytes(64 + 64 * parts.size());
  packer to(bytes);
  to.pack_array(2);
  write(to, command::kind::commit);
  to.pack_array(static_cast<std::uint32_t>(parts.size()));
  for (auto const* const p : parts) write(to, *p);
  return text_of(bytes);
}

std::string encode_command(command const& c) {
  msgpack::sbuffer bytes(64);
  packer to(bytes);
  auto const put = [&](auto const&... values) {
    to.pack_array(1 + sizeof...(values));
    write(to, c.what);
    (write(to, values), ...);
  };
  switch (c.what) {
    case command::kind::commit:
      put(c.parts);
      break;
    case command::kind::start:
      put(c.process);
      break;
    case command::kind::send:
      put(c.message, c.once_key);
      break;
    case command::kind::release:
      put(c.key);
      break;
    case command::kind::wake:
      put(c.now, c.limit);
      break;
    case command::kind::claim:
      put(c.name, c.limit);
      break;
    case command::kind::beat:
      put(c.name);
      break;
    case command::kind::disown:
      put(c.keys);
      break;
    case command::kind::leave:
      put();
      break;
    case command::kind::expire:
      put(c.name, c.heard);
      break;
  }
  return text_of(bytes);
}

command decode_command(std::string_view bytes) {
  command c;
  try {
    reading memory;
    msgpack::object const from = memory.value(bytes);
    read_all(from, 0, c.what);
    switch (c.what) {
      case command::kind::commit:
        read_all(from, 1, c.parts);
        return c;
      case command::kind::start:
        read_all(from, 1, c.process);
        return c;
      case command::kind::send:
        read_all(from, 1, c.message, c.once_key);
        return c;
      case command::kind::release:
        read_all(from, 1, c.key);
        return c;
      case command::kind::wake:
        read_all(from, 1, c.now, c.limit);
        return c;
      case command::kind::claim:
        read_all(from, 1, c.name, c.limit);
        return c;
      case command::kind::beat:
        read_all(from, 1, c.name);
        return c;
      case command::kind::disown:
        read_all(from, 1, c.keys);
        return c;
      case command::kind::leave:
        return c;
      case command::kind::expire:
        read_all(from, 1, c.name, c.heard);
        return c;
    }
  } catch (msgpack::type_error const&) {
  } catch (msgpack::unpack_error const&) {
  }
  throw store_error(
      "weft: the log of a shared store has a command that this version of weft does not know: "
      "let all workers run the newest one");
}

std::string encode_envelope(envelope const& e) {
  msgpack::sbuffer bytes(64 + e.body.size());
  packer to(bytes);
  to.pack_array(6);
  to.pack(entry_format).pack(e.writer).pack(e.number).pack(e.piece).pack(e.pieces).pack(e.body);
  return text_of(bytes);
}

envelope decode_envelope(std::string_view bytes) {
  try {
    reading memory;
    msgpack::object const from = memory.value(bytes);
    unsigned f = 0;
    envelope e;
    read_all(from, 0, f, e.writer, e.number, e.piece, e.pieces, e.body);
    if (f == entry_format) return e;
  } catch (msgpack::type_error const&) {
  } catch (msgpack::unpack_error const&) {
  }
  throw store_error(
      "weft: the log of a shared store has an entry that this version of weft does not know: it is "
      "that of another program, or of a newer version");
}

}  // namespace detail
}  // namespace weft::durable
