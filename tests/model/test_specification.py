"""Every citation of the specification in the code names a section that exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPECIFICATION = ROOT / "studio" / "model" / "SPECIFICATION.md"
# "specification F8", "Specification E2, E5 and E6", "specification J2, row 10", "specification F7, keys I4".
CITATION = re.compile(r"[Ss]pecification,?\s+([A-M]\d?\b(?:(?:,\s*|\s+and\s+)(?:rows?\s+|keys\s+)?(?:[A-M]\d\b|\d+))*)")
LABEL = re.compile(r"\b[A-M]\d?\b")


def labels() -> set[str]:
    return set(re.findall(r"^#{2,3} ([A-M]\d?)\.", SPECIFICATION.read_text("utf-8"), re.MULTILINE)) | set(
        re.findall(r" and ([A-M]\d)\. ", SPECIFICATION.read_text("utf-8"))
    )


def citations() -> dict[str, list[str]]:
    """Cited labels and the files that cite them."""
    found: dict[str, list[str]] = {}
    for folder in ("studio", "packaging", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path == Path(__file__).resolve():
                continue
            text = re.sub(r"\s*\n\s*#?\s*", " ", path.read_text("utf-8"))
            for citation in CITATION.finditer(text):
                for label in LABEL.findall(citation[1]):
                    found.setdefault(label, []).append(path.relative_to(ROOT).as_posix())
    return found


@pytest.mark.slow
def test_every_cited_section_exists() -> None:
    cited = citations()
    assert len(cited) > 30, "the pattern finds the citations"
    assert {label: files for label, files in cited.items() if label not in labels()} == {}


def test_no_other_document_is_cited_by_section() -> None:
    """Documents that are not in the repository must not be cited."""
    unknown = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for folder in ("studio", "packaging")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for found in re.finditer(r"performance notes|gate \(?E\d", path.read_text("utf-8"))
    ]
    assert unknown == []
