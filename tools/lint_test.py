"""Each rule of lint.py objects to what it should, and to nothing else."""

import unittest

import lint

HEAD = "// SPDX-License-Identifier: MIT\n"


def rules(path, text):
    return [rule.split(":")[0] for _, rule in lint.check(path, HEAD + text)]


class Lint(unittest.TestCase):
    def objects(self, path, text, rule):
        self.assertEqual(rules(path, text), [rule], text)

    def passes(self, path, text):
        self.assertEqual(rules(path, text), [], text)

    def test_co_await_in_a_condition(self):
        rule = "co_await in a condition"
        self.objects("examples/x.cpp", "if (co_await f()) g();", rule)
        self.objects("examples/x.cpp", "while (a &&\n   (b || co_await f())) g();", rule)
        self.objects("examples/x.cpp", "switch (co_await f()) {}", rule)
        self.passes("examples/x.cpp", "if (b) co_await f();")
        self.passes("examples/x.cpp", "// if (co_await f()) ...")
        self.passes("examples/x.cpp", 'if (s == "co_await") f();')

    def test_co_await_in_an_assertion(self):
        rule = "co_await in an assertion"
        self.objects("tests/x.cpp", "REQUIRE(co_await f());", rule)
        self.objects("tests/x.cpp", "CHECK_FALSE(\n    co_await f());", rule)
        self.passes("tests/x.cpp", "auto x = co_await f();\nCHECK(x);")

    def test_clocks(self):
        rule = "a sleep or a clock in a test"
        self.objects("tests/x.cpp", "std::this_thread::sleep_for(1s);", rule)
        self.objects("tests/x.cpp", "auto t = std::chrono::steady_clock::now();", rule)
        self.objects("tests/x.cpp", "usleep(3);", rule)
        self.passes("bench/x.cpp", "auto t = std::chrono::steady_clock::now();")
        self.passes("tests/x.cpp", "// not sleep_for\nasleep(p);")

    def test_macros(self):
        self.objects("effects/x.cpp", "#define A 1", "a macro")
        self.objects("tests/x.cpp", "# define TWICE(x) x x", "a macro")
        self.passes("tests/x.cpp", "#define CATCH_CONFIG_MAIN")

    def test_headers(self):
        self.objects("sched/x.hpp", "#pragma once\n" + "\n" * 400, "a header over 400 lines")
        self.passes("sched/x.hpp", "#pragma once\n" + "\n" * 298)
        rule = "the licence line comes first, then in a header #pragma once"
        self.objects("sched/x.hpp", "#include <x>\n", rule)
        self.assertEqual([r for _, r in lint.check("a.cpp", "int main() {}")], [rule])

    def test_memory_orders(self):
        rule = "a memory order without its reason"
        self.objects("deque/x.cpp", "a.load(std::memory_order_acquire);", rule)
        self.objects("deque/x.cpp", "int x;\na.store(1, release);".replace("int", "\n" * 7), rule)
        self.passes("deque/x.cpp", "// acquire: pairs with [1]\na.load(acquire);")
        self.passes("tests/x.cpp", "a.load(std::memory_order_acquire);")

    def test_machine_paths(self):
        self.objects("bench/x.cpp", 'f("/home' + '/someone/x");', "the path of a machine")
        self.passes("bench/x.cpp", 'f("a/home/x");')


if __name__ == "__main__":
    unittest.main()
