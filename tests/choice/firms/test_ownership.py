"""Who sets which price, before and after a merger."""

import numpy as np
import pytest

from dgd.choice.firms.ownership import buyers, merged, owned_by, owners_of, ownership
from support.random_choice import SIZES, make
from support.refusals import refused
from support.small_firms import OWNERS, captive_markets, firm_markets, small_firms


def test_one_firms_products_are_one_block_and_what_is_not_on_offer_is_in_none():
    markets = firm_markets()
    joint = ownership(owners_of(markets), markets.available)
    for m, label in enumerate(markets.markets):
        for j, k in np.ndindex(joint.shape[1:]):
            on_offer = markets.available[m, j] and markets.available[m, k]
            names = [markets.products[markets.product[m, slot]] for slot in (j, k)]
            same = OWNERS[names[0]] == OWNERS[names[1]]
            assert joint[m, j, k] == float(on_offer and same), (label, j, k)


@pytest.mark.parametrize(
    ("firms", "after"),
    [
        ({"blue": "red"}, {"red": "abc", "gray": "d"}),
        (["blue", "red"], {"blue": "abc", "gray": "d"}),
        ({"gray": "blue", "blue": "red"}, {"red": "abcd"}),
    ],
    ids=str,
)
def test_a_merger_hands_all_products_to_the_last_buyer(firms, after):
    markets = firm_markets()
    owners = merged(owners_of(markets), firms)
    for firm, products in after.items():
        own = owned_by(owners, [firm])
        found = {markets.products[at] for at in markets.product[own]}
        assert found == set(products)
    assert (owners.code[~markets.listed] == -1).all()
    assert buyers(firms) == [next(iter(after))]


@pytest.mark.parametrize(
    ("firms", "words"),
    [
        ({"pink": "red"}, ["'pink'", "'red', 'blue', 'gray'", "correct the label"]),
        ({"red": "pink", "lime": "red"}, ["'lime', 'pink'"]),
        (["red", "pink"], ["'pink'"]),
        ({"red": "blue", "blue": "red"}, ["bought by itself"]),
        ({"red": "red"}, ["'red' bought by itself"]),
        (["red"], ["no two firms", "who buys whom"]),
        ({}, ["no two firms"]),
        ("red", ['firms is the text "red"']),
        (["red", "blue", "red"], ['"red" twice']),
    ],
    ids=str,
)
def test_impossible_mergers_are_refused(firms, words):
    asked = small_firms()
    with refused(*words):
        asked.merger(firms)


def test_markets_without_firms_are_refused():
    with refused("whose products are whose", "firm=..."):
        small_firms(make(sizes=SIZES))


def test_a_seller_whom_nobody_can_avoid_is_refused():
    """Without an outside option and without rivals no price is too high."""
    lonely = captive_markets({**OWNERS, "d": "red"})
    with refused("market east", "firm red", "outside option"):
        small_firms(lonely).costs()
    firms = small_firms(captive_markets())
    costs = dict.fromkeys("abcd", 0.5)
    with refused("market north", "firm red"):
        firms.merger({"blue": "red"}, costs)
