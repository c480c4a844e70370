"""From settings to parts: the one place where a name of a setting becomes a piece of the model."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from dgd.learning.settings import Settings
from dgd.learning.starts import Start
from dgd.model.arrival import Arrival
from dgd.model.context import CONTEXTS
from dgd.model.crowd import Crowd
from dgd.model.days import Inputs, Outcomes
from dgd.model.feedback.environment import CalmEnvironment
from dgd.model.feedback.feedback import FEEDBACKS, Feedback
from dgd.model.innovations import Innovations
from dgd.model.population.gaussian_mixture import first_mixture
from dgd.model.population.named import POPULATIONS
from dgd.model.readout import READOUTS
from dgd.model.response import Response
from dgd.model.shape import Shape
from dgd.panel.features import FeatureMaker, learned_places
from dgd.panel.panel import Panel
from dgd.panel.sequences import recorded_days, recorded_events
from dgd.panel.split import Split

RECORDED: dict[str, Callable[..., tuple[Inputs, Outcomes]]] = {
    "counts": recorded_days,
    "events": recorded_events,
}
"""How days are read for each kind of supervision."""


def shape_of(settings: Settings, panel: Panel, split: Split, maker: FeatureMaker) -> Shape:
    """The lengths of all axes of a model of `panel`; units first seen after the fit are not those
    that levels were told apart by."""
    newcomers = 0 if panel.since is None else int((panel.since > 0).sum())
    return Shape(
        units=len(panel.units),
        cohorts=len(panel.cohorts),
        behaviors=len(panel.behaviors),
        features=len(maker.names(panel)),
        components=settings.components,
        dim=settings.dim,
        nodes=settings.nodes,
        contexts=maker.context_scaling.center.size,
        places=learned_places(panel, split.validation_stop),
        everyone=panel.together.units - newcomers,
    )


def first_crowd(settings: Settings, shape: Shape, start: Start, seed: int) -> Crowd:
    """Parameters at the start of training for one seed.

    Drawn with NumPy: nothing needs compiling before training itself.
    """
    rng = np.random.default_rng(seed)
    mixture = first_mixture(
        rng,
        shape.cohorts,
        shape.components,
        shape.dim,
        nodes=shape.nodes,
        scale=settings.initial_scale,
    )
    population = POPULATIONS[settings.population](mixture)
    return Crowd(
        population=population,
        arrival=Arrival.starting(shape, rng),
        response=Response.starting(shape, rng, start.cohort_intercept, start.dependence),
        feedback=_feedback(settings, shape, rng),
        reference=start.reference,
        readout=READOUTS[settings.readout](population),
        context=CONTEXTS[settings.supervision](shape),
        effort=start.effort,
        innovations=Innovations.starting(shape) if settings.innovations == "learned" else None,
    )


def _feedback(settings: Settings, shape: Shape, rng: np.random.Generator) -> Feedback:
    """What is carried on; innovations of arrivals take the place of the arrival environment."""
    feedback = FEEDBACKS[settings.dynamics](shape, rng)
    if settings.innovations == "none":
        return feedback
    return replace(feedback, environment=CalmEnvironment())


def blank_crowd(settings: Settings, shape: Shape, names: Iterable[str]) -> Crowd:
    """Parameters of the right shapes, to be filled by those that a file keeps under `names`."""
    elastic = any("/effort." in name for name in names)
    if elastic and settings.effort_response != "learned":
        raise ValueError(
            f"effort_response is {settings.effort_response}, but there are elasticities"
        )
    return first_crowd(settings, shape, Start.blank(shape, elastic), seed=0)
