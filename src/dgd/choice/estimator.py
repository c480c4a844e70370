"""ChoiceModel: settings that can be fitted to markets."""

from collections.abc import Sequence

from dgd.choice.dynamics.fitting import fit_with_and_without
from dgd.choice.dynamics.in_time import divided_in_time
from dgd.choice.early_stopping import divided, trained
from dgd.choice.estimation.estimating import Validation, estimate
from dgd.choice.fit import ChoiceFit
from dgd.choice.identification import (
    refuse_unheard,
    refuse_unlearnable,
    warn_of_ambiguity,
    warn_of_estimate,
)
from dgd.choice.inversion.fitting import fit_by_instruments
from dgd.choice.markets import Markets
from dgd.choice.settings import EARLY_STOPPING, FEEDBACK, INVERTED, ChoiceSettings
from dgd.errors import InputError
from dgd.learning.loop import Progress
from dgd.learning.progress import refuse_progress
from dgd.learning.seeds import checked_seeds, warn_of_divergence
from dgd.runtime import computing


class ChoiceModel(ChoiceSettings):
    """Demand of a heterogeneous population, ready to be fitted.

    The arguments are those of `ChoiceSettings`.
    """

    def fit(
        self,
        markets: Markets,
        *,
        validation: Validation = 0.25,
        seeds: Sequence[int] = (1, 2, 3),
        progress: Progress | bool | None = None,
        keep_on_interrupt: bool = False,
    ) -> ChoiceFit:
        """Learn population and utility together from the counts of the markets.

        The likelihood is searched to its top from several starts. Whether people differ at all is
        decided by markets that were held out; then all markets count.

        Args:
            markets: what was offered and counted.
            validation: what decides whether people differ: the fraction of markets (or
                households) to hold out at a time, neighbours in the table together, each in its
                turn; the labels of some markets; or other `Markets`. With
                `method="early stopping"` these markets decide when to stop, and are never
                trained on.
            seeds: each draws its own starts; the same seeds give the same numbers. With
                `method="early stopping"` each gives one parameter set.
            progress: a bar for every seed where standard error is a terminal, or in a notebook;
                none with False; or a function to be called with (seed, steps done, best
                objective).
            keep_on_interrupt: on Ctrl-C, return the best parameters so far.
        """
        seeds = checked_seeds(seeds)
        refuse_progress(progress)
        refuse_unlearnable(markets)
        if isinstance(validation, Markets):
            markets.refuse_different(validation, "validation")
            if not validation.counted:
                raise InputError(
                    "validation was made with count=None; what it decides needs counts: name "
                    "their column."
                )
        settings = ChoiceSettings(**self.as_dict())
        refuse_unheard(settings, markets)
        warn_of_ambiguity(markets)
        if self.dynamics == FEEDBACK:
            return self._with_feedback(
                settings, markets, validation, seeds, progress, keep_on_interrupt
            )
        if self.method == EARLY_STOPPING:
            training, held_out = divided(markets, validation)
            refuse_unlearnable(training)
            with computing():
                runs = trained(settings, training, held_out, seeds, progress, keep_on_interrupt)
            fit = ChoiceFit(settings, markets, training.markets, runs)
            warn_of_divergence(fit.runs)
            return fit
        if self.quality == INVERTED:
            fit = ChoiceFit.inverted(fit_by_instruments(settings, markets, seeds[0]), markets)
            warn_of_estimate(fit)
            return fit
        with computing():
            found = estimate(settings, markets, validation, seeds, progress, keep_on_interrupt)
        fit = ChoiceFit.of(found)
        warn_of_estimate(fit)
        return fit

    @staticmethod
    def _with_feedback(
        settings: ChoiceSettings,
        markets: Markets,
        validation: Validation,
        seeds: Sequence[int],
        progress: Progress | bool | None,
        keep_on_interrupt: bool,
    ) -> ChoiceFit:
        if isinstance(validation, Markets):
            raise InputError(
                "validation is other markets; with feedback the last periods decide: give their "
                "fraction, or the labels of their markets."
            )
        both = fit_with_and_without(
            settings, markets, validation, seeds, progress, keep_on_interrupt
        )
        training, _ = divided_in_time(markets, validation)
        without = tuple(run.best_objective for run in both.static)
        fit = ChoiceFit(settings, markets, training.markets, both.moving, without_feedback=without)
        warn_of_divergence(fit.runs)
        return fit
