"""The public data sets of the paper, as panels ready to fit."""

from dgd.datasets.kuairand import kuairand
from dgd.datasets.online_retail import online_retail
from dgd.datasets.windows import KUAIRAND_WINDOWS, RETAIL_WINDOWS, Dataset, Window

__all__ = ["KUAIRAND_WINDOWS", "RETAIL_WINDOWS", "Dataset", "Window", "kuairand", "online_retail"]
