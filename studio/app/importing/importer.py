"""Import of script files into the open project, without blocking the window."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QMessageBox, QProgressBar, QVBoxLayout, QWidget

from studio.app.background import run_in_thread
from studio.app.error_text import message_text
from studio.app.importing.import_page import ImportPage, has_choices
from studio.app.importing.update_dialog import UpdateDialog, count_words
from studio.app.session import Session
from studio.app.widgets.dialogs import ask
from studio.errors import UnreadableScript
from studio.project.casting import LibraryNames, cast_lines, uncast_characters
from studio.project.changes import Change, EditDetails, RenameProject
from studio.project.details import ImportSource
from studio.project.importing.blocks import ImportedScript
from studio.project.importing.merging import merged_details
from studio.project.importing.script_file import ImportOptions, ScriptFile, ScriptKind, read_file
from studio.project.importing.sources import options_of
from studio.project.splitting import SplitMode
from studio.project.updating import UpdateKind, find_renamed_source, find_source, plan_update, read_update
from studio.settings import TEXT_SPLITTING

_PATIENCE_MILLISECONDS = 600


class ScriptImporter(QObject):
    """Reads script files and adds their lines to the script."""

    script_read = Signal(list, list)  # the lines, and other changes for the same undo step
    script_updated = Signal(list, str)  # ids of new, changed and moved lines, and a message
    noticed = Signal(str)
    cast_wanted = Signal(object)  # keys of imported characters without a voice
    asked = Signal()  # the file has been read, and the import page is shown

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._window = window

    async def read(
        self, path: Path, source: ImportSource | None = None, *, offers_update: bool = False
    ) -> ImportedScript | None:
        """Return the content of a file, or of the new version of ``source``; None if the user cancels.

        If it ``offers_update`` and the file is similar to a source of the script, ask whether to update the script, and
        return None after an update. Raise ``UnreadableScript``.
        """
        encoding = None if source is None else source.encoding
        file = await self._read_file(path, encoding)
        if file is None:
            return None
        options = ImportOptions(SplitMode(self._session.settings[TEXT_SPLITTING]))
        if source is not None:
            options = options_of(source, file)
        try:
            imported = await run_in_thread(partial(read_update, path, file, source, options, encoding=encoding))
        except UnreadableScript:
            if not any(table.rows for table in file.tables.values()):
                raise
            return await self._ask(path, file, options, source)  # other columns may be readable
        if offers_update and (renamed := find_renamed_source(self._session.editor.script, imported)) is not None:
            words = self.tr("{name} resembles {source}, from which this script was imported.")
            updates = await self._ask_to_update(words.format(name=path.name, source=Path(renamed.path).name))
            if updates:
                await self.update(path, renamed)
            if updates is not False:
                return None
        if source is None and has_choices(file, imported):
            return await self._ask(path, file, options, source)
        return imported

    async def _ask(
        self, path: Path, file: ScriptFile, options: ImportOptions, source: ImportSource | None
    ) -> ImportedScript | None:
        """Show the import page, and return the script to import."""
        page = ImportPage(path, file, options, self._session.settings, self._window)
        self.asked.emit()
        if await ask(page) != QDialog.DialogCode.Accepted:
            return None
        read = partial(read_update, path, page.file, source, page.chosen, encoding=page.encoding)
        return await run_in_thread(read)

    async def ask_to_update(self, path: Path) -> bool | None:
        """Ask whether to update the script if it was imported from this file. Return None if the user cancels."""
        if str(path.resolve()) not in {source.path for source in self._session.editor.script.details.sources}:
            return False
        return await self._ask_to_update(self.tr("This script was imported from {name}.").format(name=path.name))

    async def _ask_to_update(self, words: str) -> bool | None:
        self.asked.emit()
        box = QMessageBox(QMessageBox.Icon.Question, "", words, parent=self._window)
        box.setInformativeText(
            self.tr("An update changes only the lines that differ. Another import inserts all lines again.")
        )
        update = box.addButton(self.tr("Update"), QMessageBox.ButtonRole.AcceptRole)
        again = box.addButton(self.tr("Import again"), QMessageBox.ButtonRole.ActionRole)
        box.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(update)
        await ask(box)
        clicked = box.clickedButton()
        return clicked is update if clicked in (update, again) else None

    async def update(self, path: Path, source: ImportSource | None = None) -> None:
        """Show what the new version of ``source`` changes, and update the script as one undo step.

        Without ``source``, it is found by the name of the file. Raise ``UnreadableScript``, and ``UnusableSetting`` if it is not clear which file it replaces.
        """
        editor = self._session.editor
        imported = await self.read(path, source or find_source(editor.script, path))
        if imported is None:
            return
        voices = LibraryNames(voice.name for voice in await run_in_thread(self._session.library.voices))
        update = await run_in_thread(plan_update, editor.script, imported, voices)
        title = self.tr("Removed from {name}").format(name=path.name)
        if update.is_empty:
            if update.details != editor.script.details:
                editor.apply(update.change(title))
            self.script_updated.emit([], self.tr("{name} contains no changes.").format(name=path.name))
            return
        dialog = UpdateDialog(path.name, update, self._session.model_selection.styles.label, self._window)
        if await ask(dialog) != QDialog.DialogCode.Accepted:
            return
        update = plan_update(editor.script, imported, voices)  # takes may have been finished in the meantime
        editor.push(update.change(title, deletes=dialog.deletes), self.tr("Update from {name}").format(name=path.name))
        kinds = (UpdateKind.NEW, UpdateKind.CHANGED, UpdateKind.MOVED)
        shown = [each.after.id for each in update.lines if each.kind in kinds]
        self.script_updated.emit(shown, count_words(update))
        self._show_notices(imported)
        if update.uncast:
            self.cast_wanted.emit(update.uncast)

    def _show_notices(self, imported: ImportedScript) -> None:
        """Show the notices of a script that was read without an import page, which shows them."""
        if imported.notices:
            self.noticed.emit("\n".join(map(message_text, imported.notices)))

    async def insert_text(self, text: str) -> None:
        """Insert a pasted text as the import of a file with this text does."""
        options = ImportOptions(SplitMode(self._session.settings[TEXT_SPLITTING]))
        imported = await run_in_thread(ScriptFile("", ScriptKind.TEXT, text).script, options)
        await self.insert(imported, name=None)
        self._show_notices(imported)

    async def insert(self, imported: ImportedScript, *, name: str | None) -> None:
        """Insert the lines as one undo step, and give known characters their voices.

        ``name`` becomes the name of the project.
        """
        voices = LibraryNames(voice.name for voice in await run_in_thread(self._session.library.voices))
        script = self._session.editor.script
        lines = cast_lines(imported.lines, script.details.cast, voices)
        changes: list[Change] = []
        details = merged_details(script.details, imported)
        if details != script.details:
            changes.append(EditDetails(details))
        if name is not None:
            changes.append(RenameProject(name))
        self.script_read.emit(list(lines), changes)
        if uncast := uncast_characters(lines, voices):
            self.cast_wanted.emit(uncast)

    async def _read_file(self, path: Path, encoding: str | None) -> ScriptFile | None:
        """Read a file in the background, and show a dialog with a cancel button if it takes long."""
        reading = asyncio.ensure_future(run_in_thread(read_file, path, encoding))
        dialog = _ReadingDialog(path.name, self._window)
        dialog.rejected.connect(reading.cancel)
        patience = QTimer(dialog)
        patience.setSingleShot(True)
        patience.timeout.connect(dialog.open)
        patience.start(_PATIENCE_MILLISECONDS)
        try:
            await asyncio.wait([reading])
            return None if reading.cancelled() else reading.result()
        finally:
            reading.cancel()
            patience.stop()
            dialog.hide()
            dialog.deleteLater()


class _ReadingDialog(QDialog):
    """Shown while a large file is read."""

    def __init__(self, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        words = self.tr("Reading {name}").format(name=name)
        self.setWindowTitle(self.tr("Import"))
        bar = QProgressBar(maximum=0, textVisible=False)
        bar.setAccessibleName(words)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        buttons.rejected.connect(self.reject)
        rows = QVBoxLayout(self)
        for widget in (QLabel(words), bar, buttons):
            rows.addWidget(widget)
