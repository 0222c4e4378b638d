"""Classification of dropped paths by how they become voices. No Qt."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from studio.audio.media import MEDIA_SUFFIXES
from studio.voices.voice_file import SUFFIX as VOICE_SUFFIX

AUDIO_SUFFIXES = MEDIA_SUFFIXES | {
    ".wav", ".wave", ".flac", ".ogg", ".oga", ".mp3", ".aif", ".aiff", ".aifc", ".caf", ".au", ".snd", ".w64", ".rf64",
    ".avr", ".iff", ".nist", ".paf", ".pvf", ".sd2", ".sds", ".sf", ".sph", ".svx", ".voc", ".xi",
}  # fmt: skip
STORED_VOICES_SUFFIX = ".pt"
# A larger folder is probably a music collection dropped by mistake.
MOST_FILES = 200


@dataclass
class DroppedPaths:
    """Files by kind."""

    recordings: list[Path] = field(default_factory=list)
    voice_files: list[Path] = field(default_factory=list)
    stored_voices: list[Path] = field(default_factory=list)  # official ``spk2info.pt`` files
    others: list[Path] = field(default_factory=list)  # files that cannot become voices

    @property
    def num_usable(self) -> int:
        return len(self.recordings) + len(self.voice_files) + len(self.stored_voices)


def classify_paths(paths: list[Path]) -> DroppedPaths:
    """Classify ``paths``, and the audio and voice files in folders, until ``MOST_FILES`` usable files are found."""
    found = DroppedPaths()
    for path in paths:
        if path.is_dir():
            for inside in _files_in(path):
                if found.num_usable < MOST_FILES and inside.suffix.lower() != STORED_VOICES_SUFFIX:
                    _add(inside, found, keeps_others=False)
        elif found.num_usable < MOST_FILES:
            _add(path, found, keeps_others=True)
    return found


def may_hold_voices(paths: list[Path]) -> bool:
    """Check ``paths`` by name only, which is fast enough while they are dragged over the window."""
    suffixes = AUDIO_SUFFIXES | {VOICE_SUFFIX, STORED_VOICES_SUFFIX}
    return any(path.suffix.lower() in suffixes or path.is_dir() for path in paths)


def _add(path: Path, found: DroppedPaths, *, keeps_others: bool) -> None:
    suffix = path.suffix.lower()
    if suffix in AUDIO_SUFFIXES:
        found.recordings.append(path)
    elif suffix == VOICE_SUFFIX:
        found.voice_files.append(path)
    elif suffix == STORED_VOICES_SUFFIX:
        found.stored_voices.append(path)
    elif keeps_others:
        found.others.append(path)


def _files_in(folder: Path) -> Iterator[Path]:
    """Yield the files in order of name, except hidden ones and those in folders that cannot be read."""
    with contextlib.suppress(OSError):
        for path in sorted(folder.iterdir()):
            if path.name.startswith("."):
                continue
            if path.is_dir() and not path.is_symlink():
                yield from _files_in(path)
            elif path.is_file():
                yield path
