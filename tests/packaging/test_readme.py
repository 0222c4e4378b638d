"""Scripts, links and error codes in the README exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import studio
from studio.errors import type_of_code

CHECKOUT = Path(__file__).parents[2]
README = (CHECKOUT / "README.md").read_text("utf-8")


def section(title: str) -> str:
    return re.split(r"^## ", README.partition(f"## {title}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def test_every_script_it_tells_of_is_there() -> None:
    for name in set(re.findall(r"packaging/[\w/]+\.py", README)):
        assert (CHECKOUT / name).is_file(), name


def test_every_code_has_its_status_in_the_table() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+?) \|", section("When something is wrong"), re.MULTILINE)
    told = {code: int(status) for status, codes in rows for code in re.findall(r"`([a-z-]+)`", codes)}
    assert told == {code: kind.exit_status for code, kind in type_of_code.items()}


def test_the_newest_change_is_this_version() -> None:
    assert re.findall(r"^### (\S+)", section("Changes"), re.MULTILINE)[0] == studio.__version__


@pytest.mark.parametrize("link", re.findall(r"\]\((?!https?:|#)([^)]+)\)", README))
def test_what_it_links_to_is_there(link: str) -> None:
    assert (CHECKOUT / link).exists()
