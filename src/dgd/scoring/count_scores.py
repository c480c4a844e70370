r"""Scores of arrival counts: of their mean, and of their distribution where one is forecast.

Arrays have axes [day, unit, cohort]: N_ct recorded, N^_ct forecast. A
distribution is a negative binomial (`dgd.model.negative_binomial`) of mean N^ and
dispersion r. Days without arrivals count. Lower is better throughout.
"""

from typing import TypeAlias

import numpy as np
from jaxtyping import Float

from dgd.model import negative_binomial

Cells: TypeAlias = Float[np.ndarray, "day unit cohort"]


def arrival_mae(recorded: Cells, forecast: Cells) -> float:
    r"""Error of the day's total arrivals: :math:`mean_t |\sum_c \hat N_{ct} - \sum_c N_{ct}|`."""
    return float(np.abs((forecast - recorded).sum((1, 2))).mean())


def cell_arrival_mae(recorded: Cells, forecast: Cells) -> float:
    r"""Error of each unit's and cohort's arrivals: :math:`mean_{c,t} |\hat N_{ct} - N_{ct}|`.

    The CRPS of a forecast that is sure of its mean.
    """
    return float(np.abs(forecast - recorded).mean())


def arrival_deviance(recorded: Cells, forecast: Cells, dispersion: Cells | float) -> float:
    r"""Mean negative-binomial deviance of the arrivals of a unit and cohort.

    Infinite where something arrived that was forecast to be impossible.
    """
    return float(negative_binomial.deviance(recorded, forecast, dispersion).mean())


def arrival_crps(recorded: Cells, forecast: Cells, dispersion: Cells | float) -> float:
    r"""Mean continuous ranked probability score of the arrivals of a unit and cohort.

    .. math:: mean_{c,t} \sum_{k \ge 0} \big(F_{ct}(k) - 1[k \ge N_{ct}]\big)^2

    In arrivals, like an absolute error.
    """
    return float(negative_binomial.crps(recorded, forecast, dispersion).mean())
