"""One label stands for one model, and every row says what it was made with."""

import polars as pl
import pytest

from dgd.datasets import Dataset
from dgd.paper.made_with import MadeWith
from dgd.paper.models import models_for
from dgd.paper.presets import LATE, paper_preset, preset_that_trains


class Short(Dataset):
    """Only what presets ask of a data set."""

    def __init__(self) -> None:
        object.__setattr__(self, "summary_retention", 0.5)


def test_a_label_that_stands_for_two_models_is_refused():
    made = MadeWith()
    made.keep("DGD", LATE, {"epochs": 1})
    made.keep("DGD", LATE, {"epochs": 1})
    made.keep("DGD", "Random", {"epochs": 2})
    with pytest.raises(ValueError, match="stands for two models"):
        made.keep("DGD", LATE, {"epochs": 2})


def test_a_table_gets_what_its_own_rows_were_made_with():
    made = MadeWith()
    made.keep("one", LATE, {"epochs": 1}, [{"seed": 3, "best_epoch": 1}])
    made.keep("two", LATE, {"epochs": 2})
    table = pl.DataFrame({"model": ["one", "one", "unknown"], "window": [LATE] * 3})
    (only,) = made.of(table)
    assert only["model"] == "one"
    assert only["settings"] == {"epochs": 1}
    assert only["training"] == [{"seed": 3, "best_epoch": 1}]


def test_changed_settings_of_the_preset_are_in_its_name():
    preset = paper_preset(LATE, Short(), calendar="auto", start="training")
    assert preset.named("DGD") == "DGD, paper preset, calendar auto, start training"
    model = preset.model(population="fixed")
    assert (model.calendar, model.start, model.population) == ("auto", "training", "fixed")
    assert model.epochs == 300


def test_the_preset_keeps_its_weekdays_but_where_the_window_cannot_teach_them():
    for window in ("Standard", "Random", "Retail 2010", "Retail 2011"):
        assert preset_that_trains(window, Short()).model().calendar == "weekday"
    assert preset_that_trains(LATE, Short()).model().calendar == "auto"


@pytest.mark.parametrize("window", ["Standard", "Random", LATE])
def test_the_grus_read_the_calendar_that_the_preset_reads(window: str):
    calendar = preset_that_trains(window, Short()).model().calendar
    grus = {name: model for name, model in models_for(window, Short()).items() if "GRU" in name}
    assert len(grus) == 2
    for name, model in grus.items():
        assert name.endswith(f"calendar {calendar}")
        assert model.calendar == calendar
