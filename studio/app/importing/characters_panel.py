"""Panel beside the voices: the characters of the script with their voices and numbers of lines."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QColor, QFont, QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from studio.app.script.project_editor import ProjectEditor
from studio.app.script.style_list import StyleList
from studio.app.theme.colors import theme_colors
from studio.app.theme.fonts import text_font
from studio.app.theme.icons import icon
from studio.app.theme.sizes import GRID
from studio.app.theme.voice_colors import voice_color
from studio.app.voices.voice_items import fill_voice_box, row_of_voice
from studio.app.widgets.controls import icon_button, in_column, in_row
from studio.app.widgets.wide_list_box import WideListBox
from studio.project.casting import LibraryNames, Role, collect_roles
from studio.voices.voice import Voice

_NAME, _VOICE, _LINES = range(3)
_ROLE = Qt.ItemDataRole.UserRole
_MIN_HEIGHT = 48  # pixels
_UPDATE_MILLISECONDS = 100


class CharactersPanel(QWidget):
    """Lists the characters, the busiest first. Casts, plays, shows or selects the lines of the selected ones."""

    available = Signal(bool)  # whether the script has characters
    cast = Signal(object, str)  # roles, name of a voice
    play_requested = Signal(list)  # ids of lines
    filter_requested = Signal(str)  # name of a character
    select_requested = Signal(list)  # ids of lines
    suggest_requested = Signal()  # voices for the characters without one

    def __init__(self, editor: ProjectEditor, styles: StyleList, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._styles = styles
        self._voices: tuple[Voice, ...] = ()
        self.list = _CharacterList()
        self.voice = WideListBox(placeholderText=self.tr("Choose a voice"))
        self.voice.setAccessibleName(self.tr("Voice of the selected characters"))
        self.voice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.play = QPushButton(icon("play"), self.tr("Play lines"))
        self.play.setToolTip(self.tr("Play all lines of the character (Space)"))
        self.show_lines = QPushButton(icon("filter"), self.tr("Show lines"))
        self.show_lines.setToolTip(self.tr("Show only the lines of the character, or all lines again"))
        self.suggest = icon_button(
            "voice",
            self.tr("Give each character without a voice one of the same gender"),
            self.suggest_requested,
            name=self.tr("Suggest voices"),
        )
        self.select_lines = QAction(self.tr("Select lines"), self)
        self.list.addAction(self.select_lines)
        self._timer = QTimer(self, singleShot=True, interval=_UPDATE_MILLISECONDS)  # combines many changes
        buttons = in_row((self.play, 1), (self.show_lines, 1))
        in_column((self.list, 1), in_row((self.voice, 1), self.suggest), buttons, parent=self, margins=8)
        self._timer.timeout.connect(self._update)
        editor.script_changed.connect(self._update_later)
        editor.project_replaced.connect(self._update_later)
        styles.changed.connect(self._on_model)
        self.list.itemSelectionChanged.connect(self._show_selected)
        self.list.itemActivated.connect(lambda *_: self._open_voices())
        self.list.play_pressed.connect(self.play.click)
        self.voice.activated.connect(self._on_voice)
        self.play.clicked.connect(lambda: self.play_requested.emit(self._selected_lines()))
        self.show_lines.clicked.connect(lambda: self.filter_requested.emit(self.selected[0].name))
        self.select_lines.triggered.connect(lambda: self.select_requested.emit(self._selected_lines()))
        self._update()

    @property
    def selected(self) -> list[Role]:
        return [item.data(_NAME, _ROLE) for item in self.list.selectedItems()]

    def set_voices(self, voices: Sequence[Voice]) -> None:
        self._voices = tuple(voices)
        fill_voice_box(self.voice, self._voices, self._styles.generation)
        self._update()

    def _on_model(self) -> None:
        self.set_voices(self._voices)

    def _update_later(self, *_: object) -> None:
        self._timer.start()

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        super().showEvent(event)
        self._update()

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() == QEvent.Type.PaletteChange and hasattr(self, "list"):
            self._fill(self._roles())
        super().changeEvent(event)

    def _update(self) -> None:
        """Read the script, all of it only while the panel is visible."""
        self.available.emit(any(line.character for line in self._editor.script.lines))
        if self.isVisible():
            self._fill(self._roles())

    def _roles(self) -> tuple[Role, ...]:
        script = self._editor.script
        return collect_roles(script.lines, script.details.cast, LibraryNames(voice.name for voice in self._voices))

    def _fill(self, roles: Sequence[Role]) -> None:
        chosen = {role.key for role in self.selected} or {role.key for role in roles[:1]}
        self.list.blockSignals(True)
        self.list.clear()
        for role in roles:
            item = self._item(role)
            self.list.addTopLevelItem(item)
            item.setSelected(role.key in chosen)
        self.list.blockSignals(False)
        self.suggest.setVisible(any(role.member.voice is None for role in roles))
        self._show_selected()

    def _item(self, role: Role) -> QTreeWidgetItem:
        voice, num_lines = role.member.voice or self.tr("No voice"), len(role.line_ids)
        item = QTreeWidgetItem([role.name, voice, str(num_lines)])
        item.setData(_NAME, _ROLE, role)
        words = self.tr("{character}, {voice}, lines: {count}")
        item.setData(
            _NAME, Qt.ItemDataRole.AccessibleTextRole, words.format(character=role.name, voice=voice, count=num_lines)
        )
        item.setForeground(_NAME, voice_color(role.name, self.palette()))
        item.setFont(_NAME, text_font(weight=QFont.Weight.DemiBold))
        colors = theme_colors(self.palette())
        item.setForeground(_VOICE, QColor(colors.ink if role.member.voice else colors.warn))
        item.setSizeHint(_NAME, QSize(0, self.fontMetrics().lineSpacing() + GRID + GRID // 2))
        item.setTextAlignment(_LINES, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for column in (_NAME, _VOICE):
            item.setToolTip(column, item.text(column))
        return item

    def _show_selected(self) -> None:
        roles = self.selected
        for each in (self.voice, self.play, self.show_lines, self.select_lines):
            each.setEnabled(bool(roles))
        names = {role.member.voice for role in roles}
        name = names.pop() if len(names) == 1 else None
        self.voice.setCurrentIndex(-1 if name is None else row_of_voice(self.voice, name))

    def _selected_lines(self) -> list[str]:
        wanted = {line_id for role in self.selected for line_id in role.line_ids}
        return [line.id for line in self._editor.script.lines if line.id in wanted]

    def _open_voices(self) -> None:
        self.voice.setFocus()
        self.voice.showPopup()

    def _on_voice(self) -> None:
        self.cast.emit(self.selected, self.voice.currentData())
        self.list.setFocus()


class _CharacterList(QTreeWidget):
    """Three columns; Space plays."""

    play_pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("Characters"))
        self.setHeaderLabels([self.tr("Character"), self.tr("Voice"), self.tr("Lines")])
        self.setRootIsDecorated(False)
        self.setUniformRowHeights(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.setMinimumHeight(_MIN_HEIGHT)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        header = self.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(_NAME, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(_VOICE, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(_LINES, QHeaderView.ResizeMode.ResizeToContents)

    def event(self, event: QEvent) -> bool:
        """Use Space, which otherwise plays the current line of the script."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent) and _is_space(event):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        if _is_space(event):
            self.play_pressed.emit()
        else:
            super().keyPressEvent(event)


def _is_space(event: QKeyEvent) -> bool:
    return event.key() == Qt.Key.Key_Space and not event.modifiers()
