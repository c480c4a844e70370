"""From a raw log of visits to a decision: whom should next week's campaign address?

A chain has two shops and two kinds of customers. All it holds is a log: one row per
visit, with the time, the shop, the kind of customer, and whether they opened the
newsletter, clicked an offer and bought. Campaigns bring more people in, and people
who are reached often tire. There is money for one campaign week: new customers or
regular ones?

    python examples/campaign.py

The log here is drawn from a world with known truth, so that the answer can be
checked; put your own in `events` and `plan`. `campaign.sh` does the same in the shell.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

import dgd

BEHAVIORS = ["open", "click", "buy"]
SHOPS, CUSTOMERS = ["north", "south"], ["new", "regular"]
HISTORY, AHEAD = 112, 7
"""Days that were counted, and days to plan for."""
USUAL, CAMPAIGN = 1.0, 2.5
"""Effort on a usual day and on a day of a campaign."""


def world() -> dgd.World:
    """Where the log comes from; unknown to everything below.

    Of six seeds this one was picked because the two plans differ clearly in it.
    """
    return dgd.example_world(
        units=SHOPS, cohorts=CUSTOMERS, behaviors=BEHAVIORS, arrivals=40.0, seed=5
    )


def visits(seed: int = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One row per visit, and the effort spent on every day so far."""
    drawn = dgd.simulate(world(), HISTORY, seed)
    counts = drawn.panel.to_frame("pandas")
    events = counts.loc[counts.index.repeat(counts["count"])].drop(columns="count")
    rng = np.random.default_rng(seed)
    # Shops are open from 9 to 20 o'clock in Berlin; the till writes UTC.
    minute = rng.integers(9 * 60, 20 * 60, len(events))
    local = pd.to_datetime(events["date"]) + pd.to_timedelta(minute, "min")
    events["time"] = local.dt.tz_localize("Europe/Berlin").dt.tz_convert("UTC")
    events = events.rename(columns={"unit": "shop", "cohort": "customers"}).drop(columns="date")
    dates = pd.to_datetime(drawn.panel.dates)
    effort = pd.DataFrame({"date": dates, "effort": drawn.panel.effort[:, 0, 0]})
    return events.sort_values("time", ignore_index=True), effort.merge(
        pd.DataFrame({"cohort": CUSTOMERS}), how="cross"
    )


def plan(last: pd.Timestamp, customers: str) -> pd.DataFrame:
    """Effort for the week ahead with the campaign addressing one kind of customers."""
    days = pd.date_range(last + pd.Timedelta(days=1), periods=AHEAD)
    week = pd.DataFrame({"date": days}).merge(pd.DataFrame({"cohort": CUSTOMERS}), how="cross")
    week["effort"] = np.where(week["cohort"] == customers, CAMPAIGN, USUAL)
    return week


def counted(events: pd.DataFrame, effort: pd.DataFrame) -> dgd.Panel:
    """The log as counts of joint behaviours per day, shop and kind of customer."""
    clock = dgd.Clock("time", timezone="Europe/Berlin")
    counts = dgd.count_events(events, clock, unit="shop", cohort="customers", behaviors=BEHAVIORS)
    return dgd.Panel.from_counts(counts, behaviors=BEHAVIORS, effort=effort)


def compared(panel: dgd.Panel, model: dgd.DGD, seeds: list[int]) -> tuple[dgd.Fit, pd.DataFrame]:
    """The fitted model, and its errors on the last two weeks beside simple opponents'."""
    dates = panel.dates
    result = dgd.backtest(
        panel,
        {
            "dgd": model,
            "weekday mean": dgd.baselines.WeekdayHistory(),
            "last day": dgd.baselines.LastDayHistory(),
        },
        horizons=[1, 7],
        train_end=dates[-29],
        validation_end=dates[-15],
        seeds=seeds,
    )
    scores = result.to_frame("pandas")
    errors = scores[scores["metric"] == "behavior_count_mae"]
    fit = result.fits["dgd"]
    assert isinstance(fit, dgd.Fit)
    return fit, errors.pivot(index="model", columns="horizon", values="mean")


def expected(fit: dgd.Fit, plans: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Purchases expected of each kind of customers under every plan."""
    weeks = {}
    for name, effort in plans.items():
        ahead = fit.forecast(AHEAD, effort=effort).to_frame("pandas")
        weeks[f"campaign for {name} customers"] = ahead.groupby("cohort")["buy"].sum()
    table = pd.DataFrame(weeks).T
    table["all"] = table.sum(axis=1)
    return table


def true_purchases(customers: str, seed: int = 1) -> float:
    """Purchases of the week ahead as the world itself expects them, after the same history."""
    truth = world()
    effort = np.concatenate([truth.effort(HISTORY), np.full((AHEAD, 2, 2), USUAL)])
    effort[HISTORY:, :, CUSTOMERS.index(customers)] = CAMPAIGN
    drawn = dgd.simulate(truth, HISTORY + AHEAD, seed, effort)
    buys = drawn.patterns @ dgd.model.behavior_bits(len(BEHAVIORS))[:, BEHAVIORS.index("buy")]
    return float((drawn.arrivals * buys)[HISTORY:].sum())


def main() -> None:
    parser = argparse.ArgumentParser(description="Whom should next week's campaign address?")
    parser.add_argument("--epochs", type=int, default=dgd.Settings().epochs)
    parser.add_argument("--write", type=Path, help="only write the tables for campaign.sh here")
    given = parser.parse_args()
    events, effort = visits()
    last = effort["date"].max()
    plans = {customers: plan(last, customers) for customers in CUSTOMERS}
    if given.write is not None:
        given.write.mkdir(parents=True, exist_ok=True)
        events.to_csv(given.write / "visits.csv", index=False)
        effort.to_csv(given.write / "effort.csv", index=False)
        for customers, week in plans.items():
            week.to_csv(given.write / f"plan-{customers}.csv", index=False)
        return
    print(f"{len(events):,} visits, the first of them\n{events.head(3)}\n")
    panel = counted(events, effort)
    print(f"{panel}\n")
    fit, errors = compared(panel, dgd.DGD(epochs=given.epochs), seeds=[1, 2])
    print(f"Error of the day's behaviour counts, by days ahead\n{errors.round(2)}\n")
    purchases = expected(fit, plans)
    print(f"Purchases expected next week\n{purchases.round(1)}\n")
    best = purchases["all"].idxmax()
    print(f"Recommended: {best}.")
    truth = {customers: true_purchases(customers) for customers in CUSTOMERS}
    right = max(truth, key=lambda customers: truth[customers])
    shown = ", ".join(f"{customers} {bought:.0f}" for customers, bought in truth.items())
    print(f"In truth: {shown}; better for {right} customers.")


if __name__ == "__main__":
    main()
