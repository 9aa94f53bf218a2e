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
        each_backend = "#pragma once\n#define BACKENDS_TEST_CASE(NAME) TEST_CASE(NAME)\n"
        self.passes("tests/support/each_backend.hpp", each_backend)
        self.objects("tests/support/each_backend.hpp", "#pragma once\n#define TWICE(x) x x\n", "a macro")
        version = "#define WEFT_VERSION_MAJOR 0\n#define WEFT_VERSION 1\n"
        self.passes("effects/version.hpp", "#pragma once\n" + version)
        self.objects("effects/version.hpp", "#pragma once\n#define WEFT_VERSIONS 1\n", "a macro")
        self.objects("effects/x.cpp", "#define WEFT_VERSION 1\n", "a macro")

    def test_headers(self):
        self.objects("sched/x.hpp", "#pragma once\n" + "\n" * 400, "a header over 400 lines")
        self.passes("sched/x.hpp", "#pragma once\n" + "\n" * 298)
        rule = "the licence line comes first, then in a header #pragma once"
        self.objects("sched/x.hpp", "#include <x>\n", rule)
        self.assertEqual([r for _, r in lint.check("a.cpp", "int main() {}")], [rule])

    def test_includes(self):
        rule = "the library is included by its name"
        self.objects("tests/x.cpp", "#include " + '"sched/schedule.hpp"', rule)
        self.objects("docs/x.md", "#include " + "<io/io.hpp>", rule)
        self.passes("tests/x.cpp", "#include " + '"weft/sched/schedule.hpp"')
        self.passes("tests/x.cpp", "#include " + '"tests/support/dice.hpp"')

    def test_headers_of_the_system(self):
        rule = "a header of the system outside of io/ and effects/detail/platform.hpp"
        self.objects("sched/x.cpp", "#include <unistd.h>", rule)
        self.objects("deque/x.cpp", "# include <sys/mman.h>", rule)
        self.objects("effects/x.cpp", "#if __has_include(<pthread.h>)", rule)
        self.passes("io/x.cpp", "#include <sys/epoll.h>")
        self.passes("effects/detail/platform.cpp", "#include <unistd.h>")
        self.passes("tests/x.cpp", "#include <arpa/inet.h>")
        self.passes("sched/x.cpp", "#include <system_error>\n#include <weft/sched/schedule.hpp>")

    def test_statics(self):
        rule = "a static that changes, in a function"
        self.objects("sched/x.cpp", "int f() {\n  static thread_local int n = 0;\n}", rule)
        self.passes("sched/x.cpp", "int f() {\n  static constexpr int n = 0;\n}")
        self.passes("tests/x.cpp", "int f() {\n  static constinit int n = 0;\n}")

    def test_memory_orders(self):
        rule = "a memory order without its reason, or its partner"
        self.objects("deque/x.cpp", "a.load(std::memory_order_acquire);", rule)
        self.objects("deque/x.cpp", "// acquire: it must be\na.load(acquire);", rule)
        self.objects("deque/x.cpp", "// acquire: with [1]\nint x;\n\na.store(1, release);", rule)
        self.objects("deque/x.cpp", "// a hint\na.load(relaxed);", rule)
        self.passes("deque/x.cpp", "// acquire: pairs with [1]\na.load(acquire);")
        self.passes("deque/x.cpp", "a.load(acquire);  // acquire: with DEQUE-3")
        self.passes("deque/x.cpp", "// Relaxed: a hint.\na.load(relaxed);")
        self.passes("tests/x.cpp", "a.load(std::memory_order_acquire);")

    def test_predicates(self):
        rule = "is_, has_, was_, may_, can_ give a bool and change nothing"
        head = "#pragma once\nstruct x {\n"
        self.objects("sched/x.hpp", head + "  void is_done() noexcept;\n};", rule)
        self.objects("sched/x.hpp", head + "  bool has_room() { return ++n; }\n};", rule)
        self.objects("sched/x.hpp", head + "  int can_go() const;\n};", rule)
        self.passes("sched/x.hpp", head + "  bool has_room() const { return n != 0; }\n};")
        self.passes("sched/x.hpp", head + "  static bool may_go(int n);\n  bool b = is_done();\n};")
        self.passes("tests/x.hpp", head + "  void is_done();\n};")

    def test_slow_paths(self):
        rule = "a slow path is NAME_slow"
        self.objects("sched/x.cpp", "void put_rarely();", rule)
        self.objects("sched/x.cpp", "void go_elsewhere();", rule)
        self.passes("sched/x.cpp", "void put_slow();  // put_rarely")

    def test_subjects(self):
        rule = "a verb without a noun for its subject"
        self.objects("sched/x.cpp", "// Who waits is woken.", rule)
        self.objects("sched/x.cpp", "// A lock,\n// for whoever comes.", rule)
        self.objects("sched/x.cpp", "\n// What is rare is out of line.", rule)
        self.objects("tests/x.cpp", 'TEST_CASE("who waits is woken") {}', rule)
        self.objects("sched/x.cpp", 'throw error("weft: nobody who waits");', rule)
        self.objects("tools/x.sh", "# What runs is killed.", rule)
        self.objects("docs/x.md", "It is for who\nwaits.", rule)
        self.passes("sched/x.cpp", "// The process that waits is woken.")
        self.passes("sched/x.cpp", "// Who waits?  It says what it does.")
        self.passes("docs/x.md", "Programmers who test, `who` and\n\n```\nwho waits\n```")

    def test_pronouns(self):
        rule = "a process is `it`"
        self.objects("sched/x.cpp", "// The process ends; then he is destroyed.", rule)
        self.objects("sched/x.cpp", "// Wakes a thread, and his processes.", rule)
        self.passes("sched/x.cpp", "// Wakes the others, and this one.")

    def test_seeds(self):
        rule = "cite the chapter, not a seed"
        self.objects("sched/x.cpp", "// As in seed 002.", rule)
        self.passes("sched/x.cpp", "// A run is drawn from a seed.")

    def labels(self, *texts):
        return [what for _, _, what in lint.check_labels({f"sched/{i}.hpp": t for i, t in enumerate(texts)})]

    def test_labels(self):
        defined = "///   GATE-1  A gate is open or closed.\n"
        self.assertEqual(self.labels(defined, "// As GATE-1 says."), [])
        self.assertEqual(self.labels(defined, defined), ["GATE-1 is defined in sched/0.hpp already"])
        self.assertEqual(self.labels(defined, "// As GATE-2 says."), ["there is no GATE-2"])
        self.assertEqual(self.labels("///   G1  A gate.\n"), ["a label of one letter is not unique: WORD-1"])

    def test_cycles(self):
        def cycles(**includes):
            files = {f"{n}.hpp": "".join(f'#include "weft/{o}.hpp"\n' for o in others) for n, others in includes.items()}
            return [what for _, _, what in lint.check_cycles(files)]

        self.assertEqual(cycles(a="bc", b="c", c=""), [])
        self.assertEqual(cycles(a="b", b="c", c="b"), ["an include cycle: b.hpp -> c.hpp -> b.hpp"])
        self.assertEqual(cycles(a="a"), ["an include cycle: a.hpp -> a.hpp"])

    def test_services(self):
        def faults(text):
            files = {lint.SERVICES: "concept c = requires { s.next(); S::header; };", "sched/x.hpp": text}
            return [what for _, _, what in lint.check_services(files)]

        clause = "template <scheduling_services S> void on(S& s, op) { if (S::header) s.%s(); }"
        self.assertEqual(faults(clause % "next"), [])
        self.assertEqual(faults(clause % "template next<int>"), [])
        self.assertEqual(faults(clause % "run"), ["a clause uses `run`, which scheduling_services has not"])
        self.assertEqual(faults("template <class S> void end(S& s) { s.run(); }"), [])

    def test_machine_paths(self):
        self.objects("bench/x.cpp", 'f("/home' + '/someone/x");', "the path of a machine")
        self.passes("bench/x.cpp", 'f("a/home/x");')


if __name__ == "__main__":
    unittest.main()
