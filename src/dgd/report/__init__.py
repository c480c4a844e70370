"""Charts, each made from a tidy table that the user can have as well."""

from dgd.report.counts import counts_chart, counts_table
from dgd.report.files import save_chart
from dgd.report.people import people_chart, people_density_table
from dgd.report.population import density_table, node_table, population_chart

__all__ = [
    "counts_chart",
    "counts_table",
    "density_table",
    "node_table",
    "people_chart",
    "people_density_table",
    "population_chart",
    "save_chart",
]
