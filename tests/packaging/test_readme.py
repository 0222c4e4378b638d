"""Scripts and links in the README exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import studio

CHECKOUT = Path(__file__).parents[2]
README = (CHECKOUT / "README.md").read_text("utf-8")


def section(title: str) -> str:
    return re.split(r"^## ", README.partition(f"## {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def test_every_script_it_tells_of_is_there() -> None:
    for name in set(re.findall(r"packaging/[\w/]+\.py", README)):
        assert (CHECKOUT / name).is_file(), name


def test_the_newest_change_is_this_version() -> None:
    assert re.findall(r"^### (\S+)", section("Changes"), re.MULTILINE)[0] == studio.__version__


@pytest.mark.parametrize("link", re.findall(r"\]\((?!https?:|#)([^)]+)\)", README))
def test_what_it_links_to_is_there(link: str) -> None:
    assert (CHECKOUT / link).exists()
