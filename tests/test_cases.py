"""Covering designs leave no pair out."""

from itertools import combinations, product

import pytest
from cases import pairwise


@pytest.mark.parametrize("sizes", [(2, 2, 2), (3, 7, 2, 4), (21, 11, 4, 4)])
def test_every_two_values_occur_together(sizes):
    factors = [[(number, value) for value in range(size)] for number, size in enumerate(sizes)]
    cases = pairwise(*factors)
    for a, b in combinations(range(len(sizes)), 2):
        assert {(case[a], case[b]) for case in cases} == set(product(factors[a], factors[b]))
    largest, second = sorted(sizes)[:-3:-1]
    assert largest * second <= len(cases) <= 1.1 * largest * second
    assert cases == pairwise(*factors)
