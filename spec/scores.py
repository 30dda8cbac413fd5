# SPDX-License-Identifier: Apache-2.0
"""The payloads of score arrays."""
import math
import struct
from collections import namedtuple

from drum import ascends, demand
from container import up

SCORERS = {1: 'page_rank', 2: 'hits_authority', 3: 'hits_hub', 4: 'opic_cash', 5: 'opic_history',
           6: 'opic_crawls'}
SUBJECTS = {1: 'page', 2: 'host', 3: 'domain'}
CODECS = {1: 'f', 2: 'd'}
PAGES_MAX, ITERATIONS_MAX, GENERATION_MAX = 1 << 40, 65536, (1 << 62) - 2

Footer = namedtuple('Footer', 'entry_count page_count link_count superstep_count generation '
                    'time_us damping precision residual sum iteration_count scorer subject codec '
                    'flags reserved magic')
# scorer: a name, or the number of a private one; first_pages: empty by page
ScoreArray = namedtuple('ScoreArray', 'footer scorer subject values first_pages residuals')


def is_score(number):
    return math.isfinite(number) and math.copysign(1, number) == 1


def parse_score_footer(payload):
    demand(len(payload) % 8 == 0 and len(payload) >= 104, 'Score arrays rule 1: length')
    footer = Footer(*struct.unpack_from('<QQQQQqddddIHHHHI8s', payload, len(payload) - 104))
    demand(footer.magic == b'CSCORES1' and footer.codec in CODECS and footer.reserved == 0,
           'Score arrays rule 1')
    demand((footer.scorer in SCORERS or footer.scorer >= 32768) and
           footer.subject in SUBJECTS and footer.flags <= 3, 'Score arrays rule 2')
    demand(footer.page_count <= PAGES_MAX and (footer.page_count or not footer.link_count) and
           footer.entry_count <= footer.page_count and
           (footer.subject != 1 or footer.entry_count == footer.page_count),
           'Score arrays rule 3')
    demand(footer.iteration_count <= ITERATIONS_MAX, 'Score arrays rule 4')
    demand(1 <= footer.generation <= GENERATION_MAX, 'Score arrays rule 6')
    demand(all(map(is_score, (footer.damping, footer.precision, footer.residual, footer.sum))) and
           footer.damping <= 1, 'Score arrays rule 7')
    return footer


def parse_score_array(payload, record_count=None):
    footer = parse_score_footer(payload)
    code, n = CODECS[footer.codec], footer.entry_count
    values_end = n * struct.calcsize(code)
    pages_at = up(values_end, 8)
    residuals_at = pages_at + (0 if footer.subject == 1 else 8 * n)
    demand(residuals_at + 8 * footer.iteration_count == len(payload) - 104, 'Score arrays rule 5')
    values = struct.unpack_from('<%d%s' % (n, code), payload)
    demand(all(map(is_score, values)), 'Score arrays rule 8')
    demand(not any(payload[values_end:pages_at]), 'Score arrays rule 9')
    pages = struct.unpack_from('<%dQ' % ((residuals_at - pages_at) // 8), payload, pages_at)
    demand(ascends(pages) and all(page < footer.page_count for page in pages),
           'Score arrays rule 10')
    residuals = struct.unpack_from('<%dd' % footer.iteration_count, payload, residuals_at)
    demand(all(map(is_score, residuals)) and
           footer.residual == (residuals[-1] if residuals else 0), 'Score arrays rule 11')
    total = 0.0
    for value in values:                        # sum() rounds otherwise since Python 3.12
        total += value
    demand(footer.sum == total, 'Score arrays rule 12')
    demand(record_count in (None, n), 'Segments rule 1: record_count')
    return ScoreArray(footer, SCORERS.get(footer.scorer, footer.scorer), SUBJECTS[footer.subject],
                      values, pages, residuals)


def check_score_array(array, pages, generation):
    """Against the page database that owns it, in the directory of a generation."""
    footer = array.footer
    demand(footer.page_count <= pages.page_count and
           footer.superstep_count <= pages.superstep_count and footer.generation <= generation,
           'Score arrays rule 13')
