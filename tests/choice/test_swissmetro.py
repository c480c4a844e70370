"""Single choices of people, some of which had no car: the plain logit is xlogit's."""

import pytest

from choice_data import swissmetro, swissmetro_file
from choice_swissmetro import NAMES, by_dgd, by_xlogit


@pytest.mark.filterwarnings("ignore:price .* is far from its usual")
def test_the_plain_logit_of_swissmetro_is_xlogits() -> None:
    pytest.importorskip("xlogit", reason="xlogit is not installed")
    file = swissmetro_file()
    if file is None:
        pytest.skip("the Swissmetro data are not there: pip install --no-deps biogeme")
    table = swissmetro(file)
    ours, theirs = by_dgd(table), by_xlogit(table)
    assert ours["log-likelihood"] == pytest.approx(theirs["log-likelihood"], abs=1e-4)
    assert [ours[name] for name in NAMES] == pytest.approx([theirs[n] for n in NAMES], abs=1e-4)
