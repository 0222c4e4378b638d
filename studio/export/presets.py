"""Options of exports: presets for video, podcasts, audiobooks and games, and the settings that values of options describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from studio import settings as declared
from studio.audio.encoding import encoding_named
from studio.export.book import BookDetails
from studio.export.joined_files import FilePer
from studio.export.mastering import LoudnessTarget
from studio.export.names import DEFAULT_CHAPTER_PATTERN
from studio.export.plan import ExportSettings
from studio.export.provenance import Provenance
from studio.export.standards import standard_named
from studio.export.subtitles import SubtitleFormat
from studio.export.target_folder import Origin
from studio.messages import Message, message
from studio.setting_kinds import Setting

_WITHOUT_CHAPTERS = ("lines", "joined", "both")  # values of EXPORT_FILES for which original times are possible

_JOINED_PER = {"characters": FilePer.CHARACTER, "languages": FilePer.LANGUAGE}  # by values of EXPORT_PLACEMENT

# Settings that the export dialog shows, and stores when an export starts.
EXPORT_OPTIONS: tuple[Setting[Any], ...] = (
    declared.EXPORT_FOLDER,
    declared.EXPORT_FILES,
    declared.EXPORT_PLACEMENT,
    declared.EXPORT_PATTERN,
    declared.EXPORT_ENCODING,
    declared.EXPORT_SAMPLE_RATE,
    declared.EXPORT_HAS_ONE_PAUSE,
    declared.EXPORT_PAUSE_SECONDS,
    declared.EXPORT_STANDARD,
    declared.EXPORT_ROOM_TONE,
    declared.EXPORT_MATCHES_LOUDNESS,
    declared.EXPORT_LUFS,
    declared.EXPORT_TRUE_PEAK,
    declared.EXPORT_IS_TRIMMED,
    declared.EXPORT_SUBTITLES,
    declared.EXPORT_HAS_MANIFEST,
    declared.EXPORT_HAS_DISCLAIMER,
    declared.EXPORT_WAITS_FOR_CHECKS,
)


def export_settings(
    values: Mapping[Setting[Any], Any],
    *,
    joined_name: str,
    project_name: str,
    provenance: Provenance,
    origin: Origin,
    replaces_files: bool,
    book: BookDetails = BookDetails(),  # noqa: B008 - frozen
    has_times: bool = False,
    guide_track: str | None = None,
    style_names: Mapping[str, str] = MappingProxyType({}),
) -> ExportSettings:
    """Return the settings of an export with the ``values`` of the form. Raise ``UnusableSetting``.

    ``has_times`` is whether lines have times in a video, and ``guide_track`` is the path of the video.
    """
    files, pattern = values[declared.EXPORT_FILES], values[declared.EXPORT_PATTERN]
    placement = values[declared.EXPORT_PLACEMENT] if has_times and files in _WITHOUT_CHAPTERS else "pauses"
    has_standard = files != "lines" and placement == "pauses" and values[declared.EXPORT_STANDARD] != "none"
    subtitles = {
        "none": [],
        "srt": [SubtitleFormat.SRT],
        "vtt": [SubtitleFormat.VTT],
        "both": [SubtitleFormat.SRT, SubtitleFormat.VTT],
        "srt-words": [SubtitleFormat.SRT],
        "vtt-words": [SubtitleFormat.VTT],
        "lrc": [SubtitleFormat.LRC],
        "json": [SubtitleFormat.JSON],
        "html": [],
    }
    return ExportSettings(
        encoding=encoding_named(values[declared.EXPORT_ENCODING]),
        sample_rate=values[declared.EXPORT_SAMPLE_RATE],
        has_line_files=files in ("lines", "both"),
        has_chapter_files=files == "chapters",
        has_audiobook=files == "audiobook",
        joined_name=joined_name if files in ("joined", "both") else None,
        at_times=placement != "pauses",
        joined_per=_JOINED_PER.get(placement, FilePer.SCRIPT),
        guide_track=Path(guide_track) if guide_track else None,
        standard=standard_named(values[declared.EXPORT_STANDARD]) if has_standard else None,
        room_tone=Path(values[declared.EXPORT_ROOM_TONE])
        if has_standard and values[declared.EXPORT_ROOM_TONE]
        else None,
        pattern=pattern,
        chapter_pattern=pattern if "{chapter" in pattern else DEFAULT_CHAPTER_PATTERN,
        pause_seconds=values[declared.EXPORT_PAUSE_SECONDS] if values[declared.EXPORT_HAS_ONE_PAUSE] else None,
        loudness=LoudnessTarget(values[declared.EXPORT_LUFS], values[declared.EXPORT_TRUE_PEAK])
        if values[declared.EXPORT_MATCHES_LOUDNESS]
        else None,
        is_trimmed=values[declared.EXPORT_IS_TRIMMED],
        subtitles=frozenset(subtitles[values[declared.EXPORT_SUBTITLES]]),
        subtitles_have_words=values[declared.EXPORT_SUBTITLES] in ("srt-words", "vtt-words", "lrc", "json"),
        has_read_along=values[declared.EXPORT_SUBTITLES] == "html",
        has_manifest=values[declared.EXPORT_HAS_MANIFEST],
        project=joined_name or project_name,
        style_names=style_names,
        book=book,
        provenance=provenance,
        replaces_files=replaces_files,
        origin=origin,
    )


@dataclass(frozen=True, slots=True)
class ExportPreset:
    """The values of some options, with a title for the window and the name for ``timbre export --for``."""

    name: str
    title: Message
    values: Mapping[Setting[Any], Any]

    @property
    def needs_times(self) -> bool:
        """Whether the preset is for scripts with times in a video."""
        return declared.EXPORT_PLACEMENT in self.values

    def matches(self, values: Mapping[Setting[Any], Any]) -> bool:
        return all(values[setting] == value for setting, value in self.values.items())


_DUB: Mapping[Setting[Any], Any] = {
    declared.EXPORT_FILES: "joined",
    declared.EXPORT_PLACEMENT: "times",
    declared.EXPORT_ENCODING: "wav24",
    declared.EXPORT_SAMPLE_RATE: 48_000,
    declared.EXPORT_MATCHES_LOUDNESS: False,
    declared.EXPORT_IS_TRIMMED: False,
    declared.EXPORT_SUBTITLES: "none",
    declared.EXPORT_HAS_MANIFEST: False,
}
PRESETS = (
    ExportPreset(
        "video",
        message("Video: 48 kHz WAV per line"),
        {
            declared.EXPORT_FILES: "lines",
            declared.EXPORT_PATTERN: "{index} {voice} {text}",
            declared.EXPORT_ENCODING: "wav24",
            declared.EXPORT_SAMPLE_RATE: 48_000,
            declared.EXPORT_MATCHES_LOUDNESS: False,
            declared.EXPORT_SUBTITLES: "srt",
            declared.EXPORT_HAS_MANIFEST: False,
        },
    ),
    ExportPreset("dub", message("Dub track: one 48 kHz WAV"), _DUB),
    ExportPreset(
        "dub-characters",
        message("Dub tracks: 48 kHz WAV per character"),
        {**_DUB, declared.EXPORT_PLACEMENT: "characters"},
    ),
    ExportPreset(
        "podcast",
        message("Podcast: one MP3, -16 LUFS"),
        {
            declared.EXPORT_FILES: "joined",
            declared.EXPORT_STANDARD: "none",
            declared.EXPORT_ENCODING: "mp3-192",
            declared.EXPORT_SAMPLE_RATE: 44_100,
            declared.EXPORT_MATCHES_LOUDNESS: True,
            declared.EXPORT_LUFS: -16.0,
            declared.EXPORT_TRUE_PEAK: -1.0,
            declared.EXPORT_SUBTITLES: "none",
            declared.EXPORT_HAS_MANIFEST: False,
        },
    ),
    ExportPreset(
        "audiobook",
        message("Audiobook: M4B with chapters"),
        {
            declared.EXPORT_FILES: "audiobook",
            declared.EXPORT_STANDARD: "acx",
            declared.EXPORT_ENCODING: "mp3-192",
            declared.EXPORT_SAMPLE_RATE: 44_100,
            declared.EXPORT_MATCHES_LOUDNESS: True,
            declared.EXPORT_LUFS: -19.0,
            declared.EXPORT_TRUE_PEAK: -3.0,
            declared.EXPORT_SUBTITLES: "none",
            declared.EXPORT_HAS_MANIFEST: False,
        },
    ),
    ExportPreset(
        "acx",
        message("Audiobook: MP3 per chapter (ACX levels)"),
        {
            declared.EXPORT_FILES: "chapters",
            declared.EXPORT_STANDARD: "acx",
            declared.EXPORT_ENCODING: "mp3-192",
            declared.EXPORT_SAMPLE_RATE: 44_100,
            declared.EXPORT_MATCHES_LOUDNESS: True,
            declared.EXPORT_LUFS: -20.0,
            declared.EXPORT_TRUE_PEAK: -3.5,
            declared.EXPORT_SUBTITLES: "none",
            declared.EXPORT_HAS_MANIFEST: False,
        },
    ),
    ExportPreset(
        "game",
        message("Game: files in folders, with a manifest"),
        {
            declared.EXPORT_FILES: "lines",
            declared.EXPORT_PATTERN: "{character}/{id}",
            declared.EXPORT_ENCODING: "wav16",
            declared.EXPORT_SAMPLE_RATE: 48_000,
            declared.EXPORT_MATCHES_LOUDNESS: True,
            declared.EXPORT_LUFS: -23.0,
            declared.EXPORT_TRUE_PEAK: -1.0,
            declared.EXPORT_IS_TRIMMED: True,
            declared.EXPORT_SUBTITLES: "none",
            declared.EXPORT_HAS_MANIFEST: True,
        },
    ),
)


def values_for_dub(values: Mapping[Setting[Any], Any]) -> Mapping[Setting[Any], Any]:
    """Return the values to propose for a script with times: the preset for a dub, if ``values`` ignore the times."""
    uses_times = values[declared.EXPORT_PLACEMENT] != "pauses" and values[declared.EXPORT_FILES] in ("joined", "both")
    return {} if uses_times else _DUB
