"""The project that is open: its working copy on the disk, its script in memory, always the same."""

from __future__ import annotations

import logging
import secrets
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from studio.audio.resampling import Samples
from studio.errors import ProjectChangedElsewhere, StudioError, TakeNotFound
from studio.project import database
from studio.project.changes import AddTake, Change
from studio.project.dictionary import PronunciationDictionary
from studio.project.draft_writer import DraftWriter, Unwritten
from studio.project.drafts import Draft, WorkingCopy, created_at
from studio.project.fingerprint import fingerprint
from studio.project.lines import Line, LineState, new_id
from studio.project.recording import TakeRecorder
from studio.project.saving import Snapshot
from studio.project.script import Script
from studio.project.takes import Take, TakeParameters
from studio.project.voice_keys import VoiceKeys, voice_matches
from studio.wording import Message, wording

_log = logging.getLogger(__name__)


class Project:
    """Made by ``create``, ``open`` or ``recover``; ``close`` it. Safe from any thread.

    ``apply`` is quick. ``open``, ``save`` and ``samples_of`` take as long as the disk needs for hours of
    sound: call them where nobody waits. ``global_dictionary`` is the person's own, under the project's.
    ``voice_keys`` are those of the library, for whoever has one: without them voices are told by name.
    """

    def __init__(self, working_copy: WorkingCopy, *, global_dictionary: PronunciationDictionary | None = None) -> None:
        """Not to be called: see the class methods."""
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
        self._highest_numbers: dict[str, int] = {}  # of lines some of whose takes went: these may come back
        self.voice_keys: VoiceKeys = {}
        self._fingerprints: dict[str, tuple[Line, str]] = {}
        self._global_dictionary = global_dictionary or PronunciationDictionary()
        self._dictionary_in_force = self._script.dictionary.over(self._global_dictionary)

    # Whence a project comes. All three raise ``CannotWrite`` and ``DiskFull`` of the drafts folder.

    @classmethod
    def create(cls, drafts: Path, *, global_dictionary: PronunciationDictionary | None = None) -> Self:
        """An empty one, which belongs to no file yet."""
        return cls(WorkingCopy.create(drafts), global_dictionary=global_dictionary)

    @classmethod
    def open(cls, path: Path, drafts: Path, *, global_dictionary: PronunciationDictionary | None = None) -> Self:
        """Raises ``UnreadableProject``."""
        working_copy = WorkingCopy.create(drafts, copy_of=path)
        try:
            working_copy.storage.bind(path.resolve(), is_modified=False)
            return cls(working_copy, global_dictionary=global_dictionary)
        except BaseException:
            working_copy.close(keeps_draft=False)
            raise

    @classmethod
    def recover(cls, draft: Draft | Path, *, global_dictionary: PronunciationDictionary | None = None) -> Self:
        """What a program that died left behind, the takes it was recording included.

        Raises ``ProjectInUse`` and ``UnreadableProject``.
        """
        working_copy = WorkingCopy.adopt(draft.path if isinstance(draft, Draft) else draft)
        try:
            project = cls(working_copy, global_dictionary=global_dictionary)
            project._adopt_recordings()
        except BaseException:
            working_copy.close(keeps_draft=True)
            raise
        return project

    # What is in it.

    @property
    def script(self) -> Script:
        """All of it at this moment; a value, which later changes leave alone."""
        return self._script

    @property
    def notice(self) -> Message | None:
        """What the user should know about the file as it was read."""
        replaced = self._storage.replaced
        if not replaced:
            return None
        return wording(
            "{count} unusable values in this script were replaced by defaults: {names}.",
            count=len(replaced),
            names=", ".join(dict.fromkeys(replaced)),
        )

    @property
    def name(self) -> str:
        return self._script.name

    @property
    def lines(self) -> tuple[Line, ...]:
        return self._script.lines

    @property
    def dictionary(self) -> PronunciationDictionary:
        """The project's own entries."""
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
        """The project's entries over the person's own: by these, lines are spoken."""
        return self._dictionary_in_force

    def line(self, line_id: str) -> Line:
        return self._script.line(line_id)

    def has_line(self, line_id: str) -> bool:
        return line_id in self._script.index_of

    def takes_of(self, line_id: str) -> tuple[Take, ...]:
        """In order of number."""
        return self._script.takes_of(line_id)

    def take(self, take_id: str) -> Take:
        """Raises ``TakeNotFound``."""
        return self._script.take(take_id)

    def chosen_take(self, line_id: str) -> Take | None:
        take_id = self._script.line(line_id).chosen_take
        return next((take for take in self._script.takes_of(line_id) if take.id == take_id), None)

    def samples_of(self, take_id: str) -> Samples:
        """(n,) float32, sample for sample what was played. Raises ``TakeNotFound``."""
        samples = self._storage.samples(take_id)
        if not len(samples):
            raise TakeNotFound("The sound of this take is not in the project.", remedy="Speak the line again.")
        return samples

    def fingerprint_of(self, line_id: str) -> str:
        with self._lock:
            line = self._script.line(line_id)
            known = self._fingerprints.get(line_id)
            if known is None or known[0] is not line:
                known = (line, fingerprint(line, self._dictionary_in_force))
                self._fingerprints[line_id] = known
            return known[1]

    def state_of(self, line_id: str) -> LineState:
        """``DRAFT``, ``OUTDATED``, ``CHECK`` or ``READY``; what is at work on the line is known to whoever works.

        A take that was stopped says only the beginning of what is written. To keep a take of odd length,
        or to lock its line, is to accept it.
        """
        take = self.chosen_take(line_id)
        if take is None:
            return LineState.DRAFT
        is_fresh = take.recipe.line_fingerprint == self.fingerprint_of(line_id) and voice_matches(
            self.line(line_id), take.recipe, self.voice_keys
        )
        if not (is_fresh and take.is_complete):
            return LineState.OUTDATED
        is_accepted = take.recipe.odd_length is None or take.is_kept or self.line(line_id).is_locked
        return LineState.READY if is_accepted else LineState.CHECK

    # What can be done with it.

    def apply(self, change: Change) -> Change:
        """Make the change, in memory and in the working copy, and return its inverse.

        A change that the disk refuses is kept in memory: see ``unwritten``.
        """
        with self._lock:
            inverse = self._apply(change)
            self._add_waiting_takes()
            return inverse

    @property
    def unwritten(self) -> Unwritten | None:
        """Changes that a full disk did not accept yet. The next change and ``write_again`` try to write them too."""
        return self._draft_writer.unwritten

    def write_again(self) -> None:
        """Write what is ``unwritten``, if the disk accepts it now; also takes that were waiting for that."""
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
        """Add takes whose sound a full disk did not accept, once there is room."""
        if self.unwritten is not None:
            return
        for recorder in [each for each in tuple(self._recorders) if each.is_waiting]:
            try:
                self._add_recorded(recorder.retry_finish())
            except StudioError as error:
                _log.info("take %s still waits: %s", recorder.take_id, error)
                return

    def begin_take(self, line_id: str, recipe: TakeParameters, sample_rate: int) -> TakeRecorder:
        """A take that is now being spoken. Raises ``DiskFull`` and ``CannotWrite``."""
        with self._lock:
            numbers = [take.number for take in self._script.takes_of(self._script.line(line_id).id)]
            numbers += [recorder.number for recorder in tuple(self._recorders) if recorder.line_id == line_id]
            numbers.append(self._highest_numbers.get(line_id, 0))
            take = Take(
                id=new_id(),
                line_id=line_id,
                number=max(numbers) + 1,
                created=datetime.now(UTC),
                audio_seconds=0.0,
                sample_rate=sample_rate,
                recipe=recipe,
                is_complete=False,
            )
            self._storage.put_recording(take)
            recorder = TakeRecorder(take, self._storage, self._writer, on_end=self._recorders.discard)
            self._recorders.add(recorder)
            return recorder

    @property
    def is_modified(self) -> bool:
        """Whether it holds more than its file: undoing everything since makes it unmodified again."""
        return self._script != self._saved

    @property
    def path(self) -> Path | None:
        """Its file; None if it was never saved."""
        return self._path

    @property
    def begun(self) -> datetime:
        """When its working copy was made: for a script without a file, when it was begun. Survives recovery."""
        return created_at(self.draft_path)

    @property
    def draft_path(self) -> Path:
        return self._working_copy.path

    def save(self, path: Path | None = None, *, replaces_foreign: bool = False) -> None:
        """Writes all to ``path``, or to the file it has; from then on that is its file. Changes may go on meanwhile.

        Raises ``CannotWrite`` and ``DiskFull``; and ``ProjectChangedElsewhere`` where its own file is not
        the one it opened or last saved, unless ``replaces_foreign``.
        """
        target = path or self._path
        assert target is not None, "somebody has been asked where to"
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
        """Ends it. Unless ``keeps_draft``, what was not saved is gone: somebody has been asked.

        With ``keeps_draft`` the next start offers it, if there is more in it than in its file.
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
        """A take that comes late: it is chosen only where none is, and goes where its line has gone."""
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
                "{file} has been changed by another program since it was opened.",
                remedy="Save under another name to keep both.",
                file=path.name,
            )
