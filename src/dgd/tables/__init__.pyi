from .clock import Clock as Clock
from .periods import Period as Period
