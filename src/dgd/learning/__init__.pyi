from .settings import Settings as Settings
from .trained import Trained as Trained
