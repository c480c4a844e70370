"""From raw events to pattern counts, lazily, on the engine the events live in."""

from dgd.counting.assignment import Assignment
from dgd.counting.cohorts import newcomer_cohorts, rate_cohorts, spending_cohorts
from dgd.counting.events import CountReport, count_events
from dgd.counting.units import hash_bucket, hash_buckets, top_units

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
