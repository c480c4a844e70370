"""The frame around every page: its head, the way back, and the scripts that make it move."""

from string import Template

from dgd.app.desk import Page
from dgd.tables.html import escaped

WHOLE = Template("""\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title - dgd</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
<link rel="stylesheet" href="app.css">
<script src="app.js"></script>
<script type="module" src="vega.js"></script>
<script type="module" src="draw.js"></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><div><a class="brand" href="./">dgd</a>$trail</div></header>
<main id="main" tabindex="-1">
<h1>$title</h1>
$lead$nav$body
</main>
<div id="told" class="hidden" role="status" aria-live="polite"></div>
</body>
</html>
""")


def whole_page(page: Page) -> str:
    """The page as a browser gets it."""
    trail = "".join(
        f'<li><a href="{escaped(address)}">{escaped(title)}</a></li>'
        for address, title in page.trail
    )
    way = f'<nav aria-label="The way here"><ol>{trail}</ol></nav>' if trail else ""
    beside = "".join(
        f'<li><a href="{escaped(address)}"{_current(address, page)}>{escaped(title)}</a></li>'
        for address, title in page.nav
    )
    return WHOLE.substitute(
        title=escaped(page.title),
        trail=way,
        lead=f'<p class="lead">{escaped(page.lead)}</p>' if page.lead else "",
        nav=f'<nav class="beside" aria-label="This model"><ul>{beside}</ul></nav>'
        if beside
        else "",
        body=page.body,
    )


def refused(sentence: str) -> str:
    """A refusal in its place on a page."""
    return f'<p class="refused" role="alert">{escaped(sentence)}</p>'


def refused_page(sentence: str) -> str:
    """A refusal where a page was asked for."""
    body = refused(sentence) + '<p><a class="button" href="./">Back to the start</a></p>'
    return whole_page(Page("This cannot be shown", body))


def _current(address: str, page: Page) -> str:
    return ' aria-current="page"' if address == page.here else ""
