"""Charts, each made from a tidy table that the user can have as well."""

from dgd.report.choice import (
    demand_curve_chart,
    demand_curve_table,
    sensitivity_chart,
    sensitivity_table,
)
from dgd.report.counts import counts_chart, counts_table
from dgd.report.files import save_chart
from dgd.report.people import people_chart, people_density_table
from dgd.report.population import density_table, node_table, population_chart

__all__ = [
    "counts_chart",
    "counts_table",
    "demand_curve_chart",
    "demand_curve_table",
    "density_table",
    "node_table",
    "people_chart",
    "people_density_table",
    "population_chart",
    "save_chart",
    "sensitivity_chart",
    "sensitivity_table",
]
