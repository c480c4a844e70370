"""Everything dgd can tell about the numbers of a fit of demand, in one call."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from dgd.choice.fit import ChoiceFit
from dgd.choice.settings import EARLY_STOPPING, FEEDBACK
from dgd.diagnostics.demand_data import examined_columns, examined_elasticities, examined_prices
from dgd.diagnostics.demand_nodes import examined_nodes, node_words, substitution_at
from dgd.diagnostics.demand_record import examined_record
from dgd.diagnostics.examined import CARE, SUMMARY, Care, Examined
from dgd.tables.html import html_summary
from dgd.tables.plain_numbers import listed

CHECKS = "Every check"


@dataclass(frozen=True, repr=False)
class ChoiceCheckup:
    """What was checked of a fit of demand, as tables under the titles a report gives them."""

    nodes: str
    """Whether the nodes are enough, in a sentence."""
    parts: tuple[Examined, ...]
    method: tuple[Care, ...] = ()
    """What the method of the fit cannot say at all."""

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Everything that was looked at, by its title."""
        return {part.title: part.table for part in self.parts if part.table.height}

    @property
    def warnings(self) -> pl.DataFrame:
        """One row per warning: what it is, where it applies, what was found, and what to do."""
        rows = [*self.method, *(one for part in self.parts for one in part.care)]
        return pl.DataFrame(rows, schema=CARE, orient="row")

    @property
    def holds(self) -> bool:
        """Whether no figure is beyond its bound."""
        return not self._beyond

    @property
    def verdict(self) -> str:
        """What follows, in two sentences."""
        beyond, judged = self._beyond, self.summary()["holds"].drop_nulls()
        if not beyond:
            return f"{self.nodes} All {len(judged)} checks hold."
        number = f"Of {len(judged)} checks {len(beyond)} {'do' if len(beyond) > 1 else 'does'}"
        return f"{self.nodes} {number} not hold: {listed(beyond)}."

    def summary(self) -> pl.DataFrame:
        """One row per check: the figure found, what it is held against, and whether it holds."""
        rows = [one for part in self.parts for one in part.held]
        return pl.DataFrame(rows, schema=SUMMARY, orient="row")

    def payload(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "verdict": self.verdict,
            "holds": self.holds,
            "summary": self.summary().to_dicts(),
            "tables": {title: table.to_dicts() for title, table in self.tables.items()},
            "warnings": self.warnings.to_dicts(),
        }

    @property
    def _beyond(self) -> list[str]:
        return self.summary().filter(~pl.col("holds"))["check"].to_list()

    def __repr__(self) -> str:
        return f"ChoiceCheckup({self.verdict})"

    def _repr_html_(self) -> str:
        care = {"Read with care": self.warnings} if self.warnings.height else {}
        return html_summary("Checkup", [self.verdict], {CHECKS: self.summary(), **care})


def check_choice(fit: ChoiceFit) -> ChoiceCheckup:
    """Columns, prices, quadrature, elasticities, types, starts, instruments and scatter.

    Nothing is fitted again.
    """
    own = substitution_at(fit, fit.parameters)
    nodes = examined_nodes(fit, own)
    parts = [
        examined_columns(fit),
        examined_prices(fit),
        *([] if nodes is None else [nodes]),
        examined_elasticities(fit, own),
        *examined_record(fit),
    ]
    return ChoiceCheckup(node_words(fit, nodes), tuple(parts), _of_method(fit))


def _of_method(fit: ChoiceFit) -> tuple[Care, ...]:
    """What a fit without a record of its estimation cannot say."""
    if fit.record is not None:
        return ()
    settings = fit.settings
    by = (
        f'dynamics="{FEEDBACK}"' if settings.dynamics == FEEDBACK else f'method="{settings.method}"'
    )
    instead = "dynamics" if settings.dynamics == FEEDBACK else EARLY_STOPPING
    care = Care(
        "no convergence and no standard errors",
        f"the fit was made with {by}, which has neither",
        None,
        f"compare seeds, or fit without {instead} for both",
    )
    if not fit.diverged:
        return (care,)
    seeds = listed([str(seed) for seed in fit.diverged])
    advice = "lower learning_rate, or fit with other seeds"
    return care, Care("training diverged", f"seeds {seeds}", float(len(fit.diverged)), advice)
