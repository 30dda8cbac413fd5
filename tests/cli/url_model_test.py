# SPDX-License-Identifier: Apache-2.0
"""The lists of URLs that tests of the command share are what those tests take them for."""

import random
import unittest

import url_inputs
from url_model import normalise


class UrlInputs(unittest.TestCase):
    def test_spellings_of_a_url_have_its_text(self):
        generator = random.Random(url_inputs.SEED)
        for url in (b"http://host7.test/page/7?q=1f", b"http://host0.test/page/50?q=\xff \xc3\xa9"):
            text = normalise(url)
            self.assertTrue(text[2])
            spellings = {url_inputs.spell(generator, url) for _ in range(2000)}
            # Nine ways, one of them with as many spellings as the dice give: 97 to 180 in all.
            self.assertGreater(len(spellings), 50)
            for spelling in spellings:
                self.assertEqual(normalise(spelling), text, spelling)

    def test_made_up_urls_are_of_their_pages_and_some_are_not_parsed(self):
        found = {normalise(url) for url in url_inputs.made_up(20_000, 500)}
        self.assertEqual((len(found), len([text for text in found if not text[2]])), (500, 10))

    def test_real_urls_normalise_to_what_stays(self):
        for url in url_inputs.real()[:5000]:
            text, host, parsed = normalise(url)
            self.assertEqual(normalise(text), (text, host, parsed), url)


if __name__ == "__main__":
    unittest.main()
