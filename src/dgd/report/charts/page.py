"""A chart as one page of HTML that runs no code but its own and asks nothing of the network.

Names of cohorts, behaviours and products come from other people's tables. The page keeps them
in a block of JSON in which no character can end the block, and lists the digests of its own
scripts: a browser runs these and no others.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from html import escape
from importlib.metadata import version
from string import Template
from typing import Any

import altair as alt
import vl_convert

from dgd.machine.kept import KeptFiles, cache_folder

SCRIPT = ".script"
"""How the name of the library ends where it is kept."""
ACTIONS = {"export": True, "source": False, "compiled": False, "editor": False}
"""The chart's menu saves pictures. Showing the source would write labels as HTML, and the editor
is on the network."""
START = (
    'vegaEmbed("#chart", JSON.parse(document.getElementById("spec").textContent), '
    f"{json.dumps({'mode': 'vega-lite', 'actions': ACTIONS})}).catch(console.error);"
)
PAGE = Template("""\
<!DOCTYPE html>
<html>
<head>
<meta charset="UTF-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<title>$title</title>
<style>#chart.vega-embed { width: 100%; display: flex; }</style>
<script>$library</script>
</head>
<body>
<div id="chart"></div>
<script type="application/json" id="spec">$spec</script>
<script>$start</script>
</body>
</html>
""")


def page_of(spec: Mapping[str, Any]) -> str:
    """The page that draws a Vega-Lite chart, with its data and the drawing library inside."""
    library = drawing_library()
    return PAGE.substitute(
        policy=policy_of(library, START),
        title=escape(_title(spec)),
        library=library,
        spec=json_in_script(spec),
        start=START,
    )


@cache
def drawing_library() -> str:
    """Vega, Vega-Lite and vega-embed in one script; bundling it takes seconds, so it is kept."""
    folder = cache_folder()
    if folder is None:
        return _bundled()
    with suppress(OSError, ValueError):
        folder.mkdir(parents=True, exist_ok=True)
    scripts = KeptFiles(folder, SCRIPT)
    name = f"vega-{version('vl-convert-python')}-{vega_lite_version()}"
    kept = scripts.get(name)
    if kept is not None:
        return kept.decode()
    made = _bundled()
    scripts.put(name, made.encode())
    return made


def _bundled() -> str:
    # The stub asks for a snippet, without which the bundle is the library as it is.
    return vl_convert.javascript_bundle(vl_version=vega_lite_version())  # type: ignore[call-arg]


def json_in_script(value: object) -> str:
    """JSON that means the same inside a script element, which it can neither end nor comment."""
    text = json.dumps(value)  # in ASCII: line separators are escaped already
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def vega_lite_version() -> str:
    """The version that Altair writes, as vl-convert calls it."""
    return "_".join(alt.SCHEMA_VERSION.split(".")[:2])


def policy_of(*scripts: str) -> str:
    """Only these scripts; Vega compiles the expressions of a chart, and draws on a canvas."""
    digests = (b64encode(sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed} 'unsafe-eval'; style-src 'unsafe-inline'; "
        "img-src data: blob:"
    )


def _title(spec: Mapping[str, Any]) -> str:
    title = spec.get("title", "Chart")
    text = title.get("text", "Chart") if isinstance(title, Mapping) else title
    return " ".join(map(str, text)) if isinstance(text, list) else str(text)
