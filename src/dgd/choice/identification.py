"""What market counts can and cannot tell, said before training begins."""

import warnings

import numpy as np
from scipy.linalg import qr

from dgd.choice.markets import Markets
from dgd.choice.offer_table import CONSTANT
from dgd.errors import InputError


def refuse_unlearnable(training: Markets) -> None:
    """Refuse what no amount of counts from `training` could teach."""
    if not training.counted:
        raise InputError(
            "the markets were made with count=None; training needs counts: name their column."
        )
    if training.sales.sum() == 0:
        raise InputError("nothing was sold in any training market; add markets with sales.")
    if training.outside.sum() == 0:
        raise InputError(
            "everyone bought something in every training market; the value of buying at all "
            "cannot be learned: add markets or count those who bought nothing."
        )
    known = training.attributes[training.available]
    for index, name in enumerate(training.attribute_names):
        values = known[:, index]
        if name != CONSTANT and np.ptp(values) == 0:
            raise InputError(
                f'attribute "{name}" is {values[0]:g} for every available product of every '
                "training market, so its effect cannot be told from the value of buying at all; "
                "leave it out and let dgd add its constant."
            )
    low, high = training.price_range
    if low == high:
        raise InputError(
            f"{training.columns.price} is {low:g} for every available product of every training "
            "market, so price sensitivity cannot be learned; add markets with other prices."
        )


def warn_of_ambiguity(training: Markets, parameters: int) -> None:
    """Warn where predictions may be sound but single parameters are not."""
    known = training.attributes[training.available]
    scaled = known / np.abs(known).max(0)
    _, triangle, order = qr(scaled, mode="economic", pivoting=True)
    size = np.abs(np.diag(triangle))
    rank = int((size > 1e-10 * size[0]).sum())
    if rank < known.shape[1]:
        names = sorted(training.attribute_names[index] for index in order[rank:])
        warnings.warn(
            f"attributes {', '.join(names)} follow from the others in the training markets; shares "
            "can be learned, but how the effect divides between them is the penalty's choice: "
            "leave them out.",
            UserWarning,
            stacklevel=3,
        )
    shares = int(training.available.sum())
    if shares < parameters:
        warnings.warn(
            f"{parameters} parameters are learned from {shares} observed shares; expect the "
            "penalty and early stopping to decide much: add markets, or lower components or dim.",
            UserWarning,
            stacklevel=3,
        )
