"""Dialog with the characters of a script, their voices and styles."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.playback.audio_player import AudioPlayer
from studio.app.script.style_list import StyleList
from studio.app.theme.icons import icon
from studio.app.voices.voice_items import read_clip, voice_item
from studio.app.widgets.controls import icon_button, text_label
from studio.app.widgets.dialogs import dialog_buttons
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import fit_to_screen
from studio.app.widgets.wide_list_box import WideListBox
from studio.audio.waveform import Waveform
from studio.project.casting import Role
from studio.project.details import CastMember
from studio.project.lines import LineStyle
from studio.voices.library import Voice

_NAME, _LINES, _SAMPLE, _VOICE, _STYLE = range(5)
_SIZE = (900, 460)
_DATA = Qt.ItemDataRole.UserRole


class CastDialog(QDialog):
    """Non-modal table of characters. ``applied`` carries the chosen members by character key."""

    applied = Signal(dict)

    def __init__(
        self,
        roles: Sequence[Role],
        voices: Sequence[Voice],
        styles: StyleList,
        player: AudioPlayer,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.roles = tuple(roles)
        self._voices = {voice.name: voice for voice in voices}
        self._player = player
        self._heard: str | None = None  # name of the voice whose clip is played
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Cast"))
        self.resize(fit_to_screen(*_SIZE))
        # All rows share their lists of voices and styles: there may be hundreds of characters.
        self._voice_items = _model([(self.tr("Keep as is"), None)])
        for voice in voices:
            self._voice_items.appendRow(voice_item(voice, styles.generation))
        self._style_items = _model(_style_entries(styles, [role.member.style for role in roles], self.tr("Default")))
        self.voice_boxes = [self._voice_box(role) for role in self.roles]
        self.style_boxes = [self._style_box(role) for role in self.roles]
        self.play_buttons = [self._play_button(row) for row in range(len(self.roles))]
        self.table = self._make_table()
        self._problem = ErrorLine()
        self._lay_out()
        player.started.connect(self._show_playing)
        player.ended.connect(self._on_ended)
        player.failed.connect(self._problem.show_error)
        if self.voice_boxes:
            self.voice_boxes[0].setFocus()

    @property
    def members(self) -> dict[str, CastMember]:
        """The chosen voices and styles by character key."""
        return {
            role.key: CastMember(voice.currentData(), style.currentData())
            for role, voice, style in zip(self.roles, self.voice_boxes, self.style_boxes, strict=True)
        }

    def accept(self) -> None:
        self.applied.emit(self.members)
        super().accept()

    def done(self, result: int) -> None:
        self._player.stop()
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self._player.stop()
        super().closeEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """Play the voice of the current row when F5 is pressed anywhere in the table."""
        row = self._focused_row()
        if event.key() == Qt.Key.Key_F5 and row is not None:
            self.toggle_clip(row)
        else:
            super().keyPressEvent(event)

    def toggle_clip(self, row: int) -> None:
        """Play the clip of the voice in ``row``, or stop it."""
        name = self.voice_boxes[row].currentData()
        was_heard = self._heard
        self._player.stop()
        if name is None or name == was_heard:
            return
        self._heard = name
        run_in_background(
            self,
            partial(read_clip, self._voices[name]),
            done=partial(self._play, name),
            failed=self._problem.show_error,
        )

    def _play(self, name: str, clip: Waveform) -> None:
        if name == self._heard:
            self._player.play_clip(clip)

    def _on_ended(self) -> None:
        self._heard = None
        self._show_playing()

    def _show_playing(self) -> None:
        for box, button in zip(self.voice_boxes, self.play_buttons, strict=True):
            is_playing = self._heard is not None and box.currentData() == self._heard and self._player.is_playing
            button.setIcon(icon("stop" if is_playing else "play"))

    def _focused_row(self) -> int | None:
        focus = self.focusWidget()
        columns = (self.voice_boxes, self.style_boxes, self.play_buttons)
        for widgets in columns:
            if focus in widgets:
                return widgets.index(focus)  # type: ignore[arg-type]  # each list has one type
        row = self.table.currentRow()
        return row if row >= 0 else None

    def _voice_box(self, role: Role) -> QComboBox:
        box = WideListBox()
        box.setModel(self._voice_items)
        box.setAccessibleName(self.tr("Voice of {character}").format(character=role.name))
        box.setCurrentIndex(max(0, box.findData(role.member.voice, _DATA)) if role.member.voice else 0)
        box.currentIndexChanged.connect(lambda _: self._show_playing())
        return box

    def _style_box(self, role: Role) -> QComboBox:
        box = WideListBox()
        box.setModel(self._style_items)
        box.setAccessibleName(self.tr("Style of {character}").format(character=role.name))
        styles = [self._style_items.item(row).data(_DATA) for row in range(self._style_items.rowCount())]
        box.setCurrentIndex(styles.index(role.member.style))
        return box

    def _play_button(self, row: int) -> QToolButton:
        name = self.tr("Play voice of {character}").format(character=self.roles[row].name)
        button = icon_button("play", self.tr("Play voice (F5)"), partial(self.toggle_clip, row), name=name)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return button

    def _make_table(self) -> QTableWidget:
        table = QTableWidget(len(self.roles), 5)
        table.setHorizontalHeaderLabels(
            [self.tr("Character"), self.tr("Lines"), self.tr("Sample"), self.tr("Voice"), self.tr("Style")]
        )
        table.setAccessibleName(self.tr("Cast"))
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        table.setTabKeyNavigation(False)
        table.setShowGrid(False)
        table.verticalHeader().hide()
        header = table.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_SAMPLE, QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for row, role in enumerate(self.roles):
            table.setItem(row, _NAME, QTableWidgetItem(role.name))
            count = QTableWidgetItem(f"{len(role.line_ids)}")
            count.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            table.setItem(row, _LINES, count)
            sample = QTableWidgetItem(role.sample.replace("\n", " "))
            sample.setToolTip(role.sample)
            table.setItem(row, _SAMPLE, sample)
            table.setCellWidget(row, _VOICE, _row_of(self.voice_boxes[row], self.play_buttons[row]))
            table.setCellWidget(row, _STYLE, _row_of(self.style_boxes[row]))
            table.setRowHeight(row, self.voice_boxes[row].sizeHint().height() + 8)
            for widget in (self.voice_boxes[row], self.play_buttons[row], self.style_boxes[row]):
                widget.installEventFilter(self)
        return table

    def eventFilter(self, watched: QWidget, event: QEvent) -> bool:  # type: ignore[override]  # noqa: N802
        """Keep the row of the focused control visible. Over lists without the focus, the wheel scrolls the table."""
        if event.type() == QEvent.Type.FocusIn and (row := self._focused_row()) is not None:
            self.table.scrollTo(self.table.model().index(row, _NAME))
        if event.type() == QEvent.Type.Wheel and not watched.hasFocus():
            event.ignore()
            return True
        return super().eventFilter(watched, event)

    def _lay_out(self) -> None:
        hint = text_label(
            self.tr("Choose a voice for each character. Lines with a style of their own keep it."), "quiet"
        )
        apply = QPushButton(self.tr("Apply"))
        apply.setEnabled(bool(self.roles))
        buttons = dialog_buttons(self, accept=apply)
        rows = QVBoxLayout(self)
        if self.roles:
            rows.addWidget(hint)
            rows.addWidget(self.table, 1)
        else:
            empty = QLabel(
                self.tr(
                    "This script has no characters.\n\nImport a script with names, such as a table with a character "
                    "column or a dialogue like “Mira: Hello.”"
                ),
                wordWrap=True,
                alignment=Qt.AlignmentFlag.AlignCenter,
            )
            rows.addWidget(empty, 1)
        rows.addWidget(self._problem)
        rows.addWidget(buttons)


def _row_of(*widgets: QWidget) -> QWidget:
    cell = QWidget()
    row = QHBoxLayout(cell)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(2)
    for at, widget in enumerate(widgets):
        row.addWidget(widget, 0 if at else 1)
    return cell


def _model(entries: Sequence[tuple[str, object]]) -> QStandardItemModel:
    model = QStandardItemModel()
    for words, value in entries:
        item = QStandardItem(words)
        item.setData(value, _DATA)
        model.appendRow(item)
    return model


def _style_entries(styles: StyleList, others: Sequence[LineStyle], default: str) -> list[tuple[str, object]]:
    """Return the default style, the styles of the model, and ``others``."""
    entries: dict[LineStyle, str] = {LineStyle(): default}
    for style in styles.styles:
        entries[LineStyle(preset=style.family)] = styles.categorized_name(style)
    for other in others:
        entries.setdefault(other, styles.label(other))
    return [(words, style) for style, words in entries.items()]
