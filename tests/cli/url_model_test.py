# SPDX-License-Identifier: Apache-2.0
"""The model of the tests agrees with the vectors of the spec."""

import unittest

import url_inputs
import url_model


class UrlModel(unittest.TestCase):
    def test_agrees_with_every_vector(self):
        vectors = url_inputs.vectors()
        self.assertGreater(len(vectors), 80)
        for url, normalised, parsed in vectors:
            self.assertEqual(url_model.normalise(url), (normalised, parsed), url)

    def test_normalising_twice_changes_nothing(self):
        for url in url_inputs.made_up(2000, 500) + url_inputs.real()[:5000]:
            text, parsed = url_model.normalise(url)
            self.assertEqual(url_model.normalise(text), (text, parsed), url)


if __name__ == "__main__":
    unittest.main()
