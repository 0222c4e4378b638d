"""Opens the export dialog and connects it to the session."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from studio.app.audiobook.book_dialog import BookDialog
from studio.app.export_dialog.dialog import ExportDialog
from studio.app.export_dialog.export_options import KnownVoicesAndStyles
from studio.app.session import Session
from studio.app.widgets.dialogs import open_dialog
from studio.catalog.language_check import unlearned_language
from studio.export.provenance import Provenance, licence_of_model
from studio.provenance.signing import chosen_signing
from studio.settings import MARKS_FILES
from studio.settings_store import Settings


def provenance_of_model(folder: Path, settings: Settings) -> Provenance:
    """Return the facts about the model in ``folder`` for the metadata of exported files, and how they are signed."""
    return Provenance(folder.name, licence_of_model(folder), chosen_signing(settings), settings[MARKS_FILES])


def open_export_dialog(
    parent: QWidget,
    session: Session,
    *,
    selected_ids: Iterable[str] = (),
    show_lines: Callable[[list[str]], object] = lambda _: None,
) -> ExportDialog:
    """Show the dialog and return it at once. The dialog deletes itself when closed.

    The name and licence of the model are written into the metadata of the files. ``show_lines`` selects lines in the
    script.
    """
    model_folder = session.model_selection.folder()
    dialog = ExportDialog(
        session.editor.project,
        session.settings,
        selected_ids=selected_ids,
        provenance=provenance_of_model(model_folder, session.settings),
        known=KnownVoicesAndStyles(
            session.find_voice,
            session.model_selection.styles.supports,
            partial(unlearned_language, model_folder.name),
            session.model_selection.styles.unlearned_sounds,
        ),
        style_names=session.model_selection.styles.names,
        checks_takes=session.parts.checker.is_on,
        parent=parent,
    )
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.export_wanted.connect(session.parts.exports.start)
    dialog.lines_wanted.connect(show_lines)
    dialog.book_wanted.connect(lambda: open_dialog(BookDialog(session.editor, dialog)))
    session.editor.script_changed.connect(dialog.on_lines_changed)
    session.editor.project_replaced.connect(dialog.reject)
    dialog.show()
    return dialog
