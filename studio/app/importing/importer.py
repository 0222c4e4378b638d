"""Import of script files into the open project, without blocking the window."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QProgressBar, QVBoxLayout, QWidget

from studio.app.background import run_in_thread
from studio.app.error_text import message_text
from studio.app.importing.import_page import ImportPage, has_choices
from studio.app.session import Session
from studio.app.widgets.dialogs import ask
from studio.errors import UnreadableScript
from studio.project.casting import LibraryNames, cast_lines, uncast_characters
from studio.project.changes import Change, EditDetails, RenameProject
from studio.project.importing.blocks import ImportedScript
from studio.project.importing.merging import merged_details
from studio.project.importing.script_file import ImportOptions, ScriptFile, read_file
from studio.project.splitting import SplitMode
from studio.settings import TEXT_SPLITTING

_PATIENCE_MILLISECONDS = 600


class ScriptImporter(QObject):
    """Reads script files and adds their lines to the script."""

    script_read = Signal(list, list)  # the lines, and other changes for the same undo step
    noticed = Signal(str)
    cast_wanted = Signal(object)  # keys of imported characters without a voice

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._window = window

    async def read(self, path: Path) -> ImportedScript | None:
        """Return the content of a file, None if the user cancels. Raise ``UnreadableScript``."""
        file = await self._read_file(path)
        if file is None:
            return None
        options = ImportOptions(SplitMode(self._session.settings[TEXT_SPLITTING]))
        try:
            imported = await run_in_thread(file.script, options)
        except UnreadableScript:
            if not any(table.rows for table in file.tables.values()):
                raise
            return await self._ask(path, file, options)  # other columns may be readable
        return await self._ask(path, file, options) if has_choices(file, imported) else imported

    async def _ask(self, path: Path, file: ScriptFile, options: ImportOptions) -> ImportedScript | None:
        """Show the import page, and return the script to import."""
        page = ImportPage(path, file, options, self._session.settings, self._window)
        return page.imported if await ask(page) == QDialog.DialogCode.Accepted else None

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
        if imported.notices:
            self.noticed.emit("\n".join(map(message_text, imported.notices)))
        if uncast := uncast_characters(lines, voices):
            self.cast_wanted.emit(uncast)

    async def _read_file(self, path: Path) -> ScriptFile | None:
        """Read a file in the background, and show a dialog with a cancel button if it takes long."""
        reading = asyncio.ensure_future(run_in_thread(read_file, path))
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
