"""Words of Python, which no sentence for the shell may hold."""

import re

PYTHON_WORDS = re.compile(
    r'\b[a-z_]+=(?=["\[({.,; ]|$)'  # an argument, like start= or levels=[80]
    r"|\w+\(\)|\(\w+="  # a call
    r"|\bdgd\.[A-Za-z]|\bClock\b|\bNone\b|\bTrue\b|\bFalse\b"
    r"|\[-?\d|\{"  # a list or a dictionary
    r"|\b(?:train_end|validation_end|warmup_end|test_start|stored_in|time_unit|market_size)\b"
    r"|\b(?:per_day|per_unit|as_json|json_file)\b"
)
"""What would be written otherwise in the shell; settings keep their names after --set."""


def python_words(sentence: str) -> list[str]:
    """Those that stand outside of quotes, in which users' own words are repeated."""
    return PYTHON_WORDS.findall(re.sub(r'"[^"]*"', '""', sentence))
