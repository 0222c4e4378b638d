"""Audio files appear complete or not at all."""

from __future__ import annotations

import errno
import io
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile

from studio.audio.encoding import WAV_FLOAT
from studio.audio.files import AudioWriter
from studio.errors import CannotWrite, DiskFull

RATE = 24_000


def tone() -> np.ndarray:
    return (0.5 * np.sin(2 * np.pi * 300 * np.arange(RATE) / RATE)).astype(np.float32)


@pytest.mark.parametrize("suffix", [".wav", ".flac", ".ogg", ".mp3", ".WAV"])
def test_streamed_chunks_become_one_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"speech{suffix}"
    with AudioWriter(path, RATE) as writer:
        for piece in np.array_split(tone(), 7):
            writer.write(piece)
        assert not path.exists()
    written, rate = soundfile.read(path, dtype="float32")
    assert rate == RATE
    assert len(written) == RATE
    np.testing.assert_allclose(written[2000:-2000], tone()[2000:-2000], atol=0.02)
    assert list(tmp_path.iterdir()) == [path]


def test_wav_is_16_bit_and_clips(tmp_path: Path) -> None:
    samples = np.array([0.0, 0.25, 1.0, 1.5, -1.0, -7.0], np.float32)
    with AudioWriter(tmp_path / "a.wav", RATE) as writer:
        writer.write(samples)
    assert soundfile.info(tmp_path / "a.wav").subtype == "PCM_16"
    written, _ = soundfile.read(tmp_path / "a.wav", dtype="int16")
    assert written.tolist() == [0, 8192, 32767, 32767, -32768, -32768]


def test_floats_are_written_unchanged(tmp_path: Path) -> None:
    samples = np.array([0.1, 1.5, -7.0], np.float32)
    with AudioWriter(tmp_path / "a.wav", RATE, encoding=WAV_FLOAT) as writer:
        writer.write(samples)
    assert np.array_equal(soundfile.read(tmp_path / "a.wav", dtype="float32")[0], samples)


def test_an_exception_keeps_the_existing_file(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"an earlier take")

    def speak() -> None:
        with AudioWriter(path, RATE) as writer:
            writer.write(tone())
            raise InterruptedError

    with pytest.raises(InterruptedError):
        speak()
    assert path.read_bytes() == b"an earlier take"
    assert list(tmp_path.iterdir()) == [path]


def test_an_earlier_file_is_replaced_only_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"an earlier take")
    writer = AudioWriter(path, RATE)
    writer.write(tone())
    assert path.read_bytes() == b"an earlier take"
    writer.close()
    writer.close()
    assert soundfile.info(path).frames == RATE


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link.wav").symlink_to(tmp_path / "real" / "a.wav")
    with AudioWriter(tmp_path / "link.wav", RATE) as writer:
        writer.write(tone())
    assert (tmp_path / "link.wav").is_symlink()
    assert soundfile.info(tmp_path / "real" / "a.wav").frames == RATE


class FailingDisk:
    """Open real files whose writes fail with ``error_number`` after ``num_bytes``."""

    def __init__(self, num_bytes: int, error_number: int) -> None:
        self.num_bytes = num_bytes
        self.error_number = error_number

    def open(self, path: Path, mode: str) -> io.FileIO:
        disk = self

        class File(io.FileIO):
            def write(self, data: bytes) -> int:
                disk.num_bytes -= len(data)
                if disk.num_bytes < 0:
                    raise OSError(disk.error_number, os.strerror(disk.error_number))
                return super().write(data)

        return File(path, mode)


@pytest.mark.parametrize("suffix", [".wav", ".flac", ".ogg", ".mp3"])
@pytest.mark.parametrize("num_bytes", [0, 5000, 20_000])
def test_a_full_disk_is_reported_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], suffix: str, num_bytes: int
) -> None:
    monkeypatch.setattr("studio.audio.files.FileIO", FailingDisk(num_bytes, errno.ENOSPC).open)
    noise = np.random.default_rng(0).normal(0, 0.3, 10 * RATE).astype(np.float32)

    def speak() -> None:
        with AudioWriter(tmp_path / f"a{suffix}", RATE) as writer:
            for piece in np.array_split(noise, 10):
                writer.write(piece)

    with pytest.raises(DiskFull, match=rf"disk is full: a{suffix} could not be written"):
        speak()
    assert list(tmp_path.iterdir()) == []
    assert "Traceback" not in capfd.readouterr().err


def test_a_disk_error_on_close_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The header is written last."""
    path = tmp_path / "a.wav"
    path.write_bytes(b"an earlier take")
    disk = FailingDisk(10**9, errno.EIO)
    monkeypatch.setattr("studio.audio.files.FileIO", disk.open)
    writer = AudioWriter(path, RATE)
    writer.write(tone())
    disk.num_bytes = 0
    with pytest.raises(CannotWrite, match="cannot be written"):
        writer.close()
    assert path.read_bytes() == b"an earlier take"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a real file system that is full")
def test_a_write_protected_folder_is_reported() -> None:
    with pytest.raises(CannotWrite, match="cannot be written"):
        AudioWriter(Path("/proc/self/a.wav"), RATE)


def test_unusable_targets_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder.wav").mkdir()
    with pytest.raises(CannotWrite, match="not an ordinary file"):
        AudioWriter(tmp_path / "folder.wav", RATE)
    with pytest.raises(CannotWrite, match="There is no folder"):
        AudioWriter(tmp_path / "none" / "a.wav", RATE)
    with pytest.raises(CannotWrite, match=r"\.m4a is not a supported audio format") as caught:
        AudioWriter(tmp_path / "a.m4a", RATE)
    assert ".wav, .flac, .ogg, .mp3" in str(caught.value.remedy)
    with pytest.raises(CannotWrite, match="cannot be written"):
        AudioWriter(tmp_path / ("long" * 100 + ".wav"), RATE)
    with pytest.raises(CannotWrite, match="a file without a suffix"):
        AudioWriter(tmp_path / "a", RATE)
    with pytest.raises(CannotWrite, match="does not support a sample rate of 96000 Hz"):
        AudioWriter(tmp_path / "a.mp3", 96_000)
    (tmp_path / "old.wav").write_bytes(b"mine")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(CannotWrite, match="write-protected"):
        AudioWriter(tmp_path / "old.wav", RATE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.wav", "old.wav"]


@pytest.mark.skipif(sys.platform == "win32", reason="no device files there")
def test_a_device_is_never_replaced() -> None:
    link = Path("/dev/null")
    with pytest.raises(CannotWrite, match=r"a file without a suffix is not a supported"):
        AudioWriter(link, RATE)
    assert link.is_char_device()
