from .exploration.exploring import Exploration as Exploration
from .panel import Panel as Panel
from .split import Split as Split
