"""Import of voices from audio files, folders, recordings, ``.voice`` files and official stored voices.

A single audio file opens the clip editor. Several files become voices at once, each from its suggested clip.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QStandardPaths, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from studio.app.background import run_in_background
from studio.app.playback.audio_player import AudioPlayer
from studio.app.voices import new_voices
from studio.app.voices.recorder_dialog import RecorderDialog
from studio.app.voices.recording_session import RecordingSession
from studio.app.voices.voice_edits import VoiceEdits
from studio.app.widgets.dialogs import default_folder, open_dialog
from studio.audio.media import MEDIA_SUFFIXES
from studio.audio.output_device import PortAudioOutputs
from studio.audio.recording import OpenInput, open_input
from studio.errors import StudioError, UnreadableClip
from studio.messages import listed
from studio.voices.library import Voice
from studio.voices.voice_file import SUFFIX as VOICE_SUFFIX
from studio.worker.process import WorkerProcess

if TYPE_CHECKING:
    from studio.app.models.model_tasks import ModelTasks
    from studio.app.voices.clip_editor_dialog import ClipEditorDialog
    from studio.app.voices.new_voices import ClipSuggestion, CreatedVoices
    from studio.app.voices.spoken_consent_field import ConsentServices
    from studio.app.voices.transcript_comparison import Transcribe
    from studio.audio.waveform import Waveform
    from studio.take_checks.service import TakeCheckService
    from studio.worker.process import Worker


AUDIO_SUFFIXES = MEDIA_SUFFIXES | {
    ".wav", ".wave", ".flac", ".ogg", ".oga", ".mp3", ".aif", ".aiff", ".aifc", ".caf", ".au", ".snd", ".w64", ".rf64",
    ".avr", ".iff", ".nist", ".paf", ".pvf", ".sd2", ".sds", ".sf", ".sph", ".svx", ".voc", ".xi",
}  # fmt: skip
STORED_VOICES_SUFFIX = ".pt"
# A folder with more files is probably a music collection that was dropped by mistake.
MAX_FILES = 200

Then = Callable[[Voice], object] | None


@dataclass(frozen=True, slots=True)
class VoiceImportServices:
    """Devices and processes that the import of voices uses."""

    make_player: Callable[[QObject], AudioPlayer] = field(
        default=lambda parent: AudioPlayer(PortAudioOutputs(), parent)
    )
    open_input: OpenInput = open_input  # the microphone
    start_worker: Callable[[], Worker] | None = None  # a ``WorkerProcess`` by default
    model_folder: Callable[[], Path | None] = field(default=lambda: None)  # folder of the selected model
    transcribe: Transcribe | None = None  # recognises speech, to compare it with transcripts
    models: ModelTasks | None = None  # downloads a recogniser
    open_checks: Callable[[], TakeCheckService] | None = None  # opens the process that compares speakers
    # Returns the call that gives a new voice to the line that is current now, if this is possible.
    for_current_line: Callable[[], Then] = field(default=lambda: None)


class VoiceImporter(QObject):
    """Imports voices. All methods return at once; the signals and the commands of ``edits`` report the results."""

    status_message = Signal(str)
    failed = Signal(object)  # StudioError
    _file_started = Signal(int, int)  # number and total; emitted on a background thread

    def __init__(self, edits: VoiceEdits, services: VoiceImportServices, window: QWidget) -> None:
        super().__init__(window)
        self._edits = edits
        self._services = services
        self._window = window
        self._folder = default_folder(QStandardPaths.StandardLocation.MusicLocation)
        self._imports: set[asyncio.Task[None]] = set()
        self._file_started.connect(self._on_file_started)

    @property
    def transcribe(self) -> Transcribe | None:
        """Recognises speech, to compare it with transcripts."""
        return self._services.transcribe

    @property
    def models(self) -> ModelTasks | None:
        """Downloads a recogniser."""
        return self._services.models

    def make_player(self, parent: QObject) -> AudioPlayer:
        """Return a player for clips."""
        return self._services.make_player(parent)

    def consent_services(self, voice_clip: Callable[[], Path | Waveform | None]) -> ConsentServices | None:
        """Return what records the consent of the speaker of ``voice_clip``, or None if speakers cannot be compared."""
        if self._services.open_checks is None:
            return None
        from studio.app.voices.spoken_consent_field import ConsentServices  # noqa: PLC0415 - after the first paint

        patterns = " ".join(f"*{suffix}" for suffix in sorted(AUDIO_SUFFIXES))
        return ConsentServices(
            voice_clip,
            self._edits.library,
            self._services.open_checks,
            self._services.open_input,
            self.make_player,
            self.tr("Audio files ({patterns})").format(patterns=patterns),
        )

    def describe_drop(self, paths: list[Path]) -> str | None:
        """Return the text of the drop overlay for ``paths``, or None if they cannot become voices."""
        if not may_hold_voices(paths):
            return None
        if len(paths) == 1 and not paths[0].is_dir():
            return self.tr("Drop to create a voice from {name}").format(name=paths[0].name)
        return self.tr("Drop to create one voice per file")

    def import_paths(self, paths: list[Path], *, then: Then = None) -> None:
        """Import files and folders.

        ``then`` receives the voice of a single audio file, by default for the current line. Its changes are undone
        together with the import.
        """
        done = partial(self._on_classified, then or self._services.for_current_line())
        run_in_background(self, partial(classify_paths, paths), done=done, failed=self.failed.emit)

    def choose_files(self) -> None:
        patterns = " ".join(f"*{suffix}" for suffix in sorted(AUDIO_SUFFIXES))
        dialog = QFileDialog(self._window, self.tr("New voices from files"), self._folder)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters(
            [
                self.tr("Audio and voice files ({patterns})").format(
                    patterns=f"{patterns} *{VOICE_SUFFIX} spk2info.pt"
                ),
                self.tr("All files ({patterns})").format(patterns="*"),
            ]
        )
        dialog.filesSelected.connect(lambda names: self._import_chosen([Path(name) for name in names]))
        open_dialog(dialog)

    def _import_chosen(self, paths: list[Path]) -> None:
        """Import ``paths`` and open the next file dialog in their folder."""
        self._folder = str(paths[0].parent)
        self.import_paths(paths)

    def record(self) -> None:
        then = self._services.for_current_line()

        def suggest() -> None:
            self._edit_new(
                partial(new_voices.suggest_clip, dialog.recording, self.tr("My voice"), dialog.transcript), then
            )

        session = RecordingSession(open_input=self._services.open_input)
        dialog = RecorderDialog(session, self.make_player(self._window), self._window)
        session.setParent(dialog)
        dialog.accepted.connect(suggest)
        open_dialog(dialog)

    def reopen_recording(self, voice: Voice) -> None:
        """Open the clip editor with the clip of ``voice``, to create another voice from it."""
        self._edit_new(partial(_suggest_from_voice, voice))

    def _on_classified(self, then: Then, found: DroppedPaths) -> None:
        for path in found.voice_files:
            self._import_voice(path)
        for path in found.stored_voices:
            self._import_stored(path)
        if len(found.recordings) == 1:
            self._read(found.recordings[0], then)
        elif found.recordings:
            self._create_all(found.recordings)
        if not found.num_usable:
            names = [path.name for path in found.others[:3]]
            self.failed.emit(
                UnreadableClip(
                    "{names}: no usable audio found." if names else "No usable audio found in this folder.",
                    remedy="Use recordings such as WAV, FLAC, MP3 or M4A files.",
                    names=names,
                )
            )

    def _read(self, path: Path, then: Then) -> None:
        self.status_message.emit(self.tr("Reading {name}…").format(name=path.name))
        self._edit_new(partial(new_voices.suggest_from_file, path, self.tr("Voice")), then)

    def _edit_new(self, suggest: Callable[[], ClipSuggestion], then: Then = None) -> None:
        """Call ``suggest`` in the background, then open the clip editor with its result under a free name."""

        def work() -> ClipSuggestion:
            suggestion = suggest()
            return replace(suggestion, name=self._edits.library.unique_name(suggestion.name))

        run_in_background(self, work, done=partial(self._open_editor, then), failed=self.failed.emit)

    def _open_editor(self, then: Then, suggestion: ClipSuggestion) -> None:
        from studio.app.voices.clip_editor_dialog import ClipEditorDialog  # noqa: PLC0415 - after the first paint

        self.status_message.emit("")
        player = self.make_player(self._window)
        dialog = ClipEditorDialog(suggestion, player, self._window, transcribe=self.transcribe, models=self.models)
        consents = self.consent_services(lambda: suggestion.clip(dialog.window_of_clip))
        if consents is not None:
            dialog.add_spoken_consent(consents)
        dialog.accepted.connect(lambda: self._add(dialog, then))
        dialog.rejected.connect(dialog.deleteLater)
        dialog.open()

    def _add(self, dialog: ClipEditorDialog, then: Then) -> None:
        suggestion, window, details = dialog.suggestion, dialog.window_of_clip, dialog.details

        def work() -> Voice:
            return self._edits.library.add_sound(suggestion.clip(window), details).voice

        def on_added(voice: Voice) -> None:
            dialog.deleteLater()
            self._keep([voice], then=then and partial(then, voice))

        def on_refused(error: StudioError) -> None:
            """Reopen the dialog with everything that was typed, for example if the name is taken."""
            dialog.show_problem(error)
            dialog.open()

        run_in_background(self, work, done=on_added, failed=on_refused)

    def _create_all(self, paths: list[Path]) -> None:
        work = partial(
            new_voices.create_from_files, self._edits.library, paths, self.tr("Voice"), self._file_started.emit
        )
        run_in_background(self, work, done=self._on_created, failed=self.failed.emit)

    def _on_file_started(self, number: int, total: int) -> None:
        self.status_message.emit(self.tr("Creating voices: {number} of {total}…").format(number=number, total=total))

    def _on_created(self, created: CreatedVoices) -> None:
        self._keep(created.voices)
        if created.refused:
            self.failed.emit(
                UnreadableClip(
                    "{count} of {total} files could not be imported.",
                    remedy=listed(created.refused),
                    count=len(created.refused),
                    total=len(created.refused) + len(created.voices),
                )
            )

    def _import_voice(self, path: Path) -> None:
        work = partial(self._edits.library.import_, path, finds_free_name=True)
        run_in_background(self, work, done=lambda addition: self._keep([addition.voice]), failed=self.failed.emit)

    def _import_stored(self, path: Path) -> None:
        task = asyncio.ensure_future(self._import_spk2info(path))
        self._imports.add(task)
        task.add_done_callback(self._imports.discard)

    async def _import_spk2info(self, path: Path) -> None:
        self.status_message.emit(self.tr("Reading {name}…").format(name=path.name))
        try:
            created = await new_voices.import_spk2info(
                path,
                self._edits.library,
                start_worker=self._services.start_worker or WorkerProcess,
                model_folder=self._services.model_folder(),
            )
        except StudioError as error:
            self.failed.emit(error)
            return
        self._on_created(created)

    def _keep(self, voices: list[Voice], *, then: Callable[[], object] | None = None) -> None:
        self._edits.keep(voices, then=then)
        if len(voices) == 1:
            words = self.tr("Added voice {name}") if then is None else self.tr("Added voice {name} and used it here")
            self.status_message.emit(words.format(name=voices[0].name))
        elif voices:
            self.status_message.emit(self.tr("Added {count} voices").format(count=len(voices)))


def _suggest_from_voice(voice: Voice) -> ClipSuggestion:
    return replace(
        new_voices.suggest_from_file(voice.clip, voice.name), name=voice.name, transcript=voice.transcript or ""
    )


@dataclass
class DroppedPaths:
    """Dropped files, sorted by kind."""

    recordings: list[Path] = field(default_factory=list)
    voice_files: list[Path] = field(default_factory=list)
    stored_voices: list[Path] = field(default_factory=list)  # official ``spk2info.pt`` files
    others: list[Path] = field(default_factory=list)  # files that cannot become voices

    @property
    def num_usable(self) -> int:
        return len(self.recordings) + len(self.voice_files) + len(self.stored_voices)


def classify_paths(paths: list[Path]) -> DroppedPaths:
    """Classify ``paths``, and the audio and voice files in folders, until ``MAX_FILES`` usable files are found."""
    found = DroppedPaths()
    for path in paths:
        if path.is_dir():
            for inside in _files_in(path):
                if found.num_usable < MAX_FILES and inside.suffix.lower() != STORED_VOICES_SUFFIX:
                    _add(inside, found, keeps_others=False)
        elif found.num_usable < MAX_FILES:
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
