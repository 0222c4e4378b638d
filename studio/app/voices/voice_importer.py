"""From files, folders, a microphone or another program's voices to voices of the library, with the questions in between.

One sound opens the prompt doctor; several become voices at once, each cut as the doctor proposes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from studio.app.background import run_in_background
from studio.app.default_folders import default_folder
from studio.app.voices.clip_player import ClipPlayer
from studio.app.voices.dropped_paths import SOUND_SUFFIXES, DroppedPaths, classify_paths, may_hold_voices
from studio.app.voices.languages import language_of
from studio.app.voices.voice_edits import VoiceEdits
from studio.audio.recording import OpenInput, open_input
from studio.errors import StudioError, UnreadableClip
from studio.voices.best_segment import PromptWindow
from studio.voices.library import Voice, VoiceDetails, VoiceLibrary
from studio.voices.voice_file import SUFFIX as VOICE_SUFFIX
from studio.wording import Message, listed, wording

if TYPE_CHECKING:
    from studio.app.voices.clip_editor_dialog import ClipEditorDialog
    from studio.app.voices.clip_suggestion import ClipSuggestion
    from studio.app.voices.recorder_dialog import RecorderDialog
    from studio.worker.connection import Worker


Then = Callable[[Voice], object] | None


@dataclass(frozen=True, slots=True)
class VoiceImportServices:
    """Where new voices come from, beside files; tests hand in others. ``model_folder``: of the model chosen now."""

    make_player: Callable[[QObject], ClipPlayer] = field(default=lambda parent: ClipPlayer(parent=parent))
    open_input: OpenInput = open_input
    start_worker: Callable[[], Worker] | None = None
    model_folder: Callable[[], Path | None] = field(default=lambda: None)


class VoiceImporter(QObject):
    """Every slot returns at once; what becomes of it is told by ``told`` and ``failed``, and in ``edits``."""

    status_message = Signal(str)
    failed = Signal(object)  # StudioError
    _begun = Signal(int, int)  # from the thread that makes several voices: which of how many

    def __init__(self, edits: VoiceEdits, sources: VoiceImportServices, window: QWidget) -> None:
        super().__init__(window)
        self._edits = edits
        self._sources = sources
        self._window = window
        self._folder = default_folder(QStandardPaths.StandardLocation.MusicLocation)
        self._imports: set[asyncio.Task[None]] = set()
        self._begun.connect(self._on_begun)

    # What a person can do.

    def describe_drop(self, paths: list[Path]) -> str | None:
        """What letting these files go over the window would do; None if nothing."""
        if not may_hold_voices(paths):
            return None
        if len(paths) == 1 and not paths[0].is_dir():
            return self.tr("Drop it to make a voice of {name}").format(name=paths[0].name)
        return self.tr("Drop them to make a voice of each sound")

    def take(self, paths: list[Path], *, then: Then = None) -> None:
        """Files and folders, dropped or chosen. ``then`` gets the voice that is made of a single sound; one undo takes both back."""
        done = partial(self._on_sorted_out, then)
        run_in_background(self, partial(classify_paths, paths), done=done, failed=self.failed.emit)

    def choose_files(self) -> None:
        sounds = " ".join(f"*{suffix}" for suffix in sorted(SOUND_SUFFIXES))
        dialog = QFileDialog(self._window, self.tr("New voices from files"), self._folder)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters(
            [
                self.tr("Sounds and voices ({patterns})").format(patterns=f"{sounds} *{VOICE_SUFFIX} spk2info.pt"),
                self.tr("All files ({patterns})").format(patterns="*"),
            ]
        )
        dialog.filesSelected.connect(lambda names: self._take_chosen([Path(name) for name in names]))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _take_chosen(self, paths: list[Path]) -> None:
        """The next ones are looked for where these were."""
        self._folder = str(paths[0].parent)
        self.take(paths)

    def record(self) -> None:
        from studio.app.voices.recorder_dialog import RecorderDialog  # noqa: PLC0415 - after the first paint
        from studio.app.voices.recording_session import RecordingSession  # noqa: PLC0415

        session = RecordingSession(open_input=self._sources.open_input)
        dialog = RecorderDialog(session, self._sources.make_player(self._window), self._window)
        session.setParent(dialog)
        dialog.accepted.connect(lambda: self._on_recorded(dialog))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def examine_again(self, voice: Voice) -> None:
        """Another voice from the same recording."""
        run_in_background(
            self,
            partial(_proposal_of, voice),
            done=partial(self._open_doctor, None),
            failed=self.failed.emit,
        )

    # What follows.

    def _on_sorted_out(self, then: Then, found: DroppedPaths) -> None:
        for path in found.voice_files:
            self._import_voice(path)
        for path in found.stored_voices:
            self._import_stored(path)
        if len(found.sounds) == 1:
            self._read(found.sounds[0], then)
        elif found.sounds:
            self._make_all(found.sounds)
        if not found.num_usable:
            names = ", ".join(path.name for path in found.others[:3])
            self.failed.emit(
                UnreadableClip(
                    "{names}: there is no sound in it that could become a voice."
                    if names
                    else "There is no sound in this folder that could become a voice.",
                    remedy="Drop recordings such as WAV, FLAC, MP3 or M4A.",
                    names=names,
                )
            )

    def _read(self, path: Path, then: Then) -> None:
        from studio.app.voices.clip_suggestion import propose_from  # noqa: PLC0415 - after the first paint

        self.status_message.emit(self.tr("Reading {name}…").format(name=path.name))
        work = partial(propose_from, path, self.tr("Voice"))
        run_in_background(self, work, done=partial(self._open_doctor, then), failed=self.failed.emit)

    def _on_recorded(self, dialog: RecorderDialog) -> None:
        from studio.app.voices.clip_suggestion import suggest_clip  # noqa: PLC0415 - after the first paint

        work = partial(suggest_clip, dialog.recording, self.tr("My voice"), dialog.transcript)
        run_in_background(self, work, done=partial(self._open_doctor, None), failed=self.failed.emit)

    def _open_doctor(self, then: Then, suggestion: ClipSuggestion) -> None:
        self.status_message.emit("")
        library = self._edits.library
        run_in_background(
            self,
            partial(library.unique_name, suggestion.name),
            done=partial(self._show_doctor, then, suggestion),
            failed=self.failed.emit,
        )

    def _show_doctor(self, then: Then, suggestion: ClipSuggestion, unique_name: str) -> None:
        from studio.app.voices.clip_editor_dialog import ClipEditorDialog  # noqa: PLC0415 - after the first paint

        dialog = ClipEditorDialog(suggestion, self._sources.make_player(self._window), self._window, name=unique_name)
        dialog.accepted.connect(lambda: self._add(dialog, then))
        dialog.rejected.connect(dialog.deleteLater)
        dialog.open()

    def _add(self, dialog: ClipEditorDialog, then: Then) -> None:
        run_in_background(
            self,
            partial(_add_sound, self._edits.library, dialog.suggestion, dialog.window_of_clip, dialog.details),
            done=partial(self._on_added, dialog, then),
            failed=partial(self._on_not_added, dialog),
        )

    def _on_added(self, dialog: ClipEditorDialog, then: Then, voice: Voice) -> None:
        dialog.deleteLater()
        self._keep([voice], then=None if then is None else partial(then, voice))

    def _on_not_added(self, dialog: ClipEditorDialog, error: StudioError) -> None:
        """Nothing that was typed is lost: the name is taken, or the disk is full."""
        dialog.show_problem(error)
        dialog.open()

    def _make_all(self, paths: list[Path]) -> None:
        work = partial(_make_all, self._edits.library, paths, self.tr("Voice"), self._begun.emit)
        run_in_background(self, work, done=self._on_all_made, failed=self.failed.emit)

    def _on_begun(self, number: int, total: int) -> None:
        self.status_message.emit(self.tr("Making voices: {number} of {total}…").format(number=number, total=total))

    def _on_all_made(self, made: _Made) -> None:
        self._keep(made.voices)
        if made.refused:
            self.failed.emit(
                UnreadableClip(
                    "{count} of {total} files could not become voices.",
                    remedy=listed(made.refused),
                    count=len(made.refused),
                    total=len(made.refused) + len(made.voices),
                )
            )

    def _import_voice(self, path: Path) -> None:
        work = partial(self._edits.library.import_, path, finds_free_name=True)
        run_in_background(self, work, done=lambda addition: self._keep([addition.voice]), failed=self.failed.emit)

    def _import_stored(self, path: Path) -> None:
        task = asyncio.ensure_future(self._take_over(path))
        self._imports.add(task)
        task.add_done_callback(self._imports.discard)

    async def _take_over(self, path: Path) -> None:
        from studio.app.voices.stored_voices import import_spk2info  # noqa: PLC0415 - hardly anybody needs it
        from studio.worker.process import WorkerProcess  # noqa: PLC0415

        self.status_message.emit(self.tr("Reading {name}…").format(name=path.name))
        try:
            voices, refused = await import_spk2info(
                path,
                self._edits.library,
                start_worker=self._sources.start_worker or WorkerProcess,
                model_folder=self._sources.model_folder(),
            )
        except StudioError as error:
            self.failed.emit(error)
            return
        self._on_all_made(_Made(voices, refused))

    def _keep(self, voices: list[Voice], *, then: Callable[[], object] | None = None) -> None:
        self._edits.keep(voices, then=then)
        if len(voices) == 1:
            self.status_message.emit(self.tr("{name} is a voice now.").format(name=voices[0].name))
        elif voices:
            self.status_message.emit(self.tr("{count} new voices.").format(count=len(voices)))


@dataclass(frozen=True, slots=True)
class _Made:
    voices: list[Voice]
    refused: list[Message]


def _make_all(
    library: VoiceLibrary, paths: list[Path], fallback_name: str, begin: Callable[[int, int], object]
) -> _Made:
    from studio.app.voices.clip_suggestion import propose_from  # noqa: PLC0415 - after the first paint

    made = _Made([], [])
    for number, path in enumerate(paths, start=1):
        begin(number, len(paths))
        try:
            suggestion = propose_from(path, fallback_name)
            name = library.unique_name(suggestion.name)
            details = VoiceDetails(
                name, suggestion.transcript or None, language=language_of(suggestion.transcript) or None
            )
            made.voices.append(library.add_sound(suggestion.clip(), details).voice)
        except StudioError as error:
            made.refused.append(wording("{file}: {reason}", file=path.name, reason=error))
    return made


def _add_sound(library: VoiceLibrary, suggestion: ClipSuggestion, window: PromptWindow, details: VoiceDetails) -> Voice:
    return library.add_sound(suggestion.clip(window), details).voice


def _proposal_of(voice: Voice) -> ClipSuggestion:
    from studio.app.voices.clip_suggestion import propose_from  # noqa: PLC0415 - after the first paint

    return replace(propose_from(voice.clip, voice.name), name=voice.name, transcript=voice.transcript or "")
