from .draw import Simulated as Simulated
from .draw import simulate as simulate
from .example import example_world as example_world
from .world import World as World
