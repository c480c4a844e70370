from .panel import Panel as Panel
from .split import Split as Split
