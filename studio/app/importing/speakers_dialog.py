"""Dialog in which the quotations of a script get their speakers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from html import escape

from PySide6.QtCore import QItemSelectionModel, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QHeaderView,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMessageBox,
    QPushButton,
    QTableView,
    QTextBrowser,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.importing.quotation_model import REASON, SPEAKER, TEXT, QuotationModel
from studio.app.theme.colors import theme_colors
from studio.app.theme.sizes import GRID
from studio.app.theme.voice_colors import voice_color
from studio.app.translation import join_phrases
from studio.app.widgets.controls import in_column, in_row, text_label
from studio.app.widgets.dialogs import dialog_buttons, open_dialog
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import fit_to_screen
from studio.project.attribution.attribution import Attribution
from studio.project.full_cast import Dialogue, FullCast
from studio.voices.voice import name_key

_SIZE = (1000, 640)
_NAME = Qt.ItemDataRole.UserRole
_KEYPAD = Qt.KeyboardModifier.KeypadModifier
_NUM_DIGITS = 9
_PARAGRAPHS_AROUND = 2
_CONTEXT_HEIGHTS = (60, 150)
_LIST_WIDTH = 230


class SpeakersDialog(QDialog):
    """Lists the quotations, and learns from each speaker that the user assigns.

    ``assigned`` carries the divided lines and the ``Attribution``.
    """

    assigned = Signal(object, object)

    def __init__(
        self,
        dialogue: Dialogue,
        attribution: Attribution,
        known: dict[int, str | None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._dialogue = dialogue
        self._corrections = dict(known)
        self._num_assigned = 0  # in this dialog
        self._num_requests = 0
        self.attribution = attribution
        self.setWindowTitle(self.tr("Assign speakers"))
        self.resize(fit_to_screen(*_SIZE))
        self.summary = text_label("", "title")
        self.model = QuotationModel(self.palette())
        self.table = self._make_table()
        self.context = QTextBrowser(openLinks=False)
        self.context.setAccessibleName(self.tr("Text around the quotation"))
        self.context.setMinimumHeight(_CONTEXT_HEIGHTS[0])
        self.context.setMaximumHeight(_CONTEXT_HEIGHTS[1])
        self.context.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.names = QListWidget()
        self.names.setAccessibleName(self.tr("Characters"))
        self.name = QLineEdit(placeholderText=self.tr("Other name"))
        self.name.setAccessibleName(self.tr("Name of another speaker"))
        self.whole_paragraphs = QCheckBox(self.tr("Whole paragraphs"))
        self.whole_paragraphs.setToolTip(
            self.tr("The character also reads the narration of the paragraph, unless someone else speaks in it")
        )
        self.next_button = QPushButton(self.tr("Next doubtful (F8)"))
        self.next_button.setAutoDefault(False)
        self.assign_button = QPushButton(self.tr("Divide script"))
        self._problem = ErrorLine()
        self._lay_out()
        self._connect_signals()
        self._show(attribution)
        self.go_to_doubtful(from_start=True)
        self.table.setFocus()

    @property
    def row(self) -> int:
        return max(0, self.table.currentIndex().row())

    @property
    def full_cast(self) -> FullCast:
        return self._dialogue.divide(self.attribution, whole_paragraphs=self.whole_paragraphs.isChecked())

    def accept(self) -> None:
        self.assigned.emit(self.full_cast, self.attribution)
        super().accept()

    def reject(self) -> None:
        """Close the dialog, after a question if the user has assigned speakers."""
        if not self._num_assigned:
            self._discard()
            return
        box = QMessageBox(
            QMessageBox.Icon.Question,
            "",
            self.tr("Discard %n assigned speaker(s)?", "", self._num_assigned),
            QMessageBox.StandardButton.Discard | QMessageBox.StandardButton.Cancel,
            self,
        )
        box.button(QMessageBox.StandardButton.Discard).clicked.connect(self._discard)
        open_dialog(box)

    def _discard(self) -> None:
        super().reject()

    def go_to_doubtful(self, step: int = 1, *, from_start: bool = False) -> None:
        """Select the next doubtful quotation, or the previous one; after the last one, the first."""
        rows = range(self.model.rowCount())
        start = 0 if from_start else self.row + step
        order = (
            [*rows[start:], *rows[:start]] if step > 0 else [*reversed(rows[: start + 1]), *reversed(rows[start + 1 :])]
        )
        found = next((row for row in order if self.model.quotations[row].is_doubtful), None)
        if found is not None:
            self._go_to(found)
        elif from_start:
            self._go_to(0)

    def assign(self, name: str | None) -> None:
        """Assign a speaker to the selected quotations, or None for the narrator, and go on to the next doubtful one."""
        rows = [index.row() for index in self.table.selectionModel().selectedRows()] or [self.row]
        was_doubtful = any(self.model.quotations[row].is_doubtful for row in rows)
        self._corrections |= dict.fromkeys(rows, name)
        self._num_assigned += len(rows)
        changed = list(self.attribution.quotations)
        for row in rows:
            changed[row] = replace(
                changed[row], speaker=name, confidence=1.0, reason="corrected", other=None, is_corrected=True
            )
        self._show(replace(self.attribution, quotations=tuple(changed)))
        if was_doubtful:
            self.go_to_doubtful()
        self._learn()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Use Enter, which would otherwise press the default button, to confirm or assign a speaker."""
        if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or event.modifiers() & ~_KEYPAD:
            super().keyPressEvent(event)
        elif self.table.hasFocus():
            self.assign(self.model.quotations[self.row].speaker)
        elif self.names.hasFocus() and self.names.currentRow() >= 0:
            self._assign_listed(self.names.currentRow())
        elif self.name.hasFocus():
            self._assign_written()
        else:
            super().keyPressEvent(event)

    def _assign_listed(self, row: int) -> None:
        if row < self.names.count():
            self.assign(self.names.item(row).data(_NAME))

    def _assign_written(self) -> None:
        name = self.name.text().strip()
        if name:
            self.name.clear()
            self.assign(name)
            self.table.setFocus()

    def _learn(self) -> None:
        self._num_requests += 1
        number = self._num_requests
        run_in_background(
            self,
            partial(self._dialogue.attribution, dict(self._corrections)),
            done=lambda attribution: self._on_learned(number, attribution),
            failed=self._problem.show_error,
        )

    def _on_learned(self, number: int, attribution: Attribution) -> None:
        if number == self._num_requests:
            self._show(attribution)

    def _show(self, attribution: Attribution) -> None:
        self.attribution = attribution
        self.model.show_attribution(attribution)
        num_doubtful = sum(quotation.is_doubtful for quotation in attribution.quotations)
        self.next_button.setEnabled(num_doubtful > 0)
        self.summary.setText(
            join_phrases(
                (
                    self.tr("%n quotation(s)", "", len(attribution.quotations)),
                    self.tr("%n character(s)", "", len(attribution.characters)),
                    self.tr("%n doubtful", "", num_doubtful),
                )
            )
        )
        self._show_names(attribution)

    def _show_names(self, attribution: Attribution) -> None:
        """Update the numbers of quotations. Characters keep their places, so that a digit always means the same one."""
        counts: dict[str, tuple[str, int]] = {}
        for quotation in attribution.quotations:
            if quotation.speaker is not None:
                name, count = counts.get(name_key(quotation.speaker), (quotation.speaker, 0))
                counts[name_key(name)] = (name, count + 1)
        if not self.names.count():
            self._add_name(self.tr("Narrator"), None)
        known = [self.names.item(row).data(_NAME) for row in range(1, self.names.count())]
        keys = {name_key(name) for name in known}
        for key, (name, _) in sorted(counts.items(), key=lambda item: -item[1][1]):
            if key not in keys:
                self._add_name(name, name)
        for row in range(1, self.names.count()):
            item = self.names.item(row)
            name = item.data(_NAME)
            digit = str(row) if row <= _NUM_DIGITS else " "
            item.setText(f"{digit}  {name}  {counts.get(name_key(name), ('', 0))[1]}")

    def _add_name(self, words: str, name: str | None) -> None:
        item = QListWidgetItem(f"0  {words}")
        item.setData(_NAME, name)
        item.setSizeHint(QSize(0, self.fontMetrics().lineSpacing() + GRID + GRID // 2))
        if name is not None:
            item.setForeground(voice_color(name, self.palette()))
        self.names.addItem(item)

    def _go_to(self, row: int) -> None:
        index = self.model.index(row, SPEAKER)
        flags = QItemSelectionModel.SelectionFlag
        self.table.selectionModel().setCurrentIndex(index, flags.ClearAndSelect | flags.Rows)
        self.table.scrollTo(index, QAbstractItemView.ScrollHint.PositionAtCenter)

    def _show_context(self) -> None:
        if not self.model.quotations:
            return
        place = self.model.quotations[self.row].place
        shown: list[str] = []
        first = max(0, place.paragraph - _PARAGRAPHS_AROUND)
        for number in range(first, min(len(self._dialogue.paragraphs), place.paragraph + _PARAGRAPHS_AROUND + 1)):
            text = self._dialogue.paragraphs[number].text
            words = escape(text)
            if number == place.paragraph:
                before, quotation, after = text[: place.start], text[place.start : place.end], text[place.end :]
                ground = theme_colors(self.palette()).marked
                marked = f'<a name="here"></a><span style="background-color: {ground}">{escape(quotation)}</span>'
                words = f"{escape(before)}{marked}{escape(after)}"
            shown.append(f"<p>{words}</p>")
        self.context.setHtml("".join(shown))
        self.context.scrollToAnchor("here")

    # Construction.

    def _make_table(self) -> QTableView:
        table = QTableView()
        table.setModel(self.model)
        table.setAccessibleName(self.tr("Quotations"))
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setTabKeyNavigation(False)
        table.setShowGrid(False)
        table.setWordWrap(False)
        header = table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(TEXT, QHeaderView.ResizeMode.Stretch)
        header.resizeSection(SPEAKER, 150)
        header.resizeSection(REASON, 190)
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        return table

    def _lay_out(self) -> None:
        self.names.setFixedWidth(_LIST_WIDTH)
        self.name.setFixedWidth(_LIST_WIDTH)
        hint = text_label(
            self.tr("A digit assigns a character, Enter confirms the speaker. Others follow from what you assign."),
            "quiet",
        )
        buttons = dialog_buttons(self, accept=self.assign_button)
        quotations = in_column((self.table, 1), self.context)
        characters = in_column((self.names, 1), self.name, self.whole_paragraphs)
        in_column(
            in_row((self.summary, 1), self.next_button),
            hint,
            (in_row((quotations, 1), characters), 1),
            self._problem,
            buttons,
            parent=self,
        )

    def _connect_signals(self) -> None:
        for key, step in ((Qt.Key.Key_F8, 1), (Qt.Modifier.SHIFT | Qt.Key.Key_F8, -1)):
            QShortcut(QKeySequence(key), self).activated.connect(partial(self.go_to_doubtful, step))
        for digit in range(_NUM_DIGITS + 1):
            QShortcut(QKeySequence(str(digit)), self).activated.connect(partial(self._assign_listed, digit))
        self.next_button.clicked.connect(lambda _: self.go_to_doubtful())
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._show_context())
        self.names.itemDoubleClicked.connect(lambda item: self.assign(item.data(_NAME)))
