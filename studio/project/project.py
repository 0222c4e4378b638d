"""An open project: the script in memory, and the working copy on disk with the same content."""

from __future__ import annotations

import logging
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from studio.audio.edits import AudioEdits
from studio.audio.resampling import Samples
from studio.errors import ProjectChangedElsewhere, StudioError, TakeNotFound
from studio.messages import Message, message
from studio.pipeline.request import SentenceEvidence
from studio.project import database
from studio.project.changes import AddTake, Change
from studio.project.check_records import evidence_from
from studio.project.dictionary import PronunciationDictionary
from studio.project.draft_writer import DraftWriter, PendingChanges
from studio.project.drafts import LOCK_WAIT_SECONDS, Draft, WorkingCopy, created_at
from studio.project.fingerprint import VoiceKeys, fingerprint, voice_matches
from studio.project.lines import Line, LineState, new_id
from studio.project.recording import TakeRecorder
from studio.project.saving import Snapshot
from studio.project.script import Script
from studio.project.takes import Take, TakeParameters, can_stretch, edits_of

_log = logging.getLogger(__name__)


class Project:
    """An open project, from ``create``, ``open`` or ``recover`` until ``close``. Thread-safe.

    ``apply`` is fast. ``open``, ``save`` and ``samples_of`` read or write audio, so call them on a background thread.

    Attributes:
        global_dictionary: The user's dictionary. The entries of the project take precedence.
        voice_keys: The keys of the voices in the library. If there are none, voices are compared by name.
    """

    def __init__(self, working_copy: WorkingCopy, *, global_dictionary: PronunciationDictionary | None = None) -> None:
        """Use the class methods instead."""
        self._working_copy = working_copy
        self._storage = working_copy.storage
        self._script = self._storage.read()
        self._path, is_modified = self._storage.binding()
        self._saved: Script | None = None if is_modified else self._script
        self._draft_writer = DraftWriter(self._storage, self._script)
        self._save_ids = self._storage.save_ids()
        self._lock = threading.RLock()
        self._saving = threading.Lock()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="takes")
        self._recorders: set[TakeRecorder] = set()
        # The highest take number of each line with removed takes, which undo may restore.
        self._highest_numbers: dict[str, int] = {}
        self.voice_keys: VoiceKeys = {}
        self._fingerprints: dict[str, tuple[Line, str]] = {}
        self._global_dictionary = global_dictionary or PronunciationDictionary()
        self._dictionary_in_force = self._script.dictionary.over(self._global_dictionary)

    # Creation. All three methods raise ``CannotWrite`` or ``DiskFull`` if the drafts folder cannot be written.

    @classmethod
    def create(cls, drafts: Path) -> Self:
        """Return an empty project without a file."""
        return cls(WorkingCopy.create(drafts))

    @classmethod
    def open(cls, path: Path, drafts: Path, *, global_dictionary: PronunciationDictionary | None = None) -> Self:
        """Open the project file ``path``. Raise ``UnreadableProject``."""
        working_copy = WorkingCopy.create(drafts, copy_of=path)
        try:
            working_copy.storage.bind(path.resolve(), is_modified=False)
            return cls(working_copy, global_dictionary=global_dictionary)
        except BaseException:
            working_copy.close(keeps_draft=False)
            raise

    @classmethod
    def recover(cls, draft: Draft | Path) -> Self:
        """Open a working copy left by a crash, with the takes that were being recorded.

        Raise ``ProjectInUse`` or ``UnreadableProject``.
        """
        path = draft.path if isinstance(draft, Draft) else draft
        working_copy = WorkingCopy.open_existing(path, wait_seconds=LOCK_WAIT_SECONDS)
        try:
            project = cls(working_copy)
            project._adopt_recordings()
        except BaseException:
            working_copy.close(keeps_draft=True)
            raise
        return project

    # Content.

    @property
    def script(self) -> Script:
        """The current script."""
        return self._script

    @property
    def notice(self) -> Message | None:
        """A message about the invalid values for which defaults are used, or None if there are none."""
        replaced = self._storage.replaced
        if not replaced:
            return None
        return message(
            "{count} invalid values in this script were replaced by defaults: {names}.",
            count=len(replaced),
            names=list(dict.fromkeys(replaced)),
        )

    @property
    def name(self) -> str:
        return self._script.name

    @property
    def lines(self) -> tuple[Line, ...]:
        return self._script.lines

    @property
    def dictionary(self) -> PronunciationDictionary:
        """The entries of the project, without the user's."""
        return self._script.dictionary

    @property
    def global_dictionary(self) -> PronunciationDictionary:
        return self._global_dictionary

    @global_dictionary.setter
    def global_dictionary(self, dictionary: PronunciationDictionary) -> None:
        with self._lock:
            self._global_dictionary = dictionary
            self._renew_dictionary()

    @property
    def dictionary_in_force(self) -> PronunciationDictionary:
        """The dictionary for synthesis: the entries of the project, then those of the user."""
        return self._dictionary_in_force

    def line(self, line_id: str) -> Line:
        return self._script.line(line_id)

    def has_line(self, line_id: str) -> bool:
        return line_id in self._script.index_of

    def takes_of(self, line_id: str) -> tuple[Take, ...]:
        """Return the takes of a line in order of number."""
        return self._script.takes_of(line_id)

    def take(self, take_id: str) -> Take:
        """Return a take. Raise ``TakeNotFound``."""
        return self._script.take(take_id)

    def chosen_take(self, line_id: str) -> Take | None:
        take_id = self._script.line(line_id).chosen_take
        return next((take for take in self._script.takes_of(line_id) if take.id == take_id), None)

    def samples_of(self, take_id: str) -> Samples:
        """Return the samples (n,) of a take with its edits, exactly as played and exported. Raise ``TakeNotFound``.

        A take that has been recorded but is not in the script yet has no edits.
        """
        recording = self.recording_of(take_id)
        if take_id not in self._script.line_of_take:
            return recording
        take = self._script.take(take_id)
        return self.edits_of(take).apply(recording, take.sample_rate)

    def recording_of(self, take_id: str) -> Samples:
        """Return the samples (n,) of a take as they were recorded, without edits. Raise ``TakeNotFound``."""
        samples = self._storage.samples(take_id)
        if not len(samples):
            raise TakeNotFound("The audio of this take is not in the project.", remedy="Speak the line again.")
        return samples

    def evidence_of(self, take_id: str) -> tuple[SentenceEvidence, ...]:
        """Return the evidence of the language model about a take; empty if there is none. Reads the disk."""
        stored = self._storage.evidence(take_id)
        return () if stored is None else evidence_from(stored)

    def takes_to_check(self) -> list[Take]:
        """Return the complete takes that have evidence but no check, as after a crash."""
        known = self._storage.takes_with_evidence()
        takes = (take for of_line in self._script.takes.values() for take in of_line)
        return [take for take in takes if take.check is None and take.is_complete and take.id in known]

    def edits_of(self, take: Take) -> AudioEdits:
        """Return the edits of a take, which include the edits of its line."""
        return edits_of(take, self._script.line(take.line_id))

    def seconds_of(self, take: Take) -> float:
        """Return the length of a take with its edits."""
        return self.edits_of(take).seconds(take.audio_seconds)

    def fingerprint_of(self, line_id: str) -> str:
        """Return the fingerprint of a line at its current speed."""
        with self._lock:
            line = self._script.line(line_id)
            known = self._fingerprints.get(line_id)
            if known is None or known[0] is not line:
                known = (line, fingerprint(line, self._dictionary_in_force))
                self._fingerprints[line_id] = known
            return known[1]

    def is_current(self, take: Take) -> bool:
        """Return whether line and voice are the same as when ``take`` was recorded, except for audio edits."""
        line = self._script.line(take.line_id)
        return self._is_of_text(take) and voice_matches(line, take.parameters, self.voice_keys)

    def _is_of_text(self, take: Take) -> bool:
        line = self._script.line(take.line_id)
        if line.speed == take.parameters.speed:
            return take.parameters.line_fingerprint == self.fingerprint_of(line.id)
        at_speed = replace(line, speed=take.parameters.speed)
        is_same = take.parameters.line_fingerprint == fingerprint(at_speed, self._dictionary_in_force)
        return is_same and can_stretch(take, line)

    def state_of(self, line_id: str) -> LineState:
        """Return ``DRAFT``, ``OUTDATED``, ``CHECK`` or ``READY``. The synthesis queue assigns the other states.

        An incomplete take is outdated. A take with problems needs no review if it is accepted or its line is locked.
        """
        take = self.chosen_take(line_id)
        if take is None:
            return LineState.DRAFT
        if not (self.is_current(take) and take.is_complete):
            return LineState.OUTDATED
        needs_review = take.needs_review and not self.line(line_id).is_locked
        return LineState.CHECK if needs_review else LineState.READY

    # Operations.

    def apply(self, change: Change) -> Change:
        """Apply ``change`` to the script and the working copy, and return its inverse.

        If the change cannot be written, it is kept in memory: see ``unwritten``.
        """
        with self._lock:
            inverse = self._apply(change)
            self._add_waiting_takes()
            return inverse

    @property
    def unwritten(self) -> PendingChanges | None:
        """Changes that could not be written, or None. The next change and ``write_again`` write them if possible."""
        return self._draft_writer.unwritten

    def write_again(self) -> None:
        """Try again to write the ``unwritten`` changes, and takes that could not be written."""
        with self._lock:
            if self.unwritten is not None:
                self._write()
                self._add_waiting_takes()

    def _write(self) -> None:
        self._draft_writer.write(self._script, is_modified=self.is_modified)

    def _apply(self, change: Change) -> Change:
        script, inverse = change.apply(self._script)
        self._remember_numbers(self._script, script)
        has_new_dictionary = script.dictionary is not self._script.dictionary
        self._script = script
        self._write()
        if has_new_dictionary:
            self._renew_dictionary()
        return inverse

    def _remember_numbers(self, before: Script, after: Script) -> None:
        if before.takes is after.takes:
            return
        for line_id, takes in before.takes.items():
            if after.takes_of(line_id) is not takes:
                highest = max(self._highest_numbers.get(line_id, 0), takes[-1].number)
                self._highest_numbers[line_id] = highest

    def _add_waiting_takes(self) -> None:
        """Add the takes whose audio could not be written before, if it can be written now."""
        if self.unwritten is not None:
            return
        for recorder in [each for each in tuple(self._recorders) if each.is_waiting]:
            try:
                self._add_recorded(recorder.retry_finish())
            except StudioError as error:
                _log.info("take %s still cannot be written: %s", recorder.take_id, error)
                return

    def begin_take(self, line_id: str, parameters: TakeParameters, sample_rate: int) -> TakeRecorder:
        """Start recording a take, even if its line has been removed. Raise ``DiskFull`` or ``CannotWrite``."""
        with self._lock:
            numbers = [take.number for take in self._script.takes_of(line_id)]
            numbers += [recorder.number for recorder in tuple(self._recorders) if recorder.line_id == line_id]
            numbers.append(self._highest_numbers.get(line_id, 0))
            take = Take(
                id=new_id(),
                line_id=line_id,
                number=max(numbers) + 1,
                created=datetime.now(UTC),
                audio_seconds=0.0,
                sample_rate=sample_rate,
                parameters=parameters,
                is_complete=False,
            )
            self._storage.put_recording(take)
            recorder = TakeRecorder(take, self._storage, self._writer, on_end=self._recorders.discard)
            self._recorders.add(recorder)
            return recorder

    @property
    def is_modified(self) -> bool:
        """Whether the script differs from the saved script. It does not if all changes since saving were undone."""
        return self._script != self._saved

    @property
    def path(self) -> Path | None:
        """The project file, or None if the project was never saved."""
        return self._path

    @property
    def begun(self) -> datetime:
        """The time when the working copy was created. Recovery does not change it."""
        return created_at(self.draft_path)

    @property
    def draft_path(self) -> Path:
        return self._working_copy.path

    def save(self, path: Path | None = None, *, replaces_foreign: bool = False) -> None:
        """Save to ``path``, which becomes the project file, or to the current project file.

        Changes are possible during saving. Raise ``CannotWrite`` or ``DiskFull``. If another program has changed the
        project file since it was opened or saved, raise ``ProjectChangedElsewhere`` unless ``replaces_foreign``.
        """
        target = path or self._path
        assert target is not None, "a project without a file needs a path"
        with self._saving:
            if target == self._path and not replaces_foreign:
                self._require_own_file(target)
            save_id = secrets.token_hex(8)
            self._save_ids.add(save_id)
            self._draft_writer.announce_save(save_id)
            with self._lock, self._storage.lock:
                script = self._script
                snapshot = Snapshot(self._storage.path, script)
            snapshot.write(target, save_id)
            with self._lock:
                self._path, self._saved = target.resolve(), script
                self._save_ids = {save_id}
                self._draft_writer.confirm_save(save_id, self._path, is_modified=self.is_modified)

    def close(self, *, keeps_draft: bool = False) -> None:
        """Close the project. Unsaved changes are lost unless ``keeps_draft``.

        A draft that differs from the project file can be recovered at the next start.
        """
        self._writer.shutdown()
        with self._saving, self._lock:
            if keeps_draft:
                self.write_again()
            self._working_copy.close(keeps_draft=keeps_draft)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close(keeps_draft=kind is not None)

    def _adopt_recordings(self) -> None:
        for take in self._storage.recordings():
            self._add_recorded(take)

    def _add_recorded(self, take: Take) -> None:
        """Add a take that was recorded earlier.

        It is chosen only if its line has no chosen take. If the line was removed, the take is deleted.
        """
        if take.line_id not in self._script.index_of:
            self._storage.drop_recording(take.id)
            return
        has_choice = self._script.line(take.line_id).chosen_take is not None
        self._apply(AddTake(take, is_chosen=not has_choice))

    def _renew_dictionary(self) -> None:
        self._dictionary_in_force = self._script.dictionary.over(self._global_dictionary)
        self._fingerprints.clear()

    def _require_own_file(self, path: Path) -> None:
        if path.exists() and database.saved_id(path) not in self._save_ids:
            raise ProjectChangedElsewhere(
                "{file} was changed by another program after it was opened.",
                remedy="Save under another name to keep both.",
                file=path.name,
            )
