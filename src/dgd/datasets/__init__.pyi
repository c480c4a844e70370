from .dataset import Dataset as Dataset
from .kuairand_pure import kuairand as kuairand
from .retail_invoices import online_retail as online_retail
from .windows import KUAIRAND_WINDOWS as KUAIRAND_WINDOWS
from .windows import RETAIL_WINDOWS as RETAIL_WINDOWS
from .windows import Window as Window
