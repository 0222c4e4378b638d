"""Dialog that offers to recover drafts after a crash."""

from __future__ import annotations

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QMessageBox,
    QWidget,
)

from studio.app.translation import join_phrases
from studio.app.widgets.controls import in_column
from studio.app.widgets.dialogs import make_primary
from studio.app.widgets.screen_fit import fit_to_screen
from studio.project.drafts import Draft


class RecoveryDialog(QDialog):
    """Recovers one draft; the others are offered again at the next start."""

    recover_requested = Signal(object)  # Draft
    discard_requested = Signal(object)

    def __init__(self, drafts: list[Draft], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Recover unsaved work"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        words = QLabel(
            self.tr("The program closed unexpectedly. Unsaved work can be recovered."),
            wordWrap=True,
        )
        self._list = QListWidget()
        self._list.setAccessibleName(self.tr("Unsaved work"))
        self._list.setWordWrap(True)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for draft in drafts:
            item = QListWidgetItem(self._words(draft))
            item.setData(Qt.ItemDataRole.UserRole, draft)
            self._list.addItem(item)
        self._list.setCurrentRow(0)
        buttons = QDialogButtonBox()
        self._recover = buttons.addButton(self.tr("Recover"), QDialogButtonBox.ButtonRole.AcceptRole)
        self._discard = buttons.addButton(self.tr("Delete"), QDialogButtonBox.ButtonRole.DestructiveRole)
        make_primary(self._recover)
        buttons.addButton(self.tr("Later"), QDialogButtonBox.ButtonRole.RejectRole)
        in_column(words, self._list, buttons, parent=self)
        self.resize(fit_to_screen(520, self.sizeHint().height()))
        self._recover.clicked.connect(self._on_recover)
        self._discard.clicked.connect(self._on_discard)
        self._list.itemDoubleClicked.connect(self._on_recover)
        buttons.rejected.connect(self.reject)

    def _words(self, draft: Draft) -> str:
        when = QLocale().toString(draft.last_changed.astimezone(), QLocale.FormatType.ShortFormat)  # type: ignore[call-overload]
        name = draft.project_path.name if draft.project_path else self.tr("Never saved")
        size = self.tr("%n line(s)", "", draft.num_lines)
        if draft.num_takes:
            size = join_phrases((size, self.tr("%n take(s)", "", draft.num_takes)))
        first = f"\n“{draft.first_words}”" if draft.first_words else ""
        return f"{name} · {when} · {size}{first}"

    def _chosen(self) -> Draft | None:
        item = self._list.currentItem()
        return item.data(Qt.ItemDataRole.UserRole) if item else None

    def _on_recover(self) -> None:
        draft = self._chosen()
        if draft is not None:
            self.accept()
            self.recover_requested.emit(draft)

    def _on_discard(self) -> None:
        """Ask for confirmation: deleting cannot be undone."""
        draft = self._chosen()
        if draft is None:
            return
        box = QMessageBox(QMessageBox.Icon.Warning, self.tr("Delete"), self._words(draft), parent=self)
        loss = (
            self.tr("This work was never saved. Deleting it cannot be undone.")
            if draft.project_path is None
            else self.tr("The changes since the last save will be lost. The saved script stays.")
        )
        box.setInformativeText(loss)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        throw_away = box.addButton(self.tr("Delete permanently"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(box.addButton(self.tr("Keep"), QMessageBox.ButtonRole.RejectRole))
        throw_away.clicked.connect(lambda: self._discard_now(draft))
        box.open()

    def _discard_now(self, draft: Draft) -> None:
        self.discard_requested.emit(draft)
        self._list.takeItem(self._list.currentRow())
        if not self._list.count():
            self.reject()
