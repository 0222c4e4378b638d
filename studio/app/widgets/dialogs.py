"""Opening of dialogs: awaited, deleted when they are finished, and for files. None runs a nested event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFileDialog, QPushButton, QWidget

# Standard buttons that are filled, if a dialog has no accepting button of its own.
_FILLED = (
    QDialogButtonBox.StandardButton.Ok,
    QDialogButtonBox.StandardButton.Save,
    QDialogButtonBox.StandardButton.Close,
)


async def ask(dialog: QDialog) -> int:
    """Show the dialog and return its result."""
    answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def take_answer(result: int) -> None:
        if not answer.done():
            answer.set_result(result)

    dialog.finished.connect(take_answer)
    dialog.open()
    try:
        return await answer
    finally:
        dialog.deleteLater()


def dialog_buttons(
    dialog: QDialog,
    standard: QDialogButtonBox.StandardButton = (
        QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
    ),
    *,
    accept: QPushButton | None = None,
) -> QDialogButtonBox:
    """Return buttons that accept and reject ``dialog``, the first of them filled. ``accept`` stands beside Cancel."""
    buttons = QDialogButtonBox(standard if accept is None else QDialogButtonBox.StandardButton.Cancel, dialog)
    if accept is not None:
        buttons.addButton(accept, QDialogButtonBox.ButtonRole.AcceptRole)
        make_primary(accept)
    elif (filled := next(filter(None, map(buttons.button, _FILLED)), None)) is not None:
        _fill(filled)  # Qt makes it the default button when the dialog is shown
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    return buttons


def make_primary(button: QPushButton) -> None:
    """Make ``button`` the default button of its dialog, and the only filled one."""
    _fill(button)
    button.setDefault(True)


def _fill(button: QPushButton) -> None:
    button.setProperty("role", "primary")
    button.style().unpolish(button)  # the parent may have computed the style without the property
    button.style().polish(button)


def open_dialog(dialog: QDialog) -> None:
    """Show a modal dialog, and delete it when it is finished."""
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def bring_to_front(dialog: QDialog) -> None:
    """Show a non-modal dialog, even if other windows cover it."""
    dialog.show()
    dialog.raise_()
    dialog.activateWindow()


def choose_file(
    parent: QWidget,
    title: str,
    then: Callable[[Path], object],
    *,
    folder: str = "",
    filters: Sequence[str] = (),
    is_folder: bool = False,
) -> None:
    """Let the user choose an existing file or folder, and pass it to ``then``."""
    dialog = QFileDialog(parent, title, folder, ";;".join(filters))
    dialog.setFileMode(QFileDialog.FileMode.Directory if is_folder else QFileDialog.FileMode.ExistingFile)
    dialog.fileSelected.connect(lambda path: then(Path(path)))
    open_dialog(dialog)


def choose_target(
    parent: QWidget, title: str, then: Callable[[Path], object], *, name: str, kind: str, folder: str = ""
) -> None:
    """Let the user choose a file to write, and pass it to ``then``.

    ``name`` is the proposed file name, whose suffix is the default, and ``kind`` the file filter.
    """
    dialog = QFileDialog(parent, title, folder, kind)
    dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setDefaultSuffix(Path(name).suffix.removeprefix("."))
    dialog.selectFile(name)
    dialog.fileSelected.connect(lambda path: then(Path(path)))
    open_dialog(dialog)


def default_folder(place: QStandardPaths.StandardLocation) -> str:
    """Return the user's folder of this kind, or the home folder: Qt would use a missing folder as a file name."""
    folder = QStandardPaths.writableLocation(place)
    return folder if Path(folder).is_dir() else str(Path.home())
