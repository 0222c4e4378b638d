"""Writing of audiobooks: AAC in an MP4 container (.m4b) with chapters, tags and a cover.

PyAV writes the file if it is installed, else the ffmpeg program (see ``media.py`` for the reasons).
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from studio.audio.media import NO_CONSOLE, find_ffmpeg
from studio.audio.resampling import Samples
from studio.errors import CannotWrite, UnusableSetting
from studio.system.installation import media_hint

M4B_SUFFIX = ".m4b"
BIT_RATE = 96_000  # transparent for mono speech in AAC-LC
_FRAME_SAMPLES = 1024  # of AAC-LC
_JPEG, _PNG = b"\xff\xd8", b"\x89PNG"
_SPECIAL_LETTERS = str.maketrans({letter: f"\\{letter}" for letter in "=;#\\\n"})


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter from its first sample to the first sample after it."""

    title: str
    start_samples: int
    end_samples: int


@dataclass(frozen=True, slots=True)
class BookFacts:
    """Tags and chapters of an audiobook. ``cover`` is a JPEG or PNG image."""

    title: str = ""
    author: str = ""
    narrator: str = ""
    comment: str = ""
    chapters: Sequence[Chapter] = ()
    cover: bytes | None = None

    @property
    def tags(self) -> dict[str, str]:
        tags = {
            "title": self.title,
            "album": self.title,
            "artist": self.author,
            "album_artist": self.author,
            "composer": self.narrator,
            "comment": self.comment,
            "genre": "Audiobook",
        }
        return {name: value for name, value in tags.items() if value}


class AudiobookWriter(Protocol):
    def write(self, samples: Samples) -> None:
        """Append samples (n,) in -1..1."""


def is_cover(image: bytes) -> bool:
    """Return whether ``image`` is a JPEG or PNG, the formats that players show, and can be decoded."""
    demuxer = _demuxer_of(image)
    if demuxer is None:
        return False
    if _has_pyav():
        return _is_decoded_by_pyav(image, demuxer)
    program = find_ffmpeg()
    return program is None or _is_decoded_by_ffmpeg(program, image, demuxer)


def require_m4b(cover: bytes | None) -> None:
    """Raise ``CannotWrite`` if neither PyAV nor ffmpeg is installed, and ``UnusableSetting`` if ``cover`` is damaged."""
    if not _has_pyav():
        _require_ffmpeg()
    if cover is not None and not is_cover(cover):
        raise UnusableSetting(
            "The cover of the audiobook is not a readable JPEG or PNG image.",
            remedy="Choose another cover, or remove it.",
        )


def write_m4b(path: Path, sample_rate: int, facts: BookFacts) -> AbstractContextManager[AudiobookWriter]:
    """Return a writer, whose file is complete at the end of the block. The cover satisfies ``is_cover``.

    Chapters must be known in advance, because they precede the audio in the file. Raise ``CannotWrite`` if neither PyAV
    nor ffmpeg is installed or the file cannot be encoded. ``OSError`` passes through.
    """
    return _PyavBook(path, sample_rate, facts) if _has_pyav() else _FfmpegBook(path, sample_rate, facts)


def _has_pyav() -> bool:
    try:
        import av  # noqa: F401, PLC0415 -- an optional extra
    except ImportError:
        return False
    return True


class _PyavBook:
    def __init__(self, part: Path, sample_rate: int, facts: BookFacts) -> None:
        import av  # noqa: PLC0415 -- an optional extra

        self._part = part
        self._rate = sample_rate
        self._waiting: Samples = np.zeros(0, np.float32)
        self._num_written = 0
        with _pyav_errors(part):
            self._container = av.open(str(part), "w", format="mp4", options={"movflags": "+faststart"})
            self._container.metadata.update(facts.tags)
            self._audio: Any = self._container.add_stream("aac", rate=sample_rate, layout="mono")
            self._audio.bit_rate = BIT_RATE
            cover = self._add_cover(facts.cover)
            self._container.set_chapters(
                [
                    {
                        "id": number,
                        "start": chapter.start_samples,
                        "end": chapter.end_samples,
                        "time_base": Fraction(1, sample_rate),
                        "metadata": {"title": chapter.title},
                    }
                    for number, chapter in enumerate(facts.chapters)
                ]
            )
            if cover is not None:
                self._container.mux(cover)

    def _add_cover(self, image: bytes | None) -> Any:
        """Add a picture stream and return its packet; None without an image."""
        import av  # noqa: PLC0415 -- an optional extra

        if image is None:
            return None
        stream: Any = self._container.add_stream("mjpeg" if image.startswith(_JPEG) else "png")
        with av.open(io.BytesIO(image), format=_demuxer_of(image)) as picture:
            size = picture.streams.video[0]
            stream.width, stream.height, stream.pix_fmt = size.width, size.height, size.format.name
        stream.disposition = av.stream.Disposition.attached_pic
        packet = av.Packet(image)
        packet.stream, packet.pts, packet.dts = stream, 0, 0
        return packet

    def write(self, samples: Samples) -> None:
        waiting = np.concatenate([self._waiting, np.clip(samples, -1.0, 1.0).astype(np.float32, copy=False)])
        num_whole = len(waiting) - len(waiting) % _FRAME_SAMPLES
        self._waiting = waiting[num_whole:]
        for start in range(0, num_whole, _FRAME_SAMPLES):
            self._encode(waiting[start : start + _FRAME_SAMPLES])

    def _encode(self, samples: Samples) -> None:
        import av  # noqa: PLC0415 -- an optional extra

        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(samples[None]), format="fltp", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = self._rate, self._num_written, Fraction(1, self._rate)
        self._num_written += len(samples)
        with _pyav_errors(self._part):
            self._container.mux(self._audio.encode(frame))

    def __enter__(self) -> _PyavBook:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with _pyav_errors(self._part) if kind is None else contextlib.suppress(Exception):
            if kind is None:
                if len(self._waiting):
                    self._encode(self._waiting)
                self._container.mux(self._audio.encode(None))
            self._container.close()


