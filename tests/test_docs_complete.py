"""Every setting, filter field, operator, embedder and kind is documented."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from commonplace import filters
from commonplace.models import embedders
from commonplace.settings import Settings
from commonplace.values import KINDS

DOCS = Path(__file__).resolve().parent.parent / "docs"


def rows(page: str, heading: str) -> dict[str, list[str]]:
    """The cells of each table row below a heading, by the first cell's plain text."""
    text = "\n" + (DOCS / page).read_text("utf-8")
    section = text.split(f"\n{heading}\n", 1)[1]
    section = re.split(r"(?m)^#{1,6} ", section, maxsplit=1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {first.replace("`", ""): rest for first, *rest in cells}


def test_every_setting_is_documented_with_its_default() -> None:
    documented = rows("operations.md", "## Settings")
    documented.pop("field")
    assert list(documented) == [field.name for field in fields(Settings)]
    for field in fields(Settings):
        shown = documented[field.name][0].strip('`"').replace(",", "")
        assert shown == ("by kind" if field.name == "half_lives" else str(field.default))


def test_every_filter_field_is_documented_with_its_type() -> None:
    documented = rows("filters.md", "## Fields")
    documented.pop("field")
    assert list(documented) == [*filters.FIELDS, "metadata.NAME"]
    types = {
        **dict.fromkeys(filters.TEXT_FIELDS, "text"),
        **dict.fromkeys(filters.NUMBER_FIELDS, "number"),
        **dict.fromkeys(filters.TIME_FIELDS, "time"),
    }
    assert types.items() <= {name: cells[0] for name, cells in documented.items()}.items()


def test_every_filter_operator_is_documented() -> None:
    documented = [name for name in rows("filters.md", "## Operators") if name.startswith("$")]
    assert documented == [*filters.OPERATORS, "$and", "$or", "$not"]


def test_the_documented_limits_of_a_filter_are_the_real_ones() -> None:
    text = (DOCS / "filters.md").read_text("utf-8")
    assert f"{filters.MOST_TESTS} conditions in one filter and {filters.MOST_LEVELS} levels" in text


@pytest.mark.parametrize("spec", re.findall(r"'([^']+)'", embedders._KNOWN))
def test_every_embedder_that_has_a_name_is_documented(spec: str) -> None:
    assert any(f'"{spec}"' in row for row in rows("embedders.md", "# Embedders"))


@pytest.mark.parametrize("name", [name for name in embedders.__all__ if name.endswith("Embedder")])
def test_every_embedder_class_is_named(name: str) -> None:
    assert name in (DOCS / "embedders.md").read_text("utf-8")


def test_every_kind_is_documented() -> None:
    documented = rows("concepts.md", "### Kind")
    documented.pop("kind")
    assert list(documented) == list(KINDS)


@pytest.mark.parametrize("page", ["concepts.md", "filters.md", "embedders.md", "operations.md"])
def test_every_link_between_the_pages_leads_somewhere(page: str) -> None:
    text = (DOCS / page).read_text("utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        other = (DOCS / path).resolve() if path else DOCS / page
        assert other.is_file(), f"{page}: {target}"
        assert not anchor or anchor in anchors(other.read_text("utf-8")), f"{page}: {target}"


def anchors(text: str) -> set[str]:
    """The names under which a page's headings can be linked."""
    headings = re.findall(r"(?m)^#{1,6} (.+)$", re.sub(r"(?ms)^```.*?^```", "", text))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def test_what_the_page_on_five_documents_names_as_shown_is_there() -> None:
    lines = [line for line in (DOCS / "seeds.md").read_text("utf-8").splitlines() if line.startswith("| ")]
    named = {name for line in lines for name in re.findall(r"\w+", line.split("|")[-2]) if name.count("_") > 2}
    defined = {
        name
        for path in Path(__file__).parent.rglob("*.py")
        for name in re.findall(r"^(?:async )?def (\w+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert len(named) >= 20
    assert named <= defined
