"""The pages hold together: links, toctrees, the API, commands and Python; without Sphinx."""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from support.public_names import is_public, stubs

UsageError = typer.BadParameter.__mro__[1]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
BUILT = ("_build", "_pictures", "_static")
PAGES = {
    str(page.relative_to(DOCS).with_suffix("")): page.read_text("utf-8")
    for page in sorted(DOCS.rglob("*.md"))
    if page.relative_to(DOCS).parts[0] not in BUILT
}
OUTSIDE = {
    name: (ROOT / name).read_text("utf-8") for name in ("README.md", "SECURITY.md", "CHANGELOG.md")
}
FILES = {**{f"docs/{name}.md": text for name, text in PAGES.items()}, **OUTSIDE}
RUN = re.search(r"^RUN = (\[.*?^\])", (DOCS / "conf.py").read_text("utf-8"), re.M | re.S)


def prose(text: str) -> str:
    """A page without its blocks."""
    return re.sub(r"^(```+).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def links(text: str) -> Iterator[tuple[str, str]]:
    """Where a page leads to within the project: file and heading."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(text)):
        if not re.match(r"[a-z]+:", target):
            file, _, heading = target.partition("#")
            yield file, heading


def headings(text: str) -> set[str]:
    found = re.findall(r"^#+ (.+)$", prose(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in found}


def drawn_by_pages() -> set[str]:
    return set(re.findall(r'Path\("([\w-]+\.svg)"\)', "\n".join(PAGES.values())))


@pytest.mark.parametrize("name", FILES)
def test_every_link_leads_somewhere(name: str) -> None:
    for file, heading in links(FILES[name]):
        if "_pictures/" in file:
            assert Path(file).name in drawn_by_pages(), f"no page draws {file}"
            continue
        target = (ROOT / name).parent / file if file else ROOT / name
        assert target.exists(), file
        if heading:
            assert heading in headings(target.read_text("utf-8")), f"{file}#{heading}"


def test_links_and_headings_are_seen() -> None:
    text = "# One Thing\n\n[a](b.md#c) [w](https://x.org) ![p](q.svg)\n\n```\n[no](n.md)\n```\n"
    assert list(links(text)) == [("b.md", "c"), ("q.svg", "")]
    assert headings(text) == {"one-thing"}


def listed(name: str) -> Iterator[str]:
    """Every page below one, toctree by toctree."""
    yield name
    folder = Path(name).parent
    for tree in re.findall(r"^```\{toctree\}\n(.*?)^```$", PAGES[name], re.M | re.S):
        for line in tree.split():
            if not line.startswith(":") and str(folder / line) in PAGES:
                yield from listed(str(folder / line))


def test_every_page_is_in_one_toctree() -> None:
    assert sorted(listed("index")) == sorted(PAGES)


def public_definitions() -> dict[str, str]:
    """Every name that users can reach, and where it is defined."""
    packages = [package for package in stubs() if is_public(package)]
    found = {}
    for package in packages:
        for module, name in stubs()[package]:
            if f"{package}.{name}" not in packages:
                found[f"{package}.{name}"] = f"{package}.{module}.{name}"
    return found


def documented() -> list[str]:
    pages = "\n".join(text for name, text in PAGES.items() if name.startswith("api/"))
    return re.findall(r"^\.\. (?:auto\w+|py:data):: ([\w.]+)$", pages, re.MULTILINE)


def test_every_public_name_is_in_the_api_once() -> None:
    known = public_definitions()
    unknown = [name for name in documented() if name not in known]
    assert not unknown
    shown = [known[name] for name in documented()]
    assert sorted(shown) == sorted(set(known.values()))


def test_every_page_with_python_is_run() -> None:
    assert RUN is not None
    assert sorted(ast.literal_eval(RUN[1])) == sorted(
        name for name, text in PAGES.items() if blocks(text, "python")
    )


@pytest.mark.parametrize("name", FILES)
def test_python_is_valid(name: str) -> None:
    for block in blocks(FILES[name], "python"):
        ast.parse(block)


def commands(text: str) -> Iterator[list[str]]:
    """The calls of dgd in a page's shell blocks, as their words."""
    for block in blocks(text, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words and Path(words[0]).name == "dgd":
                yield words[1:]


def parsed(words: list[str]) -> list[str]:
    """The command that the words call; refused where its options are others."""
    from dgd.cli.app import app

    command: Any = typer.main.get_command(app)
    path = []
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        path.append(words[0])
        command, words = command.commands[words[0]], words[1:]
    if words != ["--version"]:
        command.make_context(" ".join(path), list(words))
    return path


CALLS = [(name, words) for name, text in FILES.items() for words in commands(text)]


@pytest.mark.parametrize(("name", "words"), CALLS, ids=[f"{n}: {w[0]}" for n, w in CALLS])
def test_every_call_in_a_shell_block_is_one_that_dgd_takes(name: str, words: list[str]) -> None:
    assert parsed(words) or words == ["--version"]


def test_calls_that_dgd_does_not_take_are_told() -> None:
    with pytest.raises(UsageError, match="--horizont"):
        parsed(["forecast", "model.dgd", "--horizont", "7"])
    with pytest.raises(UsageError, match="behaviors"):
        parsed(["explore", "counts.csv"])


def test_every_command_has_an_example_in_the_guide_to_the_shell() -> None:
    from dgd.cli.app import app

    main: Any = typer.main.get_command(app)
    known = {
        (name, *more)
        for name, command in main.commands.items()
        for more in ([(sub,) for sub in getattr(command, "commands", ())] or [()])
    }
    assert {tuple(parsed(words)) for words in commands(PAGES["guides/shell"])} == known


def test_every_target_of_make_is_explained() -> None:
    rules = re.search(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert rules is not None
    told = set(re.findall(r"^\| `make (\S+)` \|", PAGES["contributing"], re.MULTILINE))
    assert told == set(rules[1].split()) - {"clean"}
