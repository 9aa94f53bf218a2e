// SPDX-License-Identifier: MIT
// How durable processes store values: as MessagePack, which a tool can print.
#include <iostream>
#include <string>
#include <thread>

#include <weft/durable/codec.hpp>
using namespace weft;

struct line {
  std::string article;
  int count = 0;
  MSGPACK_DEFINE(article, count)
};
static_assert(durable::storable<line>);
static_assert(!durable::storable<std::thread>);

int main() {
  std::string const bytes = durable::encode(line{"tea", 2});
  std::cout << bytes.size() << " bytes: " << durable::readable(bytes) << '\n';
  line const l = durable::decode<line>(bytes);
  std::cout << l.count << ' ' << l.article << ", a " << durable::stored_name<line>() << '\n';
  try {
    std::cout << durable::decode<int>(bytes) << '\n';
  } catch (durable::not_readable const& e) {
    std::cout << e.what() << '\n';
  }
}
