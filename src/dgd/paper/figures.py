"""Every figure by its name in the shell."""

from collections.abc import Callable

import altair as alt

from dgd.paper.daily_forecasts import daily_chart
from dgd.paper.method_figure import method_figure
from dgd.paper.models import Scored

FIGURES: dict[str, Callable[[Scored], alt.TopLevelMixin]] = {
    "daily-forecasts": daily_chart,
    "method-figure": method_figure,
}
