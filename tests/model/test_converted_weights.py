"""Converted weights in the cache."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from studio import paths
from studio.model import converted_weights as module
from studio.model.converted_weights import converted_weights, discard_converted_weights, has_converted_weights


class Converter:
    """Counts its calls."""

    def __init__(self) -> None:
        self.num_calls = 0

    def __call__(self) -> dict[str, torch.Tensor]:
        self.num_calls += 1
        return {
            "levels": torch.arange(1001, dtype=torch.uint8).reshape(7, 143),
            "scales": torch.linspace(0, 1, 33),
            "half": torch.ones(3, 5, dtype=torch.bfloat16),
        }


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIMBRE_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "llm.pt"
    path.write_bytes(b"weights")
    return path


def files() -> list[Path]:
    return sorted((paths.cache_folder() / "weights").glob("*"))


def test_weights_are_converted_once_and_then_mapped(source: Path) -> None:
    convert = Converter()
    assert not has_converted_weights(source, "lm int8", "form")
    first = converted_weights(source, "lm int8", "form", convert)
    again = converted_weights(source, "lm int8", "form", convert)
    assert has_converted_weights(source, "lm int8", "form")
    assert convert.num_calls == 1
    for found in (first, again):
        assert found.keys() == convert().keys()
        assert all(torch.equal(found[name], wanted) for name, wanted in convert().items())


def test_other_weights_and_another_form_are_converted_again_and_stale_files_deleted(source: Path) -> None:
    convert = Converter()
    converted_weights(source, "lm int8", "form", convert)
    converted_weights(source, "lm int4", "form", convert)
    assert convert.num_calls == len(files()) == 2
    converted_weights(source, "lm int4", "form of a later version", convert)
    assert convert.num_calls == 3
    assert len(files()) == 2
    source.write_bytes(b"other weights")
    converted_weights(source, "lm int8", "form", convert)
    assert convert.num_calls == 4
    assert len(files()) == 1


def test_files_of_deleted_models_and_of_earlier_programs_are_deleted(source: Path) -> None:
    other = source.with_name("other.pt")
    other.write_bytes(b"weights")
    converted_weights(source, "flow", "form", Converter())
    converted_weights(other, "flow", "form", Converter())
    save_file(Converter()(), files()[0].with_name("earlier.safetensors"), {"checksum": "without a source"})
    assert len(files()) == 3
    other.unlink()
    converted_weights(source, "lm", "form", Converter())
    assert len(files()) == 2
    assert all(has_converted_weights(source, kind, "form") for kind in ("flow", "lm"))


def test_weights_that_are_not_used_are_discarded(source: Path) -> None:
    discard_converted_weights(source, "flow", "form")
    converted_weights(source, "flow", "form", Converter())
    discard_converted_weights(source, "flow", "form")
    assert not files()


@pytest.mark.parametrize("damage", ["one byte", "cut", "empty", "other file"])
def test_a_damaged_file_is_written_again(source: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    convert = Converter()
    converted_weights(source, "lm int8", "form", convert)
    (path,) = files()
    content = bytearray(path.read_bytes())
    if damage == "one byte":
        content[-20] ^= 4
    damaged = {"cut": content[:-9], "empty": b"", "other file": b"no tensors at all"}.get(damage, content)
    path.unlink()  # a mapped file must not change
    path.write_bytes(damaged)
    with caplog.at_level(logging.WARNING):
        found = converted_weights(source, "lm int8", "form", convert)
    assert torch.equal(found["levels"], convert()["levels"])
    assert "damaged" in caplog.text
    caplog.clear()
    converted_weights(source, "lm int8", "form", convert)
    assert not caplog.text


def test_without_a_cache_the_weights_are_converted_each_time(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    convert = Converter()
    monkeypatch.setenv("TIMBRE_CACHE", str(source))  # not a folder
    for num_calls in (1, 2):
        found = converted_weights(source, "lm int8", "form", convert)
        assert convert.num_calls == num_calls
        assert torch.equal(found["scales"], torch.linspace(0, 1, 33))


def test_the_least_recently_used_files_are_deleted(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_FILES", 2)
    for age, kind in ((20, "a"), (10, "b")):
        before = set(files())
        converted_weights(source, kind, "form", Converter())
        (path,) = set(files()) - before
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    converted_weights(source, "a", "form", Converter())  # used
    converted_weights(source, "c", "form", Converter())
    assert [kind for kind in "abc" if has_converted_weights(source, kind, "form")] == ["a", "c"]
