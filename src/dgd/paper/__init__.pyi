from .tables import TABLES as TABLES
from .tables import reproduce as reproduce
