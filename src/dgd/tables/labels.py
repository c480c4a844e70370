"""What a unit, a cohort, a market or a product is called."""

from typing import TypeAlias

Label: TypeAlias = str | int
"""A text or a whole number, as the user's table has it."""
