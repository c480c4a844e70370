"""Charts, each made from a tidy table that the user can have as well."""

from dgd.report.charts.counts import counts_chart, counts_table
from dgd.report.charts.demand_curves import demand_curve_chart, demand_curve_table
from dgd.report.charts.files import save_chart
from dgd.report.charts.people import people_chart, people_density_table
from dgd.report.charts.population import density_table, node_table, population_chart
from dgd.report.charts.price_sensitivity import sensitivity_chart, sensitivity_table

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
