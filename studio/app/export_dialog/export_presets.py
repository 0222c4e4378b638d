"""Presets of the export form: the options that suit video, podcasts, audiobooks and games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from studio import settings as declared
from studio.app.translation import QT_TRANSLATE_NOOP as _T
from studio.setting_kinds import Setting

CONTEXT = "ExportPresets"


@dataclass(frozen=True, slots=True)
class ExportPreset:
    """A name, to be translated with ``CONTEXT``, and the values of some options. Other options are left as they are."""

    title: str
    values: Mapping[Setting[Any], Any]

    def matches(self, values: Mapping[Setting[Any], Any]) -> bool:
        return all(values[setting] == value for setting, value in self.values.items())


PRESETS = (
    ExportPreset(
        _T("ExportPresets", "Video: 48 kHz WAV per line"),
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
    ExportPreset(
        _T("ExportPresets", "Podcast: one MP3, -16 LUFS"),
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
        _T("ExportPresets", "Audiobook: M4B with chapters"),
        {
            declared.EXPORT_FILES: "audiobook",
            declared.EXPORT_STANDARD: "acx",
            declared.EXPORT_SAMPLE_RATE: 44_100,
            declared.EXPORT_MATCHES_LOUDNESS: True,
            declared.EXPORT_LUFS: -19.0,
            declared.EXPORT_TRUE_PEAK: -3.0,
            declared.EXPORT_SUBTITLES: "none",
            declared.EXPORT_HAS_MANIFEST: False,
        },
    ),
    ExportPreset(
        _T("ExportPresets", "Audiobook: MP3 per chapter (ACX levels)"),
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
        _T("ExportPresets", "Game: files in folders, with a manifest"),
        {
            declared.EXPORT_FILES: "lines",
            declared.EXPORT_PATTERN: "{character}/{index} {text}",
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
