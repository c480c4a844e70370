"""From raw events to pattern counts, lazily, on the engine the events live in."""

from dgd.counting.assignment import Assignment
from dgd.counting.buckets import hash_bucket, hash_buckets
from dgd.counting.count_report import CountReport
from dgd.counting.events import count_events
from dgd.counting.newcomers import newcomer_cohorts
from dgd.counting.rates import rate_cohorts
from dgd.counting.spending import spending_cohorts
from dgd.counting.units import top_units

__all__ = [
    "Assignment",
    "CountReport",
    "count_events",
    "hash_bucket",
    "hash_buckets",
    "newcomer_cohorts",
    "rate_cohorts",
    "spending_cohorts",
    "top_units",
]
