from . import (
    baselines as baselines,
)
from . import (
    choice as choice,
)
from . import (
    datasets as datasets,
)
from . import (
    diagnostics as diagnostics,
)
from . import (
    forecasting as forecasting,
)
from . import (
    model as model,
)
from . import (
    processes as processes,
)
from . import (
    report as report,
)
from . import (
    scenarios as scenarios,
)
from . import (
    scoring as scoring,
)
from .counting.assignment import Assignment as Assignment
from .counting.buckets import hash_bucket as hash_bucket
from .counting.buckets import hash_buckets as hash_buckets
from .counting.count_report import CountReport as CountReport
from .counting.counts_in_parts import partition_counts as partition_counts
from .counting.events import count_events as count_events
from .counting.newcomers import newcomer_cohorts as newcomer_cohorts
from .counting.rates import rate_cohorts as rate_cohorts
from .counting.spending import spending_cohorts as spending_cohorts
from .counting.units import top_units as top_units
from .errors import DGDError as DGDError
from .errors import InputError as InputError
from .errors import ModelFileError as ModelFileError
from .errors import OutputError as OutputError
from .estimator import DGD as DGD
from .fit import Fit as Fit
from .forecasting.forecast import Forecast as Forecast
from .forecasting.predictive import Predictive as Predictive
from .forecasting.protocol import Fitted as Fitted
from .forecasting.protocol import Forecaster as Forecaster
from .learning.settings import Settings as Settings
from .many.fitting_many import fit_many as fit_many
from .many.many_fits import ManyFits as ManyFits
from .panel.exploration.exploring import Exploration as Exploration
from .panel.panel import Panel as Panel
from .panel.special_days import SpecialDays as SpecialDays
from .panel.split import Split as Split
from .parts.manifest import CountsManifest as CountsManifest
from .scenarios.changes import Change as Change
from .scenarios.plans import Plan as Plan
from .scoring.backtesting import Backtest as Backtest
from .scoring.backtesting import backtest as backtest
from .simulation.draw import Simulated as Simulated
from .simulation.draw import simulate as simulate
from .simulation.example import example_world as example_world
from .simulation.world import World as World
from .storage import load as load
from .tables.clock import Clock as Clock

__version__: str
