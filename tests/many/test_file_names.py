"""Names of panels as files: safe, readable where possible, and never the same for two."""

import os

from hypothesis import given
from hypothesis import strategies as st

from dgd.many.file_names import SAFE, file_names


def test_plain_names_stay_as_they_are() -> None:
    assert file_names(["DE", "shop.1", "a_b-c"]) == {
        "DE": "DE.dgd",
        "shop.1": "shop.1.dgd",
        "a_b-c": "a_b-c.dgd",
    }


def test_names_that_no_file_can_have_carry_a_digest() -> None:
    for name, start in {
        "São Tomé": "Sao-Tome-",
        "../etc/passwd": "etc-passwd-",
        ".hidden": "hidden-",
        "nul": "nul-",
        "日本": "",
        "a" * 300: "a" * 40 + "-",
    }.items():
        (file,) = file_names([name]).values()
        assert file.startswith(start)
        assert SAFE.fullmatch(file)
        assert os.path.basename(file) == file


def test_names_that_a_file_system_may_not_tell_apart_get_files_of_their_own() -> None:
    files = file_names(["de", "DE", "fr"])
    assert len({file.casefold() for file in files.values()}) == 3
    assert files["fr"] == "fr.dgd"


@given(
    st.lists(
        st.text(
            "aA1.-_/ \N{LATIN SMALL LETTER E WITH ACUTE}\N{CJK UNIFIED IDEOGRAPH-65E5}", min_size=1
        ),
        unique=True,
        max_size=8,
    )
)
def test_files_differ_whatever_the_names(names: list[str]) -> None:
    files = file_names(names)
    assert len({file.casefold() for file in files.values()}) == len(names)
    assert all(SAFE.fullmatch(file) and len(file) < 100 for file in files.values())
