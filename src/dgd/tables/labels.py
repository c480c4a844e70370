"""What units, cohorts, markets and products are called."""

from typing import TypeAlias

Label: TypeAlias = str | int
