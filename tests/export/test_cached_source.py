"""Cached speech has the same samples as the original, and the oldest files are deleted at the size limit."""

from __future__ import annotations

import errno
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from speech_fakes import TEXTS, FakeSpeechSource, items_of

from studio.errors import DiskFull
from studio.export.cached_source import CachedSource

ITEMS = items_of(TEXTS)


def test_cached_lines_are_not_spoken_again_and_have_the_same_samples(tmp_path: Path) -> None:
    source = FakeSpeechSource()
    kept = CachedSource(source, folder=tmp_path)
    assert kept.needs_speaking(ITEMS[0])
    first = kept.synthesize_waveform(ITEMS[0])
    assert not kept.needs_speaking(ITEMS[0])
    second = CachedSource(source, folder=tmp_path).synthesize_waveform(ITEMS[0])
    np.testing.assert_array_equal(first.samples, second.samples)
    assert first.sample_rate == second.sample_rate
    assert source.spoken_texts == [TEXTS[0]]
    kept.synthesize_waveform(replace(ITEMS[0], key="another seed"))
    assert len(source.spoken_texts) == 2


def test_cached_lines_are_not_announced_to_the_source(tmp_path: Path) -> None:
    source = FakeSpeechSource()
    kept = CachedSource(source, folder=tmp_path)
    kept.synthesize_waveform(ITEMS[1])
    kept.expect(ITEMS)
    assert source.expected == [TEXTS[0], TEXTS[2], TEXTS[3]]


def test_a_damaged_file_is_spoken_again(tmp_path: Path) -> None:
    source = FakeSpeechSource()
    kept = CachedSource(source, folder=tmp_path)
    kept.synthesize_waveform(ITEMS[0])
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:1000])
    kept.synthesize_waveform(ITEMS[0])
    assert len(source.spoken_texts) == 2


def test_lines_that_need_no_speaking_are_not_cached(tmp_path: Path) -> None:
    CachedSource(FakeSpeechSource(is_spoken=False), folder=tmp_path).synthesize_waveform(ITEMS[0])
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    kept = CachedSource(FakeSpeechSource(), folder=tmp_path)
    monkeypatch.setattr("studio.audio.files.FileIO", full)
    with pytest.raises(DiskFull, match="cannot be stored in") as caught:
        kept.synthesize_waveform(ITEMS[0])
    assert str(tmp_path) in str(caught.value.problem)
    assert list(tmp_path.iterdir()) == []


def test_the_oldest_files_are_deleted_at_the_limit(tmp_path: Path) -> None:
    source = FakeSpeechSource()
    kept = CachedSource(source, folder=tmp_path)
    for age, item in zip((300, 200, 100, 0), ITEMS, strict=True):
        known = set(tmp_path.iterdir())
        kept.synthesize_waveform(item)
        (new,) = set(tmp_path.iterdir()) - known
        os.utime(new, (time.time() - age, time.time() - age))
    size = sum(path.stat().st_size for path in tmp_path.glob("*.wav"))
    kept = CachedSource(source, folder=tmp_path, max_bytes=size - 1)
    assert [kept.needs_speaking(item) for item in ITEMS] == [True, False, False, False]
