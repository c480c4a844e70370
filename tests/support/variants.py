"""Every variant of the model, as one part exchanged."""

VARIANTS = {
    "fixed Gaussian": {"population": "fixed"},
    "matched discrete": {"population": "discrete"},
    "point": {"population": "point"},
    "without dynamics": {"dynamics": "none"},
    "separated readout": {"readout": "separated"},
    "events": {"supervision": "events"},
}
