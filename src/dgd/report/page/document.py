"""Report: one page that needs nothing but itself, for screens, phones, paper and screen readers.

Everything is inside: the drawing library, the rows, the look. The page lists the digests of its
own scripts, so that a browser runs these and no others, and it can reach no host at all.
"""

from dataclasses import dataclass
from html import escape
from importlib.metadata import version
from pathlib import Path
from string import Template

from dgd.errors import InputError
from dgd.files.atomic import write_atomically
from dgd.report.charts.page import drawing_library, policy_of
from dgd.report.page.assets import asset
from dgd.report.page.parts import Section
from dgd.tables.html import escaped

SCRIPTS = ("draw.js", "report.js")
PAGE = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="$policy">
<title>$title</title>
<style>$look</style>
</head>
<body>
<a class="skip" href="#$first">Skip to the summary</a>
<header class="page">
<h1>$title</h1>
<p class="soft">$subtitle</p>
<nav aria-label="Contents"><ul class="contents">$contents</ul></nav>
</header>
<main>
<noscript><p class="note">Charts and choices need a browser that runs scripts; sentences and tables
are all here without them.</p></noscript>
$sections
</main>
<footer class="page"><p class="soft">$footer</p></footer>
$rows
$scripts
</body>
</html>
""")


@dataclass(frozen=True)
class Report:
    """A page about a fit; `save` writes it, a notebook shows it."""

    title: str
    subtitle: str
    sections: tuple[Section, ...]
    rows: str
    """Blocks of rows that the page's script answers from."""
    footer: str

    @property
    def html(self) -> str:
        """The whole page."""
        scripts = [drawing_library(), *(asset(name) for name in SCRIPTS)]
        contents = "".join(
            f'<li><a href="#{one.name}">{escaped(one.title)}</a></li>' for one in self.sections
        )
        return PAGE.substitute(
            policy=policy_of(*scripts),
            title=escaped(self.title),
            subtitle=escaped(self.subtitle),
            look=asset("page.css"),
            first=self.sections[0].name,
            contents=contents,
            sections="\n".join(one.html for one in self.sections),
            footer=escaped(self.footer),
            rows=self.rows,
            # as modules: the drawing library keeps its names of one letter to itself
            scripts="\n".join(f'<script type="module">{script}</script>' for script in scripts),
        )

    def save(self, path: str | Path) -> None:
        """Write the page, whole or not at all."""
        check_page_ending(Path(path))
        write_atomically(Path(path), self.html.encode())

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="{escaped(self.title)}" srcdoc="{escape(self.html)}" '
            'sandbox="allow-scripts" style="width:100%;height:720px;border:1px solid #ccc">'
            "</iframe>"
        )

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {len(self.sections)} sections)"


def made_by() -> str:
    """What stands at the foot of every report."""
    return f"Made by dgd {version('differentiable-gaussian-dynamics')} from counts alone."


def check_page_ending(path: Path) -> None:
    """Refuse a file that is not called a page."""
    if path.suffix != ".html":
        raise InputError(f'report file "{path}" does not end in .html; name it like report.html.')
