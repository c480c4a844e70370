"""How an estimate came about, for people who must decide whether to trust it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import polars as pl

from dgd.files import declared

ALIKE, TYPES = "alike", "types"
"""Everyone the same; people who differ."""


NUMBERS = (
    "dispersion", "information", "tolerance", "slope", "sensitivity", "sensitivity_error",
)  # fmt: skip
"""What a record always has numbers of."""


class StartMade(NamedTuple):
    """One search: where it began, where it ended, and what it says about substitution."""

    seed: int
    start: int
    steps: int
    behind: float
    """How far its log-likelihood lies below the best one's, in units of chance."""
    slope: float
    converged: bool
    elasticity: float
    """Own-price elasticity, the mean over products weighed by their sales."""
    to_outside: float
    """Diversion to buying nothing, the same mean."""


class CandidateMade(NamedTuple):
    """One description of people, and how it did on markets that were held out."""

    name: str
    parameters: int
    log_likelihood: float
    """Of all markets, below that of shares just as observed, in units of chance."""
    held_out: float | None
    """Divergence of held-out shares from the predicted ones, per opportunity."""


@dataclass(frozen=True)
class EstimationRecord:
    """Everything that an estimate rests on beside the counts."""

    chosen: str
    how: str
    """What decided between people who are alike and people who differ."""
    dispersion: float
    information: float
    tolerance: float
    slope: float
    """The largest entry of the slope where the estimate stands, per unit of information."""
    gain: float | None
    """What types gain on held-out clusters over everyone alike, in units of chance."""
    gain_error: float | None
    agree: bool
    """Whether starts that reach the same likelihood say the same about substitution."""
    first_stage_f: float | None
    sensitivity: float
    """Price sensitivity of people who are alike, in the user's units, whatever its sign."""
    sensitivity_error: float
    starts: tuple[StartMade, ...]
    candidates: tuple[CandidateMade, ...]

    @property
    def facts(self) -> dict[str, Any]:
        """Plain values, for a file."""
        found = asdict(self)
        found["starts"] = [start._asdict() for start in self.starts]
        found["candidates"] = [candidate._asdict() for candidate in self.candidates]
        return found

    @staticmethod
    def restored(facts: Mapping[str, Any]) -> "EstimationRecord":
        """The record of a file."""
        known = {field.name for field in fields(EstimationRecord)}
        if set(facts) != known:
            raise ValueError("the record of the estimation is not complete")
        numbers = {name: declared.number(facts, name) for name in NUMBERS}
        maybe = {
            name: None if facts[name] is None else declared.number(facts, name)
            for name in ("gain", "gain_error", "first_stage_f")
        }
        if not isinstance(facts["how"], str):
            raise TypeError("how is not a text")
        return EstimationRecord(
            chosen=declared.choice(facts, "chosen", (ALIKE, TYPES)),
            how=facts["how"],
            agree=declared.choice(facts, "agree", (True, False)),
            gain=maybe["gain"],
            gain_error=maybe["gain_error"],
            first_stage_f=maybe["first_stage_f"],
            **numbers,
            starts=tuple(_restored(StartMade, one) for one in facts["starts"]),
            candidates=tuple(_restored(CandidateMade, one) for one in facts["candidates"]),
        )

    def sentences(self, ended: str) -> tuple[str, ...]:
        """What was decided, whether the search converged, and whether starts agree."""
        people = "everyone is alike" if self.chosen == ALIKE else "people differ"
        said = [f"people: {people} ({self.how}{self._gained})", self.convergence(ended)]
        if len(self.starts) > 1:
            agree = "agree" if self.agree else "DISAGREE"
            said.append(f"starts: those that are as likely as the best {agree} on substitution")
        if self.candidates:
            said.append(
                f"dispersion: {self.dispersion:.3g} times that of chance; information: "
                f"{self.information:.4g} choices' worth"
            )
        if self.first_stage_f is not None:
            said.append(f"first stage: F of the instruments is {self.first_stage_f:.1f}")
        return tuple(said)

    def convergence(self, ended: str) -> str:
        """The one line that every summary has."""
        return f"search: {ended}; largest slope {self.slope:.1e}, tolerance {self.tolerance:.0e}"

    @property
    def _gained(self) -> str:
        if self.gain is None:
            return ""
        error = "" if self.gain_error is None else f" with standard error {self.gain_error:.3g}"
        return f"; types gain {self.gain:.3g}{error}"

    def starts_table(self) -> pl.DataFrame:
        """One row per search."""
        return pl.DataFrame(
            {
                "seed": [one.seed for one in self.starts],
                "start": [one.start for one in self.starts],
                "steps": [one.steps for one in self.starts],
                "behind the best": [one.behind for one in self.starts],
                "largest slope": [one.slope for one in self.starts],
                "converged": [one.converged for one in self.starts],
                "own elasticity": [one.elasticity for one in self.starts],
                "diversion to outside": [one.to_outside for one in self.starts],
            }
        )

    def candidates_table(self) -> pl.DataFrame:
        """One row per description of people."""
        return pl.DataFrame(
            {
                "people": [one.name for one in self.candidates],
                "parameters": [one.parameters for one in self.candidates],
                "log-likelihood": [one.log_likelihood for one in self.candidates],
                "held-out divergence": pl.Series(
                    [one.held_out for one in self.candidates], dtype=pl.Float64
                ),
                "chosen": [one.name == self.chosen for one in self.candidates],
            }
        )


def _restored(kind: Any, facts: Any) -> Any:
    """A row of the record, each of its values of the kind it must be."""
    if not isinstance(facts, dict) or set(facts) != set(kind._fields):
        raise ValueError(f"{kind.__name__} is not complete")
    for name, value in facts.items():
        if value is not None and not isinstance(value, (int, float, str)):
            raise TypeError(f"{name} of {kind.__name__} is neither a number nor a text")
    return kind(**facts)
