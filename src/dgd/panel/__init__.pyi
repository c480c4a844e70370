from .exploration.exploring import Exploration as Exploration
from .panel import Panel as Panel
from .special_days import SpecialDays as SpecialDays
from .split import Split as Split
