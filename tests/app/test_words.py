"""Refusals speak of the labels that a person sees."""

import pytest

from dgd.app.fields import Fields
from dgd.app.words import in_form_words
from support.refusals import refused


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "train_end 2022-01-09 is not before validation_end 2022-01-03; go.",
            "“Last training day” 2022-01-09 is not before “Last validation day” 2022-01-03; go.",
        ),
        (
            'drop one, or say duplicates="sum" to have them added up.',
            "drop one, or say “Rows that repeat”: sum to have them added up.",
        ),
        ('say period="week".', "say “One row is one”: week."),
        ('per_day names "train_end"; go.', '“Most effort a day” names "train_end"; go.'),
        ("counts row 3, column train_end: 4 is odd.", "counts row 3, column train_end: 4 is odd."),
        ("no duplicates in a period.", "no duplicates in a period."),
    ],
)
def test_arguments_are_called_by_their_labels(said: str, shown: str) -> None:
    assert in_form_words(said) == shown


def test_fields_are_refused_by_their_labels() -> None:
    fields = Fields.of(b"horizon=soon&budget=nan&seeds=1,x&unit=7&behaviors=0&behaviors=9&empty=")
    with refused('Days ahead is "soon"', "give a whole number"):
        fields.whole("horizon", "Days ahead")
    with refused('Budget is "nan"', "give a number"):
        fields.number("budget", "Budget")
    with refused("Nothing is empty"):
        fields.number("empty", "Nothing")
    with refused('Seeds is "1,x"', "like 1,2,3"):
        fields.wholes("seeds", "Seeds")
    with refused('Unit is "7", which is not offered'):
        fields.one_of("unit", "Unit", ["a", "b"])
    with refused('Behaviours has "9"'):
        fields.some_of("behaviors", "Behaviours", ["a", "b"])


def test_what_was_not_sent_is_empty() -> None:
    fields = Fields.of(b"a=+1+&b=1&b=0")
    assert fields.text("nothing") == ""
    assert fields.optional_number("nothing", "Nothing") is None
    assert fields.one_of("nothing", "Nothing", ["a"]) is None
    assert fields.whole("a", "A") == 1
    assert fields.some_of("b", "B", ["x", "y", "z"]) == ["x", "y"]


def test_bytes_that_no_form_sends_are_refused() -> None:
    with refused("not what a form sends"):
        Fields.of(b"\xff\xfe")
    with refused("not what a form sends"):
        Fields.of(b"a=1&" * 6000)
