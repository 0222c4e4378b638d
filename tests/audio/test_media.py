"""Decoding with the ffmpeg program, and its failures."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
import soundfile
from test_reading import RATE, tone, write_media, write_silent_film

from studio.audio import media
from studio.audio.files import read_audio
from studio.audio.media import ffmpeg_version, find_ffmpeg, read_with_ffmpeg
from studio.errors import ClipTooLong, UnreadableClip

posix = pytest.mark.skipif(sys.platform == "win32", reason="programs here are scripts")


@pytest.fixture
def without_pyav(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that hides PyAV. The test files are written with PyAV before that."""
    return lambda: monkeypatch.setitem(sys.modules, "av", None)


@pytest.fixture
def ffmpeg_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The real ffmpeg, under its usual name."""
    program = tmp_path / "programs" / ("ffmpeg.exe" if sys.platform == "win32" else "ffmpeg")
    program.parent.mkdir()
    program.hardlink_to(imageio_ffmpeg.get_ffmpeg_exe())
    monkeypatch.setenv("PATH", str(program.parent))
    return program


@pytest.fixture
def pretended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Create a script that replaces ffmpeg."""

    def pretend(does: str) -> Path:
        program = tmp_path / "programs" / "ffmpeg"
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!{sys.executable}\nimport os, struct, sys, time\n{does}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(program.parent))
        return program

    return pretend


def head(*, rate: int = RATE, channels: int = 1, encoding: int = 6) -> bytes:
    return struct.pack(">4sIIIII", b".snd", 32, 0xFFFFFFFF, encoding, rate, channels) + bytes(8)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "codec", "rate"),
    [("clip.m4a", "aac", 44_100), ("film.mp4", "aac", 48_000), ("call.webm", "libopus", 48_000)],
)
@pytest.mark.parametrize("num_channels", [1, 2])
@pytest.mark.usefixtures("ffmpeg_on_path")
def test_phone_recordings_and_videos_read_the_same_as_with_pyav(
    tmp_path: Path, without_pyav: Callable[[], None], name: str, codec: str, rate: int, num_channels: int
) -> None:
    sound = np.random.default_rng(7).normal(0, 0.1, (num_channels, 3 * rate)).astype(np.float32)
    path = tmp_path / f"说话 -i {name}"
    write_media(path, codec, sound, rate, extra_video=name == "film.mp4")
    theirs = read_audio(path)
    without_pyav()
    ours = read_audio(path)
    assert ours.sample_rate == theirs.sample_rate == rate
    assert ours.seconds == pytest.approx(theirs.seconds, abs=0.06)
    # One of the two decoders may keep the padding that a codec puts at the beginning.
    middle, around = ours.samples[rate : rate + 8192], theirs.samples[rate - 4096 : rate + 16_384]
    start = int(np.correlate(around, middle, mode="valid").argmax())
    np.testing.assert_allclose(around[start : start + len(middle)], middle, atol=1e-3)


@pytest.mark.slow
@pytest.mark.usefixtures("ffmpeg_on_path")
def test_reading_ends_as_soon_as_it_is_too_long(tmp_path: Path, without_pyav: Callable[[], None]) -> None:
    write_media(tmp_path / "long.m4a", "aac", tone(31.0, rate=16_000)[None], 16_000)
    without_pyav()
    with pytest.raises(ClipTooLong, match=r"long\.m4a is longer than 30 s"):
        read_audio(tmp_path / "long.m4a", longest_seconds=30.0)


@pytest.mark.usefixtures("ffmpeg_on_path")
def test_a_video_without_audio_differs_from_a_damaged_file(tmp_path: Path, without_pyav: Callable[[], None]) -> None:
    write_silent_film(tmp_path / "film.mp4")
    write_media(tmp_path / "clip.m4a", "aac", tone(3.0)[None], RATE)
    (tmp_path / "cut.m4a").write_bytes((tmp_path / "clip.m4a").read_bytes()[:3000])
    without_pyav()
    with pytest.raises(UnreadableClip, match=r"film\.mp4 contains no audio"):
        read_audio(tmp_path / "film.mp4")
    with pytest.raises(UnreadableClip, match=r"cut\.m4a is not a readable audio file"):
        read_audio(tmp_path / "cut.m4a")


@pytest.mark.parametrize("has_pyav", [True, False])
@pytest.mark.usefixtures("ffmpeg_on_path")
def test_an_unknown_codec_is_reported(tmp_path: Path, without_pyav: Callable[[], None], has_pyav: bool) -> None:
    """Copy-protected videos and music have such codecs."""
    write_media(tmp_path / "clip.m4a", "aac", tone(1.0)[None], RATE)
    content = (tmp_path / "clip.m4a").read_bytes()
    (tmp_path / "bought.m4a").write_bytes(content.replace(b"mp4a", b"drms").replace(b"esds", b"free"))
    if not has_pyav:
        without_pyav()
    with pytest.raises(UnreadableClip, match=r"bought\.m4a is not a readable audio file"):
        read_audio(tmp_path / "bought.m4a")


