"""Theory a user can call: can the numbers of this fit be trusted?

- `check(fit)` runs everything below; `check_choice(fit)` asks a fit of demand.
- `check_nodes`: would more quadrature nodes change the predictions?
- `quadrature_bounds`, `error_propagation`, `state_limits`: errors beside their bounds.
- `in_other_form`, `tilting_table`: the two readouts of one model.
- `people`: who is there, and who is seen.
- `counts_against_events`: what counts leave out (nothing).
- `gradient_check`: automatic against central differences, and whether they reach every part.
- `identifiability`: which parameters not to read too much into.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
