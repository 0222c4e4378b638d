"""The user's voices: clips and what is said in them, under names. Knows nothing of models.

Decided: the list is a SQLite file, the clips are files of their own beside it, under random names.
Because names are unique and changes all-or-nothing also between two running programs, and a clip stays
an ordinary sound file. Instead of: a folder with a text file for each voice.
Voices that come with the program are sound files in ``resources/voices/``, transcript beside; they
cannot be changed.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import sqlite3
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from studio import paths
from studio.errors import BadVoiceFile, BadVoiceName, CannotWrite, StudioError, VoiceExists, VoiceNotFound
from studio.voices.clip_intake import UsableClip, clip_seconds, judge_clip
from studio.voices.clip_store import ClipStore, StoredClip
from studio.voices.database import transaction
from studio.voices.voice_file import VoiceDetails, read_voice_file, write_voice_file

_LONGEST_NAME = 80
_SUGGESTIONS = 3


@dataclass(frozen=True, slots=True)
class Voice:
    """``clip`` is a sound file, or prompt features of a voice that has no recording any more (``generation``).

    ``created`` is an ISO time, empty for voices that come with the program.
    """

    name: str
    clip: Path
    transcript: str | None
    clip_seconds: float
    notes: str = ""
    generation: str | None = None
    created: str = ""
    sha256: str = ""
    is_built_in: bool = False


@dataclass(frozen=True, slots=True)
class Addition:
    """A voice that was added, and what a person should know about its clip."""

    voice: Voice
    warnings: tuple[str, ...]


class VoiceLibrary:
    """``folder`` and ``built_in`` default to the user's and the program's own. Safe to use from any thread.

    Everything may raise ``DamagedLibrary``, ``CannotWrite``, ``DiskFull``.
    """

    def __init__(self, folder: Path | None = None, *, built_in: Path | None = None) -> None:
        self._folder = folder or paths.data_folder() / "voices"
        self._built_in = built_in or paths.resources() / "voices"
        self._list = self._folder / "library.sqlite3"
        self._clips = ClipStore(self._folder / "clips")

    def voices(self) -> list[Voice]:
        """Those that come with the program, then the user's own, each in order of name."""
        return [*self._built_in_voices(), *self._own_voices()]

    def get(self, name: str) -> Voice:
        """Upper and lower case are the same. Raises ``VoiceNotFound`` with the nearest names."""
        key = _key(name)
        for voice in self.voices():
            if _key(voice.name) == key:
                return voice
        raise self._not_found(name)

    def add(
        self,
        clip: Path,
        name: str,
        transcript: str | None = None,
        *,
        notes: str = "",
        generation: str | None = None,
    ) -> Addition:
        """Copies ``clip`` into the library, once it has been found fit for a prompt.

        Raises ``VoiceExists``, ``BadVoiceName``, and what is wrong with the clip.
        """
        details = VoiceDetails(self._free_name(name), transcript, notes, generation)
        verdict = judge_clip(clip)
        return Addition(self._keep(self._clips.copy(clip), verdict, details), verdict.warnings)

    def remove(self, name: str) -> None:
        """Forgets a voice and its clip. Raises ``VoiceNotFound``, and ``CannotWrite`` for a voice that comes with the program."""
        voice = self._own(name)
        with transaction(self._list) as connection:
            connection.execute("DELETE FROM voices WHERE name_key = ?", (_key(voice.name),))
        self._clips.remove(voice.clip.name)

    def rename(self, name: str, new_name: str) -> Voice:
        voice = self._own(name)
        new_name = checked_name(new_name)
        if _key(new_name) != _key(voice.name):
            self._free_name(new_name)
        with self._claiming(new_name) as connection:
            connection.execute(
                "UPDATE voices SET name = ?, name_key = ? WHERE name_key = ?",
                (new_name, _key(new_name), _key(voice.name)),
            )
        return self.get(new_name)

    def describe(self, name: str, *, transcript: str | None = None, notes: str | None = None) -> Voice:
        """Changes what is given, keeps the rest; an empty transcript removes it."""
        voice = self._own(name)
        new_transcript = voice.transcript if transcript is None else _tidy(transcript) or None
        with transaction(self._list) as connection:
            connection.execute(
                "UPDATE voices SET transcript = ?, notes = ? WHERE name_key = ?",
                (new_transcript, voice.notes if notes is None else _tidy(notes), _key(voice.name)),
            )
        return self.get(name)

    def export(self, name: str, path: Path) -> None:
        """One ``.voice`` file that holds all of a voice, for another computer."""
        voice = self.get(name)
        write_voice_file(path, voice.clip, VoiceDetails(voice.name, voice.transcript, voice.notes, voice.generation))

    def import_(self, path: Path, *, name: str | None = None) -> Addition:
        """A voice out of a ``.voice`` file, under the name it has there unless another is given.

        Raises ``BadVoiceFile`` for anything that is not exactly such a file, ``VoiceExists``, ``BadVoiceName``.
        """
        found = read_voice_file(path)
        details = replace(found.details, name=self._free_name(name or found.details.name))
        stored = self._clips.put(io.BytesIO(found.clip), found.suffix)
        try:
            verdict = judge_clip(self._clips.path(stored.file_name))
        except StudioError as error:
            self._clips.remove(stored.file_name)
            raise BadVoiceFile(
                f"The recording in {path.name} cannot be used.", remedy="Ask whoever made it for another."
            ) from error
        return Addition(self._keep(stored, verdict, details), verdict.warnings)

    def _keep(self, stored: StoredClip, verdict: UsableClip, details: VoiceDetails) -> Voice:
        voice = Voice(
            name=details.name,
            clip=self._clips.path(stored.file_name),
            transcript=_tidy(details.transcript) or None,
            clip_seconds=verdict.seconds,
            notes=_tidy(details.notes),
            generation=details.generation,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            sha256=stored.sha256,
        )
        try:
            self._insert(voice)
        except BaseException:
            self._clips.remove(stored.file_name)
            raise
        return voice

    def _insert(self, voice: Voice) -> None:
        with self._claiming(voice.name) as connection:
            connection.execute(
                "INSERT INTO voices (name_key, name, clip, sha256, clip_seconds, transcript, notes, generation, created)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    _key(voice.name), voice.name, voice.clip.name, voice.sha256, voice.clip_seconds,
                    voice.transcript, voice.notes, voice.generation, voice.created,
                ),
            )  # fmt: skip
            kept = {str(row["clip"]) for row in connection.execute("SELECT clip FROM voices")}
        self._clips.sweep(kept)

    @contextlib.contextmanager
    def _claiming(self, name: str) -> Iterator[sqlite3.Connection]:
        """A transaction in which another program may already have taken ``name``."""
        try:
            with transaction(self._list) as connection:
                yield connection
        except sqlite3.IntegrityError as error:
            raise _exists(name) from error

    def _free_name(self, name: str) -> str:
        name = checked_name(name)
        if any(_key(voice.name) == _key(name) for voice in self.voices()):
            raise _exists(name)
        return name

    def _own(self, name: str) -> Voice:
        voice = self.get(name)
        if voice.is_built_in:
            raise CannotWrite(
                f"{voice.name} comes with the program and cannot be changed.",
                remedy="Export it and import it under a name of your own.",
            )
        return voice

    def _own_voices(self) -> list[Voice]:
        if not self._list.is_file():
            return []
        with transaction(self._list) as connection:
            rows = connection.execute("SELECT * FROM voices ORDER BY name_key").fetchall()
        return [
            Voice(
                name=row["name"],
                clip=self._clips.path(row["clip"]),
                transcript=row["transcript"],
                clip_seconds=row["clip_seconds"],
                notes=row["notes"],
                generation=row["generation"],
                created=row["created"],
                sha256=row["sha256"],
            )
            for row in rows
        ]

    def _built_in_voices(self) -> list[Voice]:
        return [
            Voice(
                name=clip.stem,
                clip=clip,
                transcript=(_tidy(transcript.read_text("utf-8")) or None) if transcript.is_file() else None,
                clip_seconds=clip_seconds(clip),
                is_built_in=True,
            )
            for clip in sorted(self._built_in.glob("*.wav"))
            for transcript in [clip.with_suffix(".txt")]
        ]

    def _not_found(self, name: str) -> VoiceNotFound:
        names = {_key(voice.name): voice.name for voice in self.voices()}
        near = [names[key] for key in difflib.get_close_matches(_key(name), names, n=_SUGGESTIONS)]
        did_you_mean = f" Did you mean {' or '.join(near)}?" if near else ""
        return VoiceNotFound(
            f"There is no voice named {name}.{did_you_mean}", remedy="`timbre voices list` shows those there are."
        )


def checked_name(name: str) -> str:
    """``name`` in its tidy form. Raises ``BadVoiceName``."""
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    is_fine = (
        name.isprintable() and 0 < len(name) <= _LONGEST_NAME and not set(name) & set("/\\") and name[0] not in "-."
    )
    if not is_fine:
        raise BadVoiceName(
            f"“{name[:_LONGEST_NAME]}” cannot be the name of a voice.",
            remedy=f"Use 1 to {_LONGEST_NAME} letters; no slashes, and no dash or dot at the beginning.",
        )
    return name


def _key(name: str) -> str:
    return unicodedata.normalize("NFKC", " ".join(name.split())).casefold()


def _tidy(text: str | None) -> str:
    """Without blanks around it, and without the half characters that no file can hold."""
    return (text or "").encode("utf-8", "ignore").decode("utf-8").strip()


def _exists(name: str) -> VoiceExists:
    return VoiceExists(f"There is a voice named {name} already.", remedy="Choose another name, or remove that one.")
