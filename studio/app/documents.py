"""File commands: create, open, import, save and recover projects without blocking the window."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale, QObject, QStandardPaths, QTimer, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from studio.app.background import run_in_thread
from studio.app.error_text import error_message, error_remedy, message_text
from studio.app.recovery_dialog import RecoveryDialog
from studio.app.session import Session
from studio.app.widgets.copy_report import CopyReportButton
from studio.app.widgets.dialogs import ask, choose_file, default_folder
from studio.errors import ProjectChangedElsewhere, StudioError
from studio.health.log_file import note_shown
from studio.project.changes import InsertLines
from studio.project.drafts import Draft, discard_draft, recoverable_drafts
from studio.project.lines import Line, new_id
from studio.project.project import Project
from studio.project.source_files import digest_of, folder_of, locate
from studio.settings import AUTOSAVE_MINUTES, PAUSE_AFTER_SECONDS
from studio.settings_store import Settings

if TYPE_CHECKING:
    from studio.app.importing.importer import ScriptImporter

PROJECT_SUFFIX = ".timbre"
_ACCEPT = QMessageBox.ButtonRole.AcceptRole
_DESTRUCTIVE = QMessageBox.ButtonRole.DestructiveRole


class UnsavedChangesChoice(Enum):
    """Answer to the question about unsaved changes."""

    SAVE = "save"
    SAVE_ELSEWHERE = "save elsewhere"
    DISCARD = "discard"
    CANCEL = "cancel"


def new_project(drafts: Path, settings: Settings) -> Project:
    """Return a project with one empty line. Raises ``CannotWrite`` and ``DiskFull``."""
    project = Project.create(drafts)
    project.apply(InsertLines(0, (Line(id=new_id(), pause_after_seconds=settings[PAUSE_AFTER_SECONDS]),)))
    return project


class Documents(QObject):
    """Runs the commands. Dialogs run in the window's event loop, file access on other threads."""

    title_changed = Signal()
    task_changed = Signal(object)  # text for the status bar, or None
    script_read = Signal(list, list)  # lines of an imported text, and changes that belong to the same undo step
    script_updated = Signal(list, str)  # ids of lines that an update of the script changed, and a message
    cast_wanted = Signal(object)  # keys of imported characters without a voice
    failed = Signal(object)  # StudioError
    noticed = Signal(str)  # a notice about the opened script
    file_used = Signal(object)  # Path that was opened, imported or saved

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._window = window
        self._opening: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._autosave = QTimer(self)
        self._autosave.timeout.connect(self._on_autosave)
        session.editor.modified_changed.connect(self.title_changed)
        session.editor.script_changed.connect(self.title_changed)
        session.editor.project_replaced.connect(self.title_changed)
        session.editor.project_replaced.connect(self._show_notice)
        self.apply_settings()

    def apply_settings(self) -> None:
        minutes = self._session.settings[AUTOSAVE_MINUTES]
        self._autosave.setInterval(60_000 * max(1, minutes))
        self._autosave.start() if minutes else self._autosave.stop()

    def _show_notice(self) -> None:
        notice = self._session.editor.project.notice
        if notice is not None:
            self.noticed.emit(message_text(notice))

    @property
    def name(self) -> str:
        path = self._session.editor.project.path
        return path.stem if path else self._session.editor.project.name or self.tr("Untitled")

    @property
    def has_unsaved_changes(self) -> bool:
        """Whether closing would lose work. An empty script that was never saved does not count."""
        project = self._session.editor.project
        if not project.is_modified:
            return False
        return (
            project.path is not None or any(line.text.strip() for line in project.lines) or bool(project.script.takes)
        )

    # Menu commands.

    def new(self) -> None:
        self._start(self._new())

    def open(self) -> None:
        """Ask for a script or text. A text becomes a new script, unless the open one is empty."""
        every, scripts, texts = self._kinds()
        self._ask_for_file(self.tr("Open"), (every, scripts, texts), self.open_anew)

    def open_anew(self, path: Path) -> None:
        """Open a script, or a text as a new script."""
        is_script = path.suffix.lower() == PROJECT_SUFFIX
        self._start(self.open_path(path) if is_script else self.import_path(path, replaces_script=True))

    def save(self) -> None:
        if self._session.editor.project.path is None:
            self.save_as()
        else:
            self._start(self._save(None))

    def save_as(self) -> None:
        self._start(self._save_as())

    def open_sample(self) -> None:
        """Replace the script with the sample, and offer voices for its characters."""
        self._start(self._open_sample())

    def open_files(self, *paths: Path) -> None:
        """Open scripts or texts that were dropped or named on the command line, in this order."""
        self._opening = self._start(self._open_in_order(paths))

    def import_text(self) -> None:
        _, _, texts = self._kinds()
        self._ask_for_file(self.tr("Import"), (texts,), lambda path: self._start(self.import_path(path)))

    def insert_dialogue(self, text: str) -> None:
        """Insert a pasted text as lines of its speakers, and offer voices for them."""
        self._start(self._importer.insert_text(text))

    def update(self) -> None:
        """Update the script from the imported file if that has changed, and otherwise ask for its new version."""
        self._start(self._update())

    async def _update(self) -> None:
        project = self._session.editor.project
        sources = project.script.details.sources
        found = [locate(source, project.path) for source in sources]
        if len(found) == 1 and await run_in_thread(digest_of, found[0]) not in ("", sources[0].digest):
            await self._importer.update(found[0])
            return
        _, _, texts = self._kinds()
        folder = str(found[0].parent) if found and found[0].is_file() else self._usual_folder()
        choose_file(self._window, self.tr("Update"), self.update_from, folder=folder, filters=(texts,))

    def update_from(self, path: Path) -> None:
        self._start(self._importer.update(path))

    def _kinds(self) -> tuple[str, str, str]:
        """Return the file filters of all files that can be opened, of scripts, and of texts."""
        from studio.project.importing.script_file import SCRIPT_SUFFIXES  # noqa: PLC0415 - after the first paint

        patterns = " ".join(f"*{suffix}" for suffix in SCRIPT_SUFFIXES)
        return (
            self.tr("Scripts and texts ({patterns})").format(patterns=f"*{PROJECT_SUFFIX} {patterns}"),
            self.tr("Timbre scripts (*{suffix})").format(suffix=PROJECT_SUFFIX),
            self.tr("Texts and tables ({patterns})").format(patterns=patterns),
        )

    # Asynchronous work.

    async def open_path(self, path: Path) -> None:
        """Open a project; import any other file into the open project."""
        if path.suffix.lower() != PROJECT_SUFFIX:
            await self.import_path(path)
            return
        if not await self._confirm_discard():
            return
        self.task_changed.emit(self.tr("Opening {name}").format(name=path.name))
        project = await run_in_thread(Project.open, path, self._session.services.drafts)
        await self._session.replace_project(project)
        self.file_used.emit(path)

    async def _open_in_order(self, paths: Sequence[Path]) -> None:
        for path in paths:
            try:
                await self.open_path(path)
            except StudioError as error:
                self.failed.emit(error)

    async def import_path(self, path: Path, *, replaces_script: bool = False) -> None:
        """Import a text into the open script or, if ``replaces_script``, into a new one.

        If the open script was imported from this file, offer to update it instead.
        """
        updates = False if replaces_script else await self._importer.ask_to_update(path)
        if updates:
            await self._importer.update(path)
        if updates is not False:
            return
        self.task_changed.emit(self.tr("Reading {name}").format(name=path.name))
        imported = await self._importer.read(path, offers_update=not replaces_script)
        self.task_changed.emit(None)  # otherwise it would replace the message with the number of lines
        if imported is None or (replaces_script and not await self._make_room()):
            return
        self.file_used.emit(path)
        project = self._session.editor.project
        is_new = project.path is None and not project.name and not self.has_unsaved_changes
        await self._importer.insert(imported, name=path.stem if is_new else None)

    async def _open_sample(self) -> None:
        from studio.project.casting import LibraryNames, uncast_characters  # noqa: PLC0415 - after the first paint
        from studio.project.sample import read_sample  # noqa: PLC0415

        lines = await run_in_thread(read_sample, QLocale().name())
        if await self._make_room():
            self.script_read.emit(lines, [])
            voices = LibraryNames(voice.name for voice in await run_in_thread(self._session.library.voices))
            if uncast := uncast_characters(lines, voices):
                self.cast_wanted.emit(uncast)

    async def _make_room(self) -> bool:
        """Replace the open script with an empty one, unless it is new. Return False if the user cancels."""
        if self._session.editor.project.path is None and not self.has_unsaved_changes:
            return True
        if not await self._confirm_discard():
            return False
        await self._replace_by_new()
        return True

    @cached_property
    def _importer(self) -> ScriptImporter:
        from studio.app.importing.importer import ScriptImporter  # noqa: PLC0415 - after the first paint

        importer = ScriptImporter(self._session, self._window)
        importer.script_read.connect(self.script_read)
        importer.script_updated.connect(self.script_updated)
        importer.noticed.connect(self.noticed)
        importer.cast_wanted.connect(self.cast_wanted)
        importer.asked.connect(lambda: self.task_changed.emit(None))
        return importer

    def offer_recovery(self) -> None:
        """Offer to recover drafts after a crash, once the file named at the start is open."""
        self._start(self._offer_recovery())

    async def _offer_recovery(self) -> None:
        if self._opening is not None:
            await asyncio.wait([self._opening])
        folder = self._session.services.drafts
        damages: list[StudioError] = []
        drafts = await run_in_thread(lambda: recoverable_drafts(folder, on_damage=damages.append))
        for damage in damages:
            self.failed.emit(damage)
        if drafts:
            dialog = RecoveryDialog(drafts, self._window)
            dialog.recover_requested.connect(lambda draft: self._start(self.recover(draft)))
            dialog.discard_requested.connect(lambda draft: self._start(run_in_thread(discard_draft, draft)))
            dialog.open()

    async def recover(self, draft: Draft) -> None:
        if not await self._confirm_discard():
            return
        self.task_changed.emit(self.tr("Recovering"))
        project = await run_in_thread(Project.recover, draft)
        await self._session.replace_project(project)

    async def confirm_close(self) -> UnsavedChangesChoice:
        """Ask about unsaved changes, save them if the user agrees, and ask again if saving fails.

        If an export is running, ask first whether to stop it.
        """
        if self._session.is_exporting and not await self._ask_to_stop_export():
            return UnsavedChangesChoice.CANCEL
        if not self.has_unsaved_changes:
            return UnsavedChangesChoice.DISCARD
        choice = await self._ask_to_save()
        while choice in (UnsavedChangesChoice.SAVE, UnsavedChangesChoice.SAVE_ELSEWHERE):
            save = self._save_as if choice is UnsavedChangesChoice.SAVE_ELSEWHERE else self._save_as_needed
            try:
                return UnsavedChangesChoice.SAVE if await save() else UnsavedChangesChoice.CANCEL
            except StudioError as error:
                choice = await self._ask_after_failure(error)
            finally:
                self.task_changed.emit(None)
        return choice

    async def _new(self) -> None:
        if await self._confirm_discard():
            await self._replace_by_new()

    async def _replace_by_new(self) -> None:
        drafts, settings = self._session.services.drafts, self._session.settings
        await self._session.replace_project(await run_in_thread(new_project, drafts, settings))

    async def _confirm_discard(self) -> bool:
        return await self.confirm_close() is not UnsavedChangesChoice.CANCEL

    async def _save_as_needed(self) -> bool:
        return await (self._save_as() if self._session.editor.project.path is None else self._save(None))

    async def _save_as(self) -> bool:
        path = await self._ask_where()
        return path is not None and await self._save(path)

    async def _save(self, path: Path | None) -> bool:
        project = self._session.editor.project
        self.task_changed.emit(self.tr("Saving"))
        try:
            await run_in_thread(project.save, path)
        except ProjectChangedElsewhere as error:
            if not await self._ask_to_replace(error):
                return False
            await run_in_thread(lambda: project.save(path, replaces_foreign=True))
        self._session.editor.refresh(project.script)
        self.title_changed.emit()
        if path is not None:
            self.file_used.emit(path)
        return True

    def _on_autosave(self) -> None:
        project = self._session.editor.project
        if project.path is not None and project.is_modified:
            self._start(self._save(None))

    def _start(self, work: Awaitable[object]) -> asyncio.Task[None]:
        async def run() -> None:
            try:
                await work
            except StudioError as error:
                self.failed.emit(error)
            finally:
                self.task_changed.emit(None)

        task: asyncio.Task[None] = self._session.bridge.run(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def finished(self) -> None:
        """Wait until nothing is being opened, imported or saved."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    # Questions, without nested event loops.

    def _ask_for_file(self, title: str, kinds: Sequence[str], then: Callable[[Path], object]) -> None:
        choose_file(self._window, title, then, folder=self._usual_folder(), filters=kinds)

    def _usual_folder(self) -> str:
        project = self._session.editor.project
        folder = folder_of(project.script.details.sources, project.path)
        return str(folder) if folder else default_folder(QStandardPaths.StandardLocation.DocumentsLocation)

    async def _ask_where(self) -> Path | None:
        kinds = self.tr("Timbre scripts (*{suffix})").format(suffix=PROJECT_SUFFIX)
        dialog = QFileDialog(self._window, self.tr("Save script"), self._usual_folder(), kinds)
        dialog.selectFile(f"{self.name}{PROJECT_SUFFIX}")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix(PROJECT_SUFFIX[1:])
        accepted = await ask(dialog)
        return Path(dialog.selectedFiles()[0]) if accepted else None

    async def _ask_to_save(self) -> UnsavedChangesChoice:
        words = self.tr("Save changes to “{name}”?").format(name=self.name)
        box = QMessageBox(QMessageBox.Icon.Question, "", words, parent=self._window)
        box.setInformativeText(self.tr("Unsaved changes will be lost."))
        save = (self.tr("Save"), UnsavedChangesChoice.SAVE, _ACCEPT)
        return await self._ask(box, save, (self.tr("Don't save"), UnsavedChangesChoice.DISCARD, _DESTRUCTIVE))

    async def _ask_to_stop_export(self) -> bool:
        box = QMessageBox(QMessageBox.Icon.Question, "", self.tr("Stop the running export?"), parent=self._window)
        box.setInformativeText(self.tr("Finished files are kept; the next export continues from there."))
        stop = (self.tr("Stop export"), UnsavedChangesChoice.DISCARD, _DESTRUCTIVE)
        return await self._ask(box, stop) is UnsavedChangesChoice.DISCARD

    async def _ask_after_failure(self, error: StudioError) -> UnsavedChangesChoice:
        return await self._ask(
            self._error_box(error),
            (self.tr("Try again"), UnsavedChangesChoice.SAVE, _ACCEPT),
            (self.tr("Save elsewhere…"), UnsavedChangesChoice.SAVE_ELSEWHERE, _ACCEPT),
            (self.tr("Don't save"), UnsavedChangesChoice.DISCARD, _DESTRUCTIVE),
            error=error,
        )

    async def _ask_to_replace(self, error: StudioError) -> bool:
        replace = (self.tr("Replace"), UnsavedChangesChoice.SAVE, _DESTRUCTIVE)
        return await self._ask(self._error_box(error), replace, error=error) is UnsavedChangesChoice.SAVE

    def _error_box(self, error: StudioError) -> QMessageBox:
        note_shown(error)
        box = QMessageBox(QMessageBox.Icon.Warning, "", error_message(error), parent=self._window)
        box.setInformativeText(error_remedy(error))
        return box

    async def _ask(
        self,
        box: QMessageBox,
        *answers: tuple[str, UnsavedChangesChoice, QMessageBox.ButtonRole],
        error: StudioError | None = None,
    ) -> UnsavedChangesChoice:
        """Show ``box`` with a button for each answer and for Cancel; an accepting first answer is the default."""
        buttons = [(box.addButton(words, role), choice) for words, choice, role in answers]
        if error is not None:
            CopyReportButton(box).join(box, error)
        box.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        if answers[0][2] is _ACCEPT:
            box.setDefaultButton(buttons[0][0])
        await ask(box)
        clicked = box.clickedButton()
        return next((choice for button, choice in buttons if button is clicked), UnsavedChangesChoice.CANCEL)
