// SPDX-License-Identifier: MIT
#include "tests/durable/stores.hpp"

namespace {
using stores_under_test = weft::tests::all_stores;
}

#include "tests/durable/store_laws_of_statuses.hpp"
