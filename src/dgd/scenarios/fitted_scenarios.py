"""What a fit can be asked about other futures, as methods of its own."""

from dgd.scenarios.comparing import scenario
from dgd.scenarios.curves import response_curve
from dgd.scenarios.planning import plan
from dgd.scenarios.pushing import push


class FittedScenarios:
    """Scenarios, response curves, pushes and plans of a fit: its first argument is the fit."""

    scenario = scenario
    response_curve = response_curve
    push = push
    plan = plan
