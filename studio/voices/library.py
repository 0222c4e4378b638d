"""The voice library: named clips with their metadata, independent of models.

Decision: an SQLite database, with the clips as separate files under random names. Reason: even with two processes,
names stay unique and changes are atomic, and a clip remains an ordinary audio file. Alternative: a folder with a text
file for each voice.

Bundled voices are audio files in ``resources/voices/``, each with a ``.txt`` transcript; they are read-only. The
library stores the new names of renamed bundled voices.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import logging
import sqlite3
import wave
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio import paths
from studio.audio.waveform import Waveform
from studio.errors import BadVoiceFile, CannotWrite, StudioError, VoiceExists, VoiceNotFound
from studio.messages import did_you_mean
from studio.storage.disk import require_regular_file
from studio.storage.json_input import read_json
from studio.voices import database
from studio.voices.clip_store import ClipStore, StoredClip
from studio.voices.voice import (
    MAX_NAME,
    NO_CONSENT,
    Consent,
    TrashedVoice,
    Voice,
    VoiceDetails,
    checked_name,
    clean,
    name_key,
)

if TYPE_CHECKING:
    from studio.voices.clip_intake import UsableClip

__all__ = ["Addition", "Consent", "TrashedVoice", "Voice", "VoiceDetails", "VoiceLibrary", "checked_name"]

_log = logging.getLogger(__name__)

_SUGGESTIONS = 3


@dataclass(frozen=True, slots=True)
class Addition:
    """An added voice, and the warnings about its clip."""

    voice: Voice
    warnings: tuple[str, ...]


class VoiceLibrary:
    """The user's voices in ``folder``, the bundled voices in ``built_in``, and ``speakers`` of models. Thread-safe.

    ``lists_speakers`` returns whether ``voices`` includes the speakers; ``get`` finds them in any case.
    Every method may raise ``DamagedLibrary``, ``CannotWrite`` and ``DiskFull``.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        built_in: Path | None = None,
        speakers: Callable[[], list[Voice]] = list,
        lists_speakers: Callable[[], bool] = lambda: True,
    ) -> None:
        self._folder = folder or paths.data_folder() / "voices"
        self._built_in = built_in or paths.resources() / "voices"
        self._list = self._folder / "library.sqlite3"
        self._clips = ClipStore(self._folder / "clips")
        self._speakers_of_models = speakers
        self._lists_speakers = lists_speakers

    def voices(self) -> list[Voice]:
        """Return the bundled voices, then the user's voices, both in order of name, then the speakers of models."""
        return [*self._built_in_voices(), *self._own_voices(), *(self._speakers() if self._lists_speakers() else ())]

    def get(self, name: str) -> Voice:
        """Return the voice with a name, ignoring case. Raises ``VoiceNotFound``, which suggests similar names."""
        key = name_key(name)
        # Bundled voices first: they work even if the user's database is damaged.
        for voices in (self._built_in_voices, self._own_voices, self._speakers):
            for voice in voices():
                if key in _keys([voice]):
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
        language: str | None = None,
        consent: Consent = NO_CONSENT,
    ) -> Addition:
        """Validate ``clip`` and copy it into the library.

        Raises ``VoiceExists``, ``BadVoiceName``, and the errors of ``validate_clip``.
        """
        from studio.voices.clip_intake import validate_clip  # noqa: PLC0415 - not needed to list voices

        details = VoiceDetails(self._free_name(name), transcript, notes, generation, language=language, consent=consent)
        verdict = validate_clip(clip)
        return Addition(self._keep(self._clips.copy(clip), verdict, details), verdict.warnings)

    def add_sound(self, sound: Waveform, details: VoiceDetails) -> Addition:
        """Add a waveform, for example a recording. Raises the same errors as ``add``."""
        import soundfile  # noqa: PLC0415 - not needed to list voices

        details = replace(details, name=self._free_name(details.name))
        content = io.BytesIO()
        soundfile.write(content, sound.samples, sound.sample_rate, "FLOAT", format="WAV")
        content.seek(0)
        stored = self._clips.put(content, ".wav")
        verdict = self._validate(stored)
        return Addition(self._keep(stored, verdict, details), verdict.warnings)

    def duplicate(self, name: str, new_name: str | None = None) -> Voice:
        """Copy a voice, for example to try another transcript. Raises the same errors as ``add``."""
        voice = self.get(name)
        return self.add_copy(voice, new_name or self.unique_name(voice.name))

    def add_copy(self, voice: Voice, new_name: str) -> Voice:
        """Add a copy of ``voice``, which need not be in the library. Raises the same errors as ``add``."""
        from studio.voices.clip_intake import UsableClip  # noqa: PLC0415 - not needed to list voices

        new_name = self._free_name(new_name)
        verdict = UsableClip(voice.clip_seconds, quality=voice.quality)
        return self._keep(self._clips.copy(voice.clip), verdict, replace(details_of(voice), name=new_name))

    def remove(self, name: str) -> None:
        """Delete a voice and its clip. Raises ``VoiceNotFound``, and ``CannotWrite`` for a bundled voice."""
        voice = self._own(name)
        with database.transaction(self._list) as connection:
            database.delete(connection, voice.name)
        self._clips.remove(voice.clip.name)

    def trash(self, name: str) -> TrashedVoice:
        """Move a voice to the trash, which keeps it for 30 days. Raises the same errors as ``remove``."""
        voice = self._own(name)
        with database.transaction(self._list) as connection:
            number = database.to_trash(connection, voice.name)
        return TrashedVoice(number, voice, datetime.now(UTC).isoformat(timespec="seconds"))

    def trashed(self) -> list[TrashedVoice]:
        """Return the voices in the trash, latest first."""
        with database.reading(self._list) as connection:
            return database.select_trash(connection, self._clips.path)

    def restore(self, number: int) -> Voice:
        """Restore a voice from the trash, with a number appended if its name is taken. Raises ``VoiceNotFound``."""
        with database.transaction(self._list) as connection:
            voice = database.take_from_trash(connection, number, self._clips.path)
            if voice is None:
                raise VoiceNotFound(
                    "This voice has been deleted permanently.", remedy="Add it again from its recording."
                )
            taken = {name_key(other.name) for other in database.select(connection, self._clips.path)}
            taken |= _keys([*self._built_in_voices(), *self._speakers()])
            voice = replace(voice, name=_first_free(voice.name, taken))
            database.insert(connection, voice)
        return voice

    def rename(self, name: str, new_name: str) -> Voice:
        """Rename a voice. A bundled voice is also found by its original name.

        Raises ``VoiceNotFound``, ``VoiceExists`` and ``BadVoiceName``.
        """
        voice = self.get(name)
        new_name = checked_name(new_name)
        if name_key(new_name) not in (name_key(voice.name), name_key(voice.bundled_name)):
            self._free_name(new_name)
        if voice.is_built_in:
            with database.transaction(self._list) as connection:
                database.rename_bundled(connection, voice.bundled_name, new_name)
            return self.get(new_name)
        with self._claiming(new_name) as connection:
            database.update(connection, voice.name, replace(voice, name=new_name))
        return self.get(new_name)

    def update_metadata(
        self,
        name: str,
        *,
        transcript: str | None = None,
        notes: str | None = None,
        language: str | None = None,
        consent: Consent | None = None,
    ) -> Voice:
        """Change the values that are not None. An empty value removes the transcript, language or consent."""
        voice = self._own(name)
        changed = replace(
            voice,
            transcript=voice.transcript if transcript is None else clean(transcript) or None,
            notes=voice.notes if notes is None else clean(notes),
            language=voice.language if language is None else clean(language) or None,
            consent=voice.consent if consent is None else _clean_consent(consent),
        )
        with database.transaction(self._list) as connection:
            database.update(connection, voice.name, changed)
        return self.get(name)

    def keep_consent_clip(self, clip: Path) -> str:
        """Copy the recording of a spoken consent into the library, and return its hash for the record.

        It is kept as long as a voice has the record. Raises ``UnreadableClip``.
        """
        return self._clips.copy_by_hash(clip)

    def consent_clip(self, voice: Voice) -> Path | None:
        """Return the recording of the spoken consent of ``voice``, or None if there is none."""
        spoken = voice.consent.spoken
        return None if spoken is None else self._clips.find_by_hash(spoken.sha256)

    def unique_name(self, wanted: str) -> str:
        """Return the first unused name of ``wanted``, ``wanted 2``, ``wanted 3`` and so on. Raises ``BadVoiceName``."""
        return _first_free(checked_name(wanted), _keys(self.voices()))

    def export(self, name: str, path: Path) -> None:
        """Write a voice to a ``.voice`` file."""
        from studio.voices.voice_file import write_voice_file  # noqa: PLC0415 - not needed to list voices

        voice = self.get(name)
        write_voice_file(path, voice.clip, details_of(voice), consent_clip=self.consent_clip(voice))

    def import_(self, path: Path, *, name: str | None = None, finds_free_name: bool = False) -> Addition:
        """Add the voice of a ``.voice`` file, under the name in the file unless ``name`` is given.

        ``finds_free_name`` appends a number if the name is taken. Raises ``BadVoiceFile``, ``VoiceExists``,
        ``BadVoiceName``.
        """
        from studio.voices.voice_file import read_voice_file  # noqa: PLC0415 - not needed to list voices

        found = read_voice_file(path)
        wanted = name or found.details.name
        details = replace(found.details, name=self.unique_name(wanted) if finds_free_name else self._free_name(wanted))
        if found.consent_clip is not None:
            self._clips.put_by_hash(io.BytesIO(found.consent_clip), found.consent_suffix)
        stored = self._clips.put(io.BytesIO(found.clip), found.suffix)
        try:
            verdict = self._validate(stored)
        except StudioError as error:
            raise BadVoiceFile(
                "The recording in {file} cannot be used.", remedy="Ask its author for another file.", file=path.name
            ) from error
        return Addition(self._keep(stored, verdict, details), verdict.warnings)

    def _validate(self, stored: StoredClip) -> UsableClip:
        """Validate a stored clip, and remove it if it cannot be used."""
        from studio.voices.clip_intake import validate_clip  # noqa: PLC0415 - not needed to list voices

        try:
            return validate_clip(self._clips.path(stored.file_name))
        except StudioError:
            self._clips.remove(stored.file_name)
            raise

    def _keep(self, stored: StoredClip, verdict: UsableClip, details: VoiceDetails) -> Voice:
        voice = Voice(
            name=details.name,
            clip=self._clips.path(stored.file_name),
            transcript=clean(details.transcript) or None,
            clip_seconds=verdict.seconds,
            notes=clean(details.notes),
            generation=details.generation,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            sha256=stored.sha256,
            quality=verdict.quality,
            language=clean(details.language) or None,
            consent=_clean_consent(details.consent),
        )
        try:
            with self._claiming(voice.name) as connection:
                database.insert(connection, voice)
                kept = database.clips_in_use(connection)
        except BaseException:
            self._clips.remove(stored.file_name)
            raise
        self._clips.sweep(kept)
        return voice

    @contextlib.contextmanager
    def _claiming(self, name: str) -> Iterator[sqlite3.Connection]:
        """Run a transaction that creates the voice ``name``.

        Raises ``VoiceExists`` if another process has created it.
        """
        try:
            with database.transaction(self._list) as connection:
                yield connection
        except sqlite3.IntegrityError as error:
            raise _exists(name) from error

    def _free_name(self, name: str) -> str:
        name = checked_name(name)
        if name_key(name) in _keys(self.voices()):
            raise _exists(name)
        return name

    def _own(self, name: str) -> Voice:
        voice = self.get(name)
        if voice.is_built_in:
            raise CannotWrite(
                "{name} is a bundled voice and cannot be changed.",
                remedy="Export it and import it under another name.",
                name=voice.name,
            )
        return voice

    def _own_voices(self) -> list[Voice]:
        with database.reading(self._list) as connection:
            return database.select(connection, self._clips.path)

    def _built_in_voices(self) -> list[Voice]:
        names = self._bundled_names()
        return [
            Voice(
                name=names.get(name_key(clip.stem), clip.stem),
                bundled_name=clip.stem,
                clip=clip,
                transcript=(clean(transcript.read_text("utf-8")) or None) if transcript.is_file() else None,
                clip_seconds=_seconds_of(clip),
                is_built_in=True,
                language=origin.get("language"),
                description=origin.get("description", ""),
            )
            for clip in sorted(self._built_in.glob("*.wav"))
            for transcript, origin in [(clip.with_suffix(".txt"), _origin_of(clip))]
        ]

    def _speakers(self) -> list[Voice]:
        """Return the speakers of models. If a name is taken, the name of the model is appended."""
        names, taken = self._bundled_names(), _keys([*self._built_in_voices(), *self._own_voices()])
        speakers: list[Voice] = []
        for voice in self._speakers_of_models():
            name = names.get(name_key(voice.name), voice.name)
            if name_key(name) in taken:
                name = _first_free(f"{voice.name} ({voice.models[0]})"[:MAX_NAME].strip(), taken)
            taken.add(name_key(name))
            speakers.append(replace(voice, name=name))
        return speakers

    def _bundled_names(self) -> dict[str, str]:
        """Return the names of renamed bundled voices; none if the user's database cannot be read."""
        try:
            with database.reading(self._list) as connection:
                return database.bundled_names(connection)
        except StudioError as error:
            _log.warning("bundled voices have their original names: %s", error)
            return {}

    def _not_found(self, name: str) -> VoiceNotFound:
        names = {name_key(voice.name): voice.name for voice in self.voices()}
        near = [names[key] for key in difflib.get_close_matches(name_key(name), names, n=_SUGGESTIONS)]
        return VoiceNotFound(
            "There is no voice named {name}.{did_you_mean}",
            remedy="Choose another voice, or add one with this name.",
            name=name,
            did_you_mean=did_you_mean(near),
        )


