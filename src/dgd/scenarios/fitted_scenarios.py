"""What a fit can be asked about other futures, as methods of its own."""

from dgd.scenarios.comparing import scenario
from dgd.scenarios.multiples import response_curve, response_grid
from dgd.scenarios.planning import plan
from dgd.scenarios.pushing import push


class FittedScenarios:
    """What `dgd.scenarios` asks of a fit: the first argument is the fit."""

    scenario = scenario
    response_curve = response_curve
    response_grid = response_grid
    push = push
    plan = plan
