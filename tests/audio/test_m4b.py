"""Audiobook files, read back with FFmpeg's libraries."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from studio.audio import m4b
from studio.audio.m4b import BookFacts, Chapter, is_cover, require_m4b, write_m4b
from studio.errors import CannotWrite, UnusableSetting
from studio.storage.atomic_file import atomic_path

av = pytest.importorskip("av")
RATE = 44_100
FACTS = BookFacts(
    title="The Harbour; or #1 = One",
    author="Jane Writer",
    narrator="Anna",
    chapters=(Chapter("One", 0, RATE), Chapter("第二章\\ Two", RATE, 3 * RATE)),
)


def speech(seconds: float = 3.0) -> np.ndarray:
    return (0.2 * np.sin(np.arange(round(seconds * RATE)) * 2 * np.pi * 220 / RATE)).astype(np.float32)


def jpeg() -> bytes:
    image = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 200, np.uint8), format="rgb24")
    output = io.BytesIO()
    with av.open(output, "w", format="image2pipe") as container:
        stream = container.add_stream("mjpeg", rate=1)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuvj420p"
        container.mux(stream.encode(image))
        container.mux(stream.encode(None))
    return output.getvalue()


@pytest.fixture(params=["pyav", "ffmpeg"])
def encoder(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "ffmpeg":
        program = Path(pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe())
        monkeypatch.setattr(m4b, "_has_pyav", lambda: False)
        monkeypatch.setattr(m4b, "find_ffmpeg", lambda: program)
    return str(request.param)


def write(path: Path, facts: BookFacts, samples: np.ndarray) -> None:
    with atomic_path(path) as part, write_m4b(part, RATE, facts) as book:
        for piece in np.array_split(samples, 7):
            book.write(piece)


def test_chapters_tags_and_audio_are_read_back(encoder: str, tmp_path: Path) -> None:
    path = tmp_path / "a.m4b"
    samples = speech()
    write(path, FACTS, samples)
    with av.open(str(path)) as container:
        chapters = [
            (
                chapter["metadata"]["title"],
                float(chapter["start"] * chapter["time_base"]),
                float(chapter["end"] * chapter["time_base"]),
            )
            for chapter in container.chapters()
        ]
        assert chapters == [("One", 0.0, 1.0), ("第二章\\ Two", 1.0, 3.0)]
        tags = {name: container.metadata.get(name) for name in ("title", "album", "artist", "composer", "genre")}
        assert tags == {
            "title": FACTS.title,
            "album": FACTS.title,
            "artist": "Jane Writer",
            "composer": "Anna",
            "genre": "Audiobook",
        }
        decoded = np.concatenate([frame.to_ndarray()[0] for frame in container.decode(audio=0)])
    # AAC adds less than two frames of padding, and the encoder is lossy.
    shift = int(np.argmax(np.correlate(decoded[: RATE // 4], samples[: RATE // 8], "valid")))
    assert abs(len(decoded) - len(samples)) <= 3 * 1024
    middle = decoded[shift + RATE : shift + 2 * RATE] - samples[RATE : 2 * RATE]
    assert np.sqrt(np.mean(middle**2)) < 0.01


def test_a_cover_is_attached(encoder: str, tmp_path: Path) -> None:
    path = tmp_path / "a.m4b"
    write(path, BookFacts(title="A", cover=jpeg()), speech(0.5))
    with av.open(str(path)) as container:
        (picture,) = container.streams.video
        assert (picture.width, picture.height) == (64, 48)
        assert len(container.streams.audio) == 1


def test_without_an_encoder_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(m4b, "_has_pyav", lambda: False)
    monkeypatch.setattr(m4b, "find_ffmpeg", lambda: None)
    with pytest.raises(CannotWrite, match="needs ffmpeg, which is not installed"):
        write(tmp_path / "a.m4b", FACTS, speech(0.1))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CannotWrite, match="needs ffmpeg, which is not installed"):
        m4b.require_m4b(None)


@pytest.mark.usefixtures("encoder")
def test_a_cover_is_decoded_before_it_is_used() -> None:
    image = jpeg()
    assert is_cover(image)
    require_m4b(image)
    require_m4b(None)
    for damaged in (b"GIF89a", b"\xff\xd8 no image", b"\x89PNG<svg/>", image[: len(image) // 2], b"\xff\xd8\xff", b""):
        assert not is_cover(damaged), damaged
        with pytest.raises(UnusableSetting, match="is not a readable JPEG or PNG image"):
            require_m4b(damaged)
