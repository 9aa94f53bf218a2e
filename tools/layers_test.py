"""layers.py objects to what a test includes without a dependency, and to internals."""

import unittest
import xml.etree.ElementTree as ElementTree

import layers

QUERY = """
<query>
  <rule class="cc_library" name="//deque:deque">
    <list name="hdrs"><label value="//deque:deque.hpp"/></list>
    <list name="srcs"><label value="//deque:detail/node.hpp"/></list>
  </rule>
  <rule class="cc_library" name="//sched:schedule">
    <list name="hdrs"><label value="//sched:schedule.hpp"/></list>
    <list name="textual_hdrs"><label value="//sched/mail:public_headers"/></list>
    <list name="deps"><label value="//deque:deque"/></list>
  </rule>
  <rule class="filegroup" name="//sched/mail:public_headers">
    <list name="srcs"><label value="//sched/mail:mail.hpp"/></list>
  </rule>
  <rule class="cc_test" name="//tests:a_test">
    <list name="srcs"><label value="//tests:a_test.cpp"/><label value="//tests:a.hpp"/></list>
    <list name="deps"><label value="//sched:schedule"/></list>
  </rule>
  <rule class="genrule" name="//tests:b_test_source">
    <list name="srcs"><label value="//tests:a_test.cpp"/></list>
    <rule-output name="//tests:merged/b_test.cpp"/>
  </rule>
  <rule class="_precompiled_header" name="//tests:prelude">
    <label name="src" value="//tests:prelude.hpp"/>
  </rule>
  <rule class="cc_test" name="//tests:b_test">
    <list name="srcs"><label value="//tests:merged/b_test.cpp"/></list>
    <list name="deps"><label value="//sched:schedule"/><label value="//tests:prelude"/></list>
  </rule>
  <rule class="cc_binary" name="//examples:a">
    <list name="srcs"><label value="//tests:a_test.cpp"/><label value="//tests:a.hpp"/></list>
    <list name="deps"><label value="//sched:schedule"/></list>
  </rule>
</query>
"""


def violations(text):
    return list(layers.violations(ElementTree.fromstring(QUERY), lambda _: text))


class Layers(unittest.TestCase):
    def test_what_is_offered_or_its_own(self):
        self.assertEqual(
            violations('#include <vector>\n#include "weft/sched/schedule.hpp"\n'), []
        )
        own = violations('#include "tests/a.hpp"\n')
        self.assertEqual([line.partition(": ")[0] for line in own], ["//tests:b_test"])
        prelude = violations('#include "tests/prelude.hpp"\n')
        self.assertEqual({line.partition(": ")[0] for line in prelude}, {"//examples:a", "//tests:a_test"})
        self.assertEqual(violations('#include "weft/sched/mail/mail.hpp"\n'), [])
        self.assertTrue(violations('#include <weft/sched/mail/ports.hpp>\n'))

    def test_what_is_offered_to_others(self):
        found = violations('#include "weft/deque/deque.hpp"')
        self.assertEqual({line.partition(": ")[0] for line in found}, {"//examples:a", "//tests:a_test", "//tests:b_test"})
        self.assertIn("none of its dependencies offers", found[0])

    def test_internals(self):
        self.assertIn("it is no library's", violations('#include "weft/deque/detail/node.hpp"')[0])


if __name__ == "__main__":
    unittest.main()
