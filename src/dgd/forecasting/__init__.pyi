from .forecast import Forecast as Forecast
from .predictive import Predictive as Predictive
from .protocol import Fitted as Fitted
from .protocol import Forecaster as Forecaster
from .totals import daily_totals as daily_totals
