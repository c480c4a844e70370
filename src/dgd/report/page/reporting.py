"""A report of whatever was fitted."""

from typing import Any

from dgd.choice import ChoiceFit
from dgd.errors import InputError
from dgd.fit import Fit
from dgd.learning.trained import Trained
from dgd.report.page.choice_report import choice_report
from dgd.report.page.crowd_report import crowd_report
from dgd.report.page.document import Report


def report_of(fit: Trained, **asked: Any) -> Report:
    """One page about a fit of the model (`crowd_report`) or of demand (`choice_report`)."""
    if isinstance(fit, Fit):
        return crowd_report(fit, **asked)
    if isinstance(fit, ChoiceFit):
        return choice_report(fit, **asked)
    raise InputError(f"a {fit.holds} has no report; make one of a fit of DGD or of a choice model.")
