"""The same equations in plain PyTorch, one day after another.

Written from the paper's formulas alone, the way a researcher would write them
first: a loop over days, all patterns enumerated, autograd for the rest. It
shares no code with dgd, so it is both the rival in `training.py` and the
outside check on dgd's loss and gradients.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np
import torch
from torch import Tensor


@dataclass
class Days:
    """Known inputs and recorded pattern counts, first axis the date."""

    calendar: Tensor
    summaries: Tensor
    size: Tensor
    effort: Tensor
    counts: Tensor  # date, unit, cohort, pattern; pattern number = sum of y_h 2^h


@dataclass
class Settings:
    nodes: int
    initial_scale: float
    scale_floor: float
    count_weight: float
    expected_weight: float
    penalty_weight: float
    dispersion: float


class TorchDGD(torch.nn.Module):
    """One-dimensional DGD; parameters are named as in dgd's `Crowd`.

    Its feedback carries memory (0), fatigue (1) and the shift (2).
    """

    def __init__(
        self,
        parameters: Mapping[str, np.ndarray],
        reference: Mapping[str, np.ndarray],
        settings: Settings,
    ) -> None:
        super().__init__()
        for name, value in parameters.items():
            tensor = torch.tensor(value, dtype=torch.float64)
            self.register_parameter(name.replace(".", "__"), torch.nn.Parameter(tensor))
        self.log_baseline = torch.tensor(reference["log_baseline"])
        self.reference_rates = torch.tensor(reference["rates"])
        self.reference_size = torch.tensor(reference["size"])
        self.settings = settings
        points, weights = np.polynomial.hermite_e.hermegauss(settings.nodes)
        self.points = torch.tensor(points)
        self.log_node_weights = torch.tensor(np.log(weights / weights.sum()))
        behaviors = self["feedback.carried.1.effect"].shape[0]
        patterns = [y[::-1] for y in product([0.0, 1.0], repeat=behaviors)]
        self.patterns = torch.tensor(patterns, dtype=torch.float64)

    def __getitem__(self, name: str) -> Tensor:
        return self.get_parameter(name.replace(".", "__"))

    def initial_state(self) -> dict[str, Tensor]:
        units, cohorts = self.log_baseline.shape
        behaviors = self.patterns.shape[1]

        def zeros(*shape: int) -> Tensor:
            return torch.zeros(shape, dtype=torch.float64)

        return {
            "shift": zeros(cohorts),
            "memory": zeros(cohorts, behaviors),
            "fatigue": zeros(cohorts),
            "common": zeros(),
            "unit": zeros(units),
        }

    def predict(
        self, state: dict[str, Tensor], x: Tensor, size: Tensor, effort: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Expected arrivals [unit, cohort] and pattern probabilities [unit, cohort, pattern]."""
        scale = torch.nn.functional.softplus(self["population.raw_diagonal"][..., 0])
        scale = scale + self.settings.scale_floor
        mean = self["population.means"][..., 0] + state["shift"][:, None]
        u = (mean[..., None] + scale[..., None] * self.points).flatten(1)
        log_share = torch.log_softmax(self["population.logits"], -1)
        log_weight = (log_share[..., None] + self.log_node_weights).flatten(1)

        drive = self.log_baseline + self["arrival.intercept"] + x @ self["arrival.feature_effect"]
        drive = drive + state["common"] + state["unit"][:, None]
        exponent = drive[..., None] + self["arrival.loading"][0] * u
        mass = torch.exp(log_weight + exponent.clamp(-16.0, 10.0))
        arrivals = size * effort * mass.sum(-1)

        b = self["response.unit_intercept"][:, None] + self["response.cohort_intercept"]
        b = b + x @ self["response.feature_effect"]
        b = b + state["memory"] @ self["feedback.carried.0.effect"]
        b = b + state["fatigue"][:, None] * self["feedback.carried.1.effect"]
        b = b + state["common"] * self["feedback.environment.effect"]
        one = torch.ones(1, dtype=torch.float64)
        loading = torch.cat([one, self["response.free_loading"][:, 0]])
        behaviors = self.patterns.shape[1]
        below = torch.tril_indices(behaviors, behaviors, -1)
        dependence = torch.zeros(behaviors, behaviors, dtype=torch.float64)
        dependence = dependence.index_put((below[0], below[1]), self["response.dependence_entries"])
        logits = b[:, :, None] + u[..., None] * loading
        eta = logits[..., None, :] + self.patterns @ dependence.T
        log_probability = torch.where(
            self.patterns > 0,
            torch.nn.functional.logsigmoid(eta),
            torch.nn.functional.logsigmoid(-eta),
        ).sum(-1)
        probability = torch.exp(log_probability)
        q = (mass[..., None] * probability).sum(2) / mass.sum(-1)[..., None]
        return arrivals, q

    def advance(
        self,
        state: dict[str, Tensor],
        arrivals: Tensor,
        behaviors: Tensor,
        expected: Tensor,
        active: Tensor,
    ) -> dict[str, Tensor]:
        contacts = arrivals.sum(0)
        rates = (behaviors.sum(0) + 2.0 * self.reference_rates) / (contacts + 2.0)[:, None]
        dose = contacts / self.reference_size.clamp(min=1.0)
        rho_m = torch.sigmoid(self["feedback.carried.0.raw_retention"])
        rho_f = torch.sigmoid(self["feedback.carried.1.raw_retention"])
        rho_d = torch.sigmoid(self["feedback.carried.2.raw_retention"])
        rho_z = torch.sigmoid(self["feedback.environment.raw_retention"])
        memory = rho_m * state["memory"] + (1 - rho_m) * rates
        fatigue = rho_f * state["fatigue"] + (1 - rho_f) * (1 - torch.exp(-dose))
        shift = rho_d * state["shift"]
        shift = (
            shift + (rates - self.reference_rates) @ self["feedback.carried.2.rate_response"][:, 0]
        )
        shift = shift - fatigue * self["feedback.carried.2.fatigue_response"][0]
        xi = torch.log1p(arrivals.sum(1)) - torch.log1p(expected.sum(1))
        mean = (active * xi).sum() / active.sum().clamp(min=1.0)
        common = rho_z * state["common"]
        common = common + torch.sigmoid(self["feedback.environment.raw_common_gain"]) * mean
        unit = rho_z * state["unit"]
        unit = unit + torch.sigmoid(self["feedback.environment.raw_unit_gain"]) * active * (
            xi - mean
        )
        return {
            "shift": shift,
            "memory": memory,
            "fatigue": fatigue,
            "common": common,
            "unit": unit - unit.mean(),
        }

    def day_loss(self, arrivals: Tensor, q: Tensor, counts: Tensor) -> Tensor:
        r = self.settings.dispersion
        n = counts.sum(-1)
        behavior = -(counts * torch.log(q)).sum() / n.sum().clamp(min=1.0)
        log_nb = (
            torch.lgamma(n + r)
            - torch.lgamma(n + 1.0)
            - math.lgamma(r)
            + r * torch.log(r / (r + arrivals))
            + n * torch.log(arrivals / (r + arrivals))
        )
        return behavior - self.settings.count_weight * log_nb.mean()

    def penalty(self) -> Tensor:
        start = math.log(math.expm1(self.settings.initial_scale - self.settings.scale_floor))
        terms = [
            self["arrival.feature_effect"],
            self["arrival.loading"],
            self["response.feature_effect"],
            self["feedback.carried.0.effect"],
            self["feedback.carried.1.effect"],
            self["feedback.environment.effect"],
            self["response.free_loading"],
            self["response.dependence_entries"],
            self["feedback.carried.2.rate_response"],
            self["feedback.carried.2.fatigue_response"],
            self["population.raw_diagonal"] - start,
        ]
        return torch.cat([term.flatten() for term in terms]).square().mean()

    def objective(self, days: Days) -> Tensor:
        state = self.initial_state()
        total = torch.zeros((), dtype=torch.float64)
        last = len(days.counts) - 1
        for t, counts in enumerate(days.counts):
            x = torch.cat([days.calendar[t], days.summaries[t]], -1)
            arrivals, q = self.predict(state, x, days.size[t], days.effort[t])
            total = total + self.day_loss(arrivals, q, counts)
            active = ((days.size[t] * days.effort[t]).sum(-1) > 0).double()
            if t < last:
                expected = arrivals[..., None] * (q @ self.patterns)
                free = self.advance(state, arrivals, expected, arrivals, active)
                x_next = torch.cat([days.calendar[t + 1], days.summaries[t]], -1)
                next_day = self.predict(free, x_next, days.size[t], days.effort[t + 1])
                loss = self.day_loss(*next_day, days.counts[t + 1])
                total = total + self.settings.expected_weight * loss
            recorded = counts @ self.patterns
            state = self.advance(state, counts.sum(-1), recorded, arrivals, active)
        return total / len(days.counts) + self.settings.penalty_weight * self.penalty()