@pytest.mark.parametrize("has_pyav", [True, False])
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("list.m4a", "ffconcat version 1.0\nfile private.mp3\n"),
        ("list.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\nprivate.mp3\n#EXT-X-ENDLIST\n"),
        ("list.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\nhttp://127.0.0.1:9/clip.mp3\n#EXT-X-ENDLIST\n"),
    ],
)
@pytest.mark.usefixtures("ffmpeg_on_path")
def test_a_playlist_is_not_followed(
    tmp_path: Path, without_pyav: Callable[[], None], name: str, content: str, has_pyav: bool
) -> None:
    soundfile.write(tmp_path / "private.mp3", tone(), RATE)
    if not has_pyav:
        without_pyav()
    (tmp_path / name).write_text(content)
    with pytest.raises(UnreadableClip, match=rf"{name} is not a readable audio file"):
        read_audio(tmp_path / name)


def test_the_version_is_parsed(ffmpeg_on_path: Path) -> None:
    assert find_ffmpeg() == ffmpeg_on_path
    assert ffmpeg_version(ffmpeg_on_path) in imageio_ffmpeg.get_ffmpeg_version()


@posix
def test_a_program_in_the_current_folder_is_not_used(
    pretended, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pretended("print('never')")
    monkeypatch.chdir(tmp_path / "programs")
    monkeypatch.setenv("PATH", ":.:programs")
    assert find_ffmpeg() is None


@posix
def test_the_command_allows_one_file_and_no_network(pretended, tmp_path: Path) -> None:
    program = pretended(f"open({str(tmp_path / 'asked')!r}, 'w').write('\\n'.join(sys.argv[1:])); sys.exit(1)")
    with pytest.raises(UnreadableClip):
        list(read_with_ffmpeg(program, Path("-y;`rm`.m4a")))
    asked = (tmp_path / "asked").read_text().split("\n")
    assert asked[asked.index("-i") + 1] == f"file:{Path.cwd()}/-y;`rm`.m4a"
    before = asked[: asked.index("-i")]  # the options after the input apply to the output
    assert before[before.index("-protocol_whitelist") + 1] == "file"
    assert {"hls", "concat", "dash", "sdp"}.isdisjoint(before[before.index("-format_whitelist") + 1].split(","))
    assert "-nostdin" in asked


@posix
def test_channels_are_averaged_for_any_chunk_size(pretended, tmp_path: Path) -> None:
    content = head(channels=2) + np.array([1.0, 0.0, 0.5, -0.5, -1.0, -0.5], ">f4").tobytes()
    write = "os.write(1, bytes([each]))"
    program = pretended(f"for each in {content!r}:\n    {write}")
    blocks = list(read_with_ffmpeg(program, tmp_path / "a.m4a"))
    np.testing.assert_array_equal(np.concatenate([block for block, _ in blocks]), np.float32([0.5, 0.0, -0.75]))
    assert {rate for _, rate in blocks} == {RATE}


@pytest.mark.slow
@posix
def test_a_stalled_program_is_killed(pretended, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "_SILENCE_SECONDS", 0.5)
    program = pretended("time.sleep(600)")
    with pytest.raises(UnreadableClip, match=r"stopped responding while reading memo\.m4a") as caught:
        list(read_with_ffmpeg(program, tmp_path / "memo.m4a"))
    assert "WAV, FLAC or MP3" in str(caught.value.remedy)


@posix
def test_closing_the_iterator_kills_the_program(pretended, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def popen(*arguments, **options):
        started.append(real(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", popen)
    program = pretended(f"os.write(1, {head()!r})\nwhile True: os.write(1, bytes(1 << 16))")
    blocks = read_with_ffmpeg(program, tmp_path / "endless.m4a")
    next(blocks)
    assert started[0].poll() is None
    blocks.close()
    assert started[0].returncode == -9


@posix
def test_endless_audio_is_too_long(pretended, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(media, "_MAX_SECONDS", 2)
    program = pretended(f"os.write(1, {head()!r})\nwhile True: os.write(1, bytes(1 << 16))")
    with pytest.raises(ClipTooLong, match="is longer than 2 s"):
        list(read_with_ffmpeg(program, tmp_path / "endless.m4a"))


@posix
@pytest.mark.parametrize(
    "does",
    [
        "pass",
        "os.write(1, b'not what was asked for, and then some more of it')",
        f"os.write(1, {head(channels=0)!r})",
        f"os.write(1, {head(channels=9_999)!r})",
        f"os.write(1, {head(encoding=3)!r})",
        f"os.write(1, {head()!r} + bytes(4000)); sys.exit(3)",
        f"os.write(1, {head()!r} + bytes(4000)); os.kill(os.getpid(), 11)",
    ],
)
def test_a_failing_program_is_reported(pretended, tmp_path: Path, does: str) -> None:
    program = pretended(does)
    with pytest.raises(UnreadableClip, match=r"memo\.m4a is not a readable audio file"):
        list(read_with_ffmpeg(program, tmp_path / "memo.m4a"))


@posix
def test_a_program_that_does_not_start_is_reported(pretended, tmp_path: Path) -> None:
    program = pretended("")
    program.write_bytes(b"\x7fELF, or nearly so")
    with pytest.raises(UnreadableClip, match=r"does not start \(Exec format error\)"):
        list(read_with_ffmpeg(program, tmp_path / "memo.m4a"))
    assert ffmpeg_version(program) is None
