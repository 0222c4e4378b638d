"""Dialog that shows what the new version of an imported file changes, before anything happens."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QDialog,
    QHeaderView,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from studio.app.script.row_words import time_text
from studio.app.theme.colors import ThemeColors, theme_colors
from studio.app.translation import QT_TRANSLATE_NOOP, join_phrases
from studio.app.widgets.controls import in_column, text_label
from studio.app.widgets.dialogs import dialog_buttons
from studio.app.widgets.screen_fit import fit_to_screen
from studio.project.lines import Line, LineStyle, Slot
from studio.project.updating import LineUpdate, ScriptUpdate, UpdateKind

_SIZE = (900, 520)
_MAX_WRAPPED = 300  # rows; measuring the height of more takes too long
_KIND, _KEY, _BEFORE, _AFTER = range(4)
_CONTEXT = "UpdateDialog"
_KINDS = {
    UpdateKind.NEW: QT_TRANSLATE_NOOP("UpdateDialog", "New"),
    UpdateKind.CHANGED: QT_TRANSLATE_NOOP("UpdateDialog", "Changed"),
    UpdateKind.MOVED: QT_TRANSLATE_NOOP("UpdateDialog", "Moved"),
    UpdateKind.REMOVED: QT_TRANSLATE_NOOP("UpdateDialog", "Removed"),
    UpdateKind.UNCHANGED: QT_TRANSLATE_NOOP("UpdateDialog", "Unchanged"),
}
_COUNTS = {
    UpdateKind.NEW: QT_TRANSLATE_NOOP("UpdateDialog", "{count} new"),
    UpdateKind.CHANGED: QT_TRANSLATE_NOOP("UpdateDialog", "{count} changed"),
    UpdateKind.MOVED: QT_TRANSLATE_NOOP("UpdateDialog", "{count} moved"),
    UpdateKind.REMOVED: QT_TRANSLATE_NOOP("UpdateDialog", "{count} removed"),
    UpdateKind.UNCHANGED: QT_TRANSLATE_NOOP("UpdateDialog", "{count} unchanged"),
}
_LOCKED = QT_TRANSLATE_NOOP("UpdateDialog", "{change} (locked)")
_FIELD_CHANGE = QT_TRANSLATE_NOOP("UpdateDialog", "{field}: {before} → {after}")
_FIELDS = {
    "voice": QT_TRANSLATE_NOOP("UpdateDialog", "Voice"),
    "style": QT_TRANSLATE_NOOP("UpdateDialog", "Style"),
    "speed": QT_TRANSLATE_NOOP("UpdateDialog", "Speed"),
    "pause_after_seconds": QT_TRANSLATE_NOOP("UpdateDialog", "Pause"),
    "file_name": QT_TRANSLATE_NOOP("UpdateDialog", "File name"),
    "character": QT_TRANSLATE_NOOP("UpdateDialog", "Character"),
    "heading": QT_TRANSLATE_NOOP("UpdateDialog", "Heading"),
    "is_spoken": QT_TRANSLATE_NOOP("UpdateDialog", "Spoken or note"),
    "note": QT_TRANSLATE_NOOP("UpdateDialog", "Note"),
    "slot": QT_TRANSLATE_NOOP("UpdateDialog", "Time"),
}


class UpdateDialog(QDialog):
    """Lists all lines but the unchanged ones. If ``deletes`` is true, removed lines are deleted."""

    def __init__(
        self, name: str, update: ScriptUpdate, style_text: Callable[[LineStyle], str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._style_text = style_text
        self.setWindowTitle(self.tr("Update from {name}").format(name=name))
        self.resize(fit_to_screen(*_SIZE))
        self.summary = text_label(count_words(update), "title")
        self.table = self._make_table(update)
        self._deletes = QCheckBox(self.tr("Delete removed lines and their takes"))
        self._deletes.setVisible(bool(update.removed_ids))
        self._deletes.setToolTip(self.tr("Otherwise they are kept below a folded heading at the end of the script"))
        held = text_label(self.tr("%n locked line(s) stay as they are.", "", update.num_held), "quiet")
        held.setVisible(update.num_held > 0)
        button = QPushButton(self.tr("Update"))
        in_column(
            self.summary,
            text_label(self.tr("Unchanged lines keep their takes, locks and notes."), "quiet"),
            (self.table, 1),
            held,
            self._deletes,
            dialog_buttons(self, accept=button),
            parent=self,
        )
        button.setFocus()

    @property
    def deletes(self) -> bool:
        return self._deletes.isChecked()

    def _make_table(self, update: ScriptUpdate) -> QTableWidget:
        shown = [each for each in update.lines if each.kind is not UpdateKind.UNCHANGED]
        table = QTableWidget(len(shown), 4)
        table.setAccessibleName(self.tr("Changes"))
        table.setHorizontalHeaderLabels([self.tr("Change"), self.tr("ID"), self.tr("Before"), self.tr("After")])
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setTabKeyNavigation(False)
        table.setShowGrid(False)
        table.verticalHeader().hide()
        header = table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        for column in (_BEFORE, _AFTER):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        colors = theme_colors(self.palette())
        for row, each in enumerate(shown):
            for column, words in enumerate(_cells(each, self._style_text)):
                item = QTableWidgetItem(words)
                item.setToolTip(words)
                if column == _KIND:
                    item.setForeground(QColor(_colour(each, colors)))
                table.setItem(row, column, item)
        table.setColumnHidden(_KEY, not any(each.key for each in shown))
        if len(shown) <= _MAX_WRAPPED:
            table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        return table


def count_words(update: ScriptUpdate) -> str:
    """Return the numbers of lines by kind, such as “1 new, 2 changed, 197 unchanged”."""
    return join_phrases(
        tuple(_translate(_COUNTS[kind]).format(count=count) for kind, count in update.counts.items() if count)
    )


def _cells(update: LineUpdate, style_text: Callable[[LineStyle], str]) -> tuple[str, str, str, str]:
    kind = _translate(_KINDS[update.kind])
    if update.is_held:
        kind = _translate(_LOCKED).format(change=kind)
    before = "" if update.before is None or update.kind is UpdateKind.NEW else update.before.text
    after = "" if update.kind is UpdateKind.REMOVED else update.text
    fields = [_field_words(update.before, update.after, name, style_text) for name in update.fields if name in _FIELDS]
    if update.kind is UpdateKind.CHANGED and fields:
        after += "\n" + join_phrases(fields)
    return kind, update.key, before, after


def _field_words(before: Line | None, after: Line, name: str, style_text: Callable[[LineStyle], str]) -> str:
    """Return the name of a field, with its values if they are short."""
    values = [getattr(line, name) for line in (before, after)]
    words: list[object] = []
    for value in values:
        if isinstance(value, Slot):
            words.append(time_text(value.start_seconds))
        else:
            words.append((style_text(value) if isinstance(value, LineStyle) else value) or "–")
    field = _translate(_FIELDS[name])
    if words[0] == words[1] or not all(isinstance(each, str) for each in words):
        return field
    return _translate(_FIELD_CHANGE).format(field=field, before=words[0], after=words[1])


def _colour(update: LineUpdate, colors: ThemeColors) -> str:
    if update.is_held:
        return colors.quiet
    return {UpdateKind.NEW: colors.good, UpdateKind.CHANGED: colors.warn, UpdateKind.REMOVED: colors.bad}.get(
        update.kind, colors.ink
    )


def _translate(words: str) -> str:
    return QCoreApplication.translate(_CONTEXT, words)
