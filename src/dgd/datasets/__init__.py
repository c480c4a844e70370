"""The public data sets of the paper, as panels ready to fit."""

from dgd.datasets.dataset import Dataset
from dgd.datasets.kuairand_pure import kuairand
from dgd.datasets.retail_invoices import online_retail
from dgd.datasets.windows import KUAIRAND_WINDOWS, RETAIL_WINDOWS, Window

__all__ = ["KUAIRAND_WINDOWS", "RETAIL_WINDOWS", "Dataset", "Window", "kuairand", "online_retail"]