def _origin_of(clip: Path) -> dict[str, Any]:
    """Return the facts about a bundled voice, if there are any."""
    path = clip.with_suffix(".json")
    facts: dict[str, Any] = read_json(path) if path.is_file() else {}
    return facts


def _seconds_of(clip: Path) -> float:
    """Return the length of a bundled voice, normally a WAV file that the standard library can read."""
    try:
        require_regular_file(clip)
        with wave.open(str(clip)) as sound:
            seconds: float = sound.getnframes() / sound.getframerate()
            return seconds
    except (OSError, EOFError, wave.Error):
        from studio.voices.clip_intake import clip_seconds  # noqa: PLC0415 - only for formats other than WAV

        return clip_seconds(clip)


def details_of(voice: Voice) -> VoiceDetails:
    """Return the metadata of a voice."""
    return VoiceDetails(
        voice.name, voice.transcript, voice.notes, voice.generation, language=voice.language, consent=voice.consent
    )


def _keys(voices: list[Voice]) -> set[str]:
    """Return the keys of all names by which ``voices`` are found."""
    return {name_key(name) for voice in voices for name in (voice.name, voice.bundled_name) if name}


def _first_free(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 1
    while name_key(name) in taken:
        number += 1
        ending = f" {number}"
        name = wanted[: MAX_NAME - len(ending)] + ending
    return name


def _clean_consent(consent: Consent) -> Consent:
    return Consent(clean(consent.by), clean(consent.date), clean(consent.scope), clean(consent.until), consent.spoken)


def _exists(name: str) -> VoiceExists:
    return VoiceExists(
        "A voice named {name} already exists.", remedy="Choose another name, or remove that voice.", name=name
    )
