"""On-disk cache of synthesised lines, so that an interrupted or repeated export does not synthesise them again."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path

from studio import paths
from studio.audio.encoding import WAV_FLOAT
from studio.audio.files import AudioWriter, read_audio
from studio.audio.waveform import Waveform
from studio.errors import CannotWrite, DiskFull, UnreadableClip
from studio.export.speech_source import ExportItem, SpeechSource
from studio.export.target_folder import writing
from studio.model.options import Quality
from studio.pipeline.request import EngineOptions, SynthesisRequest
from studio.provenance.statement import SpokenLine
from studio.storage.disk import require_regular_file
from studio.storage.lru import delete_least_used, mark_used

_MAX_BYTES = 4 * 2**30
# Options that do not affect the audio.
_INAUDIBLE_OPTIONS = (
    "loads_speech_lm",
    "num_threads",
    "runs_lines_in_processes",
    "keeps_line_processes",
    "compares_later",
    "voice_memory_bytes",
)


class CachedSource:
    """A ``SpeechSource`` that caches the waveforms of another one.

    If the files in ``folder`` exceed ``max_bytes``, the least recently used are deleted at the start.
    """

    def __init__(self, source: SpeechSource, *, folder: Path | None = None, max_bytes: int = _MAX_BYTES) -> None:
        self._source = source
        self._folder = folder or paths.cache_folder() / "exported-speech"
        with writing(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
        delete_least_used(self._folder.iterdir(), max_bytes=max_bytes)

    def needs_speaking(self, item: ExportItem) -> bool:
        return self._source.needs_speaking(item) and not self._path(item).is_file()

    def expect(self, items: Sequence[ExportItem]) -> None:
        self._source.expect([item for item in items if self.needs_speaking(item)])

    def synthesize_waveform(self, item: ExportItem) -> Waveform:
        if not self._source.needs_speaking(item):
            return self._source.synthesize_waveform(item)
        path = self._path(item)
        with contextlib.suppress(UnreadableClip):  # missing or damaged
            kept = read_audio(path)
            mark_used(path)
            return kept
        spoken = self._source.synthesize_waveform(item)
        self._keep(path, spoken)
        return spoken

    def spoken(self, item: ExportItem) -> SpokenLine | None:
        return self._source.spoken(item)

    def _keep(self, path: Path, spoken: Waveform) -> None:
        try:
            with AudioWriter(path, spoken.sample_rate, encoding=WAV_FLOAT) as writer:
                writer.write(spoken.samples)
        except (DiskFull, CannotWrite) as error:
            # Without the cache, a joined file or a resumed export would have to speak all lines again.
            raise type(error)(
                "The speech for this export cannot be stored in {folder}: the disk is full or write-protected.",
                remedy="Free some space and export again; finished files are kept.",
                folder=self._folder,
            ) from error

    def _path(self, item: ExportItem) -> Path:
        return self._folder / f"{hashlib.sha256(item.key.encode('utf-8')).hexdigest()}.wav"


def request_cache_key(request: SynthesisRequest, model_folder: Path, options: EngineOptions) -> str:
    """Return a hash of everything that affects the audio of ``request``.

    It includes the content of the voice's clip, and the sizes and times of the model's files. Raise ``UnreadableClip``
    if the clip cannot be read.
    """
    voice = request.voice
    values = asdict(replace(request, voice=replace(voice, clip=Path(), name="")))
    values["voice"] = [_content_hash(voice.clip), voice.transcript]
    # Keys made before these fields existed remain valid.
    if (quality := values.pop("quality")) is not Quality.EXACT:
        values["quality"] = quality.value
    for name in ("known_tokens", "language"):
        if not values[name]:
            del values[name]
    run = {name: value for name, value in asdict(options).items() if name not in _INAUDIBLE_OPTIONS}
    run["idle_release_seconds"] = None  # an option of earlier versions, whose keys remain valid
    model = [
        [path.relative_to(model_folder).as_posix(), path.stat().st_size, path.stat().st_mtime_ns]
        for path in sorted(model_folder.rglob("*"))
        if path.is_file()
    ]
    return hashlib.sha256(json.dumps([values, run, model], ensure_ascii=False).encode("utf-8")).hexdigest()


def _content_hash(path: Path) -> str:
    try:
        found = path.stat()
    except OSError as error:
        raise UnreadableClip(
            "The recording {file} cannot be read ({reason}).",
            remedy="Choose another voice.",
            file=path.name,
            reason=error,
        ) from error
    return _cached_hash(path, found.st_size, found.st_mtime_ns)


@lru_cache(maxsize=256)
def _cached_hash(path: Path, _num_bytes: int, _modified_ns: int) -> str:
    require_regular_file(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