def _demuxer_of(image: bytes) -> str | None:
    """Return FFmpeg's name of the format. It is never left to FFmpeg, which would follow playlists."""
    return "jpeg_pipe" if image.startswith(_JPEG) else "png_pipe" if image.startswith(_PNG) else None


def _is_decoded_by_pyav(image: bytes, demuxer: str) -> bool:
    import av  # noqa: PLC0415 -- an optional extra

    try:
        with av.open(io.BytesIO(image), "r", format=demuxer) as picture:
            picture.streams.video[0].codec_context.options = {"err_detect": "explode"}
            return next(picture.decode(video=0), None) is not None
    except (av.error.FFmpegError, LookupError):  # also without a decodable stream
        return False


def _is_decoded_by_ffmpeg(program: Path, image: bytes, demuxer: str) -> bool:
    options = ["-v", "error", "-xerror", "-err_detect", "explode", "-f", demuxer, "-i", "pipe:0"]
    ran = subprocess.run(  # noqa: S603 - without a shell
        [str(program), *options, "-frames:v", "1", "-f", "null", "-"],
        input=image,
        capture_output=True,
        check=False,
        creationflags=NO_CONSOLE,
    )
    return ran.returncode == 0


def _require_ffmpeg() -> Path:
    program = find_ffmpeg()
    if program is None:
        raise CannotWrite(
            "Writing audiobooks (.m4b) needs ffmpeg, which is not installed.",
            remedy="{how} Or export WAV, FLAC or MP3.",
            how=media_hint(),
        )
    return program


@contextlib.contextmanager
def _pyav_errors(part: Path) -> Iterator[None]:
    import av  # noqa: PLC0415 -- an optional extra

    try:
        yield
    except OSError:  # disk errors, which FFmpeg reports with the system's error number
        raise
    except (av.error.FFmpegError, ValueError) as error:
        raise _cannot_encode(part, error) from error


def _cannot_encode(part: Path, reason: object) -> CannotWrite:
    return CannotWrite(
        "The audiobook cannot be encoded ({reason}).",
        remedy="Export WAV or FLAC instead.",
        reason=reason,
        path=part,
    )


class _FfmpegBook:
    """Pipes samples into one ffmpeg process, which gets the chapters from a metadata file."""

    def __init__(self, part: Path, sample_rate: int, facts: BookFacts) -> None:
        program = _require_ffmpeg()
        self._part = part
        self._folder = tempfile.TemporaryDirectory(prefix="timbre-")
        folder = Path(self._folder.name)
        (folder / "facts.txt").write_text(_ffmetadata(facts, sample_rate), "utf-8")
        inputs = ["-f", "f32le", "-ar", str(sample_rate), "-ac", "1", "-i", "pipe:0", "-i", str(folder / "facts.txt")]
        maps = ["-map", "0:a", "-map_metadata", "1", "-map_chapters", "1"]
        if facts.cover is not None:
            (folder / "cover").write_bytes(facts.cover)
            inputs += ["-f", str(_demuxer_of(facts.cover)), "-i", str(folder / "cover")]
            maps += ["-map", "2:v", "-c:v", "copy", "-disposition:v:0", "attached_pic"]
        command = [str(program), "-hide_banner", "-loglevel", "error", "-y", *inputs, *maps]
        command += ["-c:a", "aac", "-b:a", str(BIT_RATE), "-movflags", "+faststart", "-f", "mp4", str(part)]
        self._errors = (folder / "errors.txt").open("w+b")
        self._process = subprocess.Popen(  # noqa: S603 - without a shell
            command, stdin=subprocess.PIPE, stdout=self._errors, stderr=self._errors, creationflags=NO_CONSOLE
        )

    def write(self, samples: Samples) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(np.clip(samples, -1.0, 1.0).astype("<f4").tobytes())
        except BrokenPipeError as error:
            raise self._failure() from error

    def __enter__(self) -> _FfmpegBook:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                with contextlib.suppress(BrokenPipeError):
                    assert self._process.stdin is not None
                    self._process.stdin.close()
                if self._process.wait() != 0:
                    raise self._failure()
        finally:
            self._process.kill()
            with contextlib.suppress(OSError):
                self._process.communicate()
            self._errors.close()
            self._folder.cleanup()

    def _failure(self) -> CannotWrite:
        self._errors.seek(0)
        lines = self._errors.read(1 << 16).decode(errors="replace").strip().splitlines()
        return _cannot_encode(self._part, lines[-1] if lines else "ffmpeg")


def _ffmetadata(facts: BookFacts, sample_rate: int) -> str:
    """Return tags and chapters in the format that ffmpeg reads: https://ffmpeg.org/ffmpeg-formats.html#Metadata-2."""
    lines = [";FFMETADATA1", *(f"{name}={value.translate(_SPECIAL_LETTERS)}" for name, value in facts.tags.items())]
    for chapter in facts.chapters:
        lines += [
            "[CHAPTER]",
            f"TIMEBASE=1/{sample_rate}",
            f"START={chapter.start_samples}",
            f"END={chapter.end_samples}",
            f"title={chapter.title.translate(_SPECIAL_LETTERS)}",
        ]
    return "\n".join((*lines, ""))
