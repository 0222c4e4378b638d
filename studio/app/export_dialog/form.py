"""Form of the export options: lines, files, audio format and extras."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMenu,
    QRadioButton,
    QStyle,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio import settings as declared
from studio.app.error_text import message_text
from studio.app.preferences.editors import SettingEditor, editor_for, translated
from studio.app.theme.icons import icon
from studio.app.widgets.controls import in_column
from studio.audio.encoding import MP3_192
from studio.errors import UnusableSetting
from studio.export.names import FIELDS
from studio.export.presets import EXPORT_OPTIONS, PRESETS, ExportPreset
from studio.export.standards import ACX
from studio.setting_kinds import Setting

# The default name pattern fits.
_PATTERN_CHARACTERS = 26
_BY_CHAPTER = ("chapters", "audiobook")  # values of EXPORT_FILES


class ExportForm(QWidget):
    """Form with the options of an export. Emits ``changed`` on every edit."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._has_times = False
        self._checks_takes = False
        self._rows: dict[Setting[Any], tuple[QFormLayout, QWidget | QHBoxLayout]] = {}
        self._editors: dict[Setting[Any], SettingEditor] = {setting: editor_for(setting) for setting in EXPORT_OPTIONS}
        self.all_lines = QRadioButton()
        self.selected_lines = QRadioButton()
        self.speak_first = QRadioButton(self.tr("Speak them first"))
        self.leave_out = QRadioButton(self.tr("Skip them"))
        self._unspoken_label = QLabel()
        self._unspoken_label.setWordWrap(True)
        self._unspoken_box = QWidget()
        self.joined_name = QLineEdit()
        self.joined_name.setAccessibleName(self.tr("Joined file name"))
        self.replace_files = QCheckBox(self.tr("Overwrite other scripts' files"))
        self.preset = QComboBox()
        self.preset.setAccessibleName(self.tr("Preset"))
        self.preset.addItem(self.tr("Custom"), None)
        for preset in PRESETS:
            self.preset.addItem(message_text(preset.title), preset)
        self.folder_row = QWidget()  # shown above the form, where there is space for a long path
        folder_rows = QFormLayout(self.folder_row)
        folder_rows.setContentsMargins(0, 0, 0, 0)
        preset_label = QLabel(self.tr("Preset"))
        preset_label.setBuddy(self.preset)
        folder_rows.addRow(preset_label, self.preset)
        self._add(folder_rows, declared.EXPORT_FOLDER)
        self.columns = columns = QHBoxLayout(self)
        columns.setContentsMargins(0, 0, 0, 0)
        audio_box = self._settings_box(
            self.tr("Audio"),
            declared.EXPORT_ENCODING,
            declared.EXPORT_SAMPLE_RATE,
            declared.EXPORT_STANDARD,
            declared.EXPORT_ROOM_TONE,
            declared.EXPORT_MATCHES_LOUDNESS,
            declared.EXPORT_LUFS,
            declared.EXPORT_TRUE_PEAK,
            declared.EXPORT_IS_TRIMMED,
        )
        extras_box = self._settings_box(
            self.tr("Extras"),
            declared.EXPORT_HAS_ONE_PAUSE,
            declared.EXPORT_PAUSE_SECONDS,
            declared.EXPORT_SUBTITLES,
            declared.EXPORT_HAS_MANIFEST,
            declared.EXPORT_HAS_DISCLAIMER,
        )
        for boxes in ((self._lines_box(), self._files_box()), (audio_box, extras_box)):
            column = QVBoxLayout()
            for box in boxes:
                column.addWidget(box)
            column.addStretch()
            columns.addLayout(column, 1)
        self.all_lines.setChecked(True)
        self.speak_first.setChecked(True)
        self._connect_signals()
        self._show_what_applies()

    def show_values(self, values: dict[Setting[Any], Any], folder: Path, joined_name: str) -> None:
        for setting, editor in self._editors.items():
            editor.set_value(str(folder) if setting is declared.EXPORT_FOLDER else values[setting])
        self._show_what_applies()
        self.joined_name.setText(joined_name)

    def show_times(self, has_times: bool) -> None:
        """Show the option for lines with times in a video."""
        self._has_times = has_times
        model = self.preset.model()
        assert isinstance(model, QStandardItemModel)
        for row, preset in enumerate(PRESETS, 1):
            model.item(row).setEnabled(self._suits(preset))
        self._show_what_applies()

    def _suits(self, preset: ExportPreset) -> bool:
        return self._has_times or not preset.needs_times

    def show_checks(self, *, is_on: bool) -> None:
        """Show the option to wait for checks if takes are checked."""
        self._checks_takes = is_on
        self._show_what_applies()

    def show_lines(self, *, num_lines: int, num_selected: int, num_unspoken: int) -> None:
        """Show the numbers of lines. ``num_unspoken`` lines of the export have no up-to-date take."""
        self.all_lines.setText(self.tr("All lines ({count})").format(count=num_lines))
        self.selected_lines.setText(self.tr("Selected lines ({count})").format(count=num_selected))
        self.selected_lines.setEnabled(num_selected > 0)
        self._unspoken_box.setVisible(num_unspoken > 0)
        self._unspoken_label.setText(self.tr("%n line(s) are new or changed:", "", num_unspoken))

    @property
    def folder(self) -> Path:
        """The chosen folder. Raises ``UnusableSetting`` if the field is empty."""
        path = self._value(declared.EXPORT_FOLDER)
        if not path:
            raise UnusableSetting("No folder is chosen.", remedy="Choose a folder for the files.")
        return Path(path)

    @property
    def values(self) -> dict[Setting[Any], Any]:
        return {setting: editor.value() for setting, editor in self._editors.items()}

    def editor(self, setting: Setting[Any]) -> SettingEditor:
        return self._editors[setting]

    # Groups.

    def _lines_box(self) -> QGroupBox:
        box = QGroupBox(self.tr("Lines"))
        rows = QVBoxLayout(box)
        choice = QWidget()
        in_column(self.all_lines, self.selected_lines, parent=choice, margins=0)
        unspoken_rows = QVBoxLayout(self._unspoken_box)
        unspoken_rows.setContentsMargins(0, 0, 0, 0)
        waits = self._editors[declared.EXPORT_WAITS_FOR_CHECKS].control
        assert isinstance(waits, QCheckBox)
        waits.setText(self.tr("Wait for their checks"))
        waits.setToolTip(translated(declared.EXPORT_WAITS_FOR_CHECKS.help))
        below_speak_first = QHBoxLayout()
        below_speak_first.addSpacing(self.style().pixelMetric(QStyle.PixelMetric.PM_ExclusiveIndicatorWidth))
        below_speak_first.addWidget(waits, 1)
        for widget in (self._unspoken_label, self.speak_first):
            unspoken_rows.addWidget(widget)
        unspoken_rows.addLayout(below_speak_first)
        unspoken_rows.addWidget(self.leave_out)
        rows.addWidget(choice)
        rows.addWidget(self._unspoken_box)
        return box

    def _files_box(self) -> QGroupBox:
        box = QGroupBox(self.tr("Files"))
        rows = QFormLayout(box)
        self._add(rows, declared.EXPORT_FILES)
        self._add(rows, declared.EXPORT_PLACEMENT)
        pattern = QHBoxLayout()
        field = self._editors[declared.EXPORT_PATTERN].control
        field.setMinimumWidth(_PATTERN_CHARACTERS * field.fontMetrics().averageCharWidth())
        pattern.addWidget(field, 1)
        pattern.addWidget(self._fields_button())
        rows.addRow(self._label(declared.EXPORT_PATTERN), pattern)
        self._rows[declared.EXPORT_PATTERN] = (rows, pattern)
        rows.addRow(self.tr("Name"), self.joined_name)
        self._files_rows = rows
        rows.addRow(self.replace_files)
        return box

    def _settings_box(self, title: str, *settings: Setting[Any]) -> QGroupBox:
        box = QGroupBox(title)
        rows = QFormLayout(box)
        for setting in settings:
            self._add(rows, setting)
        return box

    def _add(self, rows: QFormLayout, setting: Setting[Any]) -> None:
        control = self._editors[setting].control
        control.setToolTip(translated(setting.help))
        if isinstance(control, QCheckBox):  # a check box has its own label
            rows.addRow(control)
        else:
            rows.addRow(self._label(setting), control)
        self._rows[setting] = (rows, control)

    def _label(self, setting: Setting[Any]) -> QLabel:
        control = self._editors[setting].control
        label = QLabel(translated(setting.title))
        label.setBuddy(control.focusProxy() or control)
        return label

    def _fields_button(self) -> QToolButton:
        """Return a button with a menu that inserts a field at the cursor."""
        button = QToolButton()
        button.setIcon(icon("add"))
        button.setToolTip(self.tr("Insert field"))
        button.setAccessibleName(self.tr("Insert field into file name"))
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        menu = QMenu(button)
        titles = {
            "index": self.tr("Line number"),
            "voice": self.tr("Voice"),
            "text": self.tr("First words"),
            "style": self.tr("Style"),
            "project": self.tr("Script name"),
            "character": self.tr("Character"),
            "id": self.tr("ID of the imported line"),
            "chapter_number": self.tr("Chapter number"),
            "chapter": self.tr("Chapter title"),
        }
        for name in FIELDS:
            action = menu.addAction(f"{titles[name]}\t{{{name}}}")
            action.triggered.connect(lambda _=False, name=name: self._insert_field(name))
        button.setMenu(menu)
        return button

    # Events.

    def _connect_signals(self) -> None:
        for editor in self._editors.values():
            editor.changed.connect(self._on_changed)
        self._editors[declared.EXPORT_STANDARD].changed.connect(self._on_standard_changed)
        for button in (self.all_lines, self.leave_out):
            button.toggled.connect(self._on_changed)
        self.joined_name.textChanged.connect(self._on_changed)
        self.replace_files.toggled.connect(self._on_changed)
        self.preset.activated.connect(self._apply_preset)

    def _apply_preset(self) -> None:
        preset = self.preset.currentData()
        if preset is not None:
            for setting, value in preset.values.items():
                self._editors[setting].set_value(value)
            self._on_changed()

    def _insert_field(self, name: str) -> None:
        field = self._editors[declared.EXPORT_PATTERN].control
        assert isinstance(field, QLineEdit)
        field.insert(f"{{{name}}}")
        self._on_changed()

    def _on_standard_changed(self) -> None:
        """Choose the format that ACX requires."""
        if self._value(declared.EXPORT_STANDARD) == ACX.name:
            self._editors[declared.EXPORT_ENCODING].set_value(MP3_192.name)
            self._editors[declared.EXPORT_SAMPLE_RATE].set_value(44_100)
            self._on_changed()

    def _on_changed(self) -> None:
        self._show_what_applies()
        self.changed.emit()

    def _show_what_applies(self) -> None:
        """Show only the options that have an effect with the others."""
        values = self.values
        self.preset.setCurrentIndex(
            next((n for n, each in enumerate(PRESETS, 1) if each.matches(values) and self._suits(each)), 0)
        )
        files = values[declared.EXPORT_FILES]
        is_joined = files != "lines"
        follows_joined = is_joined or values[declared.EXPORT_SUBTITLES] != "none"
        may_have_times = self._has_times and files not in _BY_CHAPTER and follows_joined
        has_times = may_have_times and values[declared.EXPORT_PLACEMENT] != "pauses"
        has_pauses = follows_joined and not has_times
        is_mastered = is_joined and not has_times and values[declared.EXPORT_STANDARD] != "none"
        has_target = values[declared.EXPORT_MATCHES_LOUDNESS] and not is_mastered
        applies: dict[Setting[Any], bool] = {
            declared.EXPORT_PLACEMENT: may_have_times,
            declared.EXPORT_PATTERN: files in ("lines", "both", "chapters"),
            declared.EXPORT_ENCODING: files != "audiobook",
            declared.EXPORT_STANDARD: is_joined and not has_times,
            declared.EXPORT_ROOM_TONE: is_mastered,
            declared.EXPORT_HAS_ONE_PAUSE: has_pauses,
            declared.EXPORT_PAUSE_SECONDS: has_pauses and values[declared.EXPORT_HAS_ONE_PAUSE],
            declared.EXPORT_HAS_DISCLAIMER: not has_times,  # it would delay lines that have times
            declared.EXPORT_LUFS: has_target,
            declared.EXPORT_TRUE_PEAK: has_target,
        }
        loudness = self._editors[declared.EXPORT_MATCHES_LOUDNESS].control
        assert isinstance(loudness, QCheckBox)
        # Mastering sets the level of the files, so that only the differences between lines remain.
        loudness.setText(
            self.tr("Same loudness for all lines")
            if is_mastered
            else translated(declared.EXPORT_MATCHES_LOUDNESS.title)
        )
        for setting, is_shown in applies.items():
            rows, control = self._rows[setting]
            rows.setRowVisible(control, is_shown)
        self._files_rows.setRowVisible(self.joined_name, follows_joined or values[declared.EXPORT_HAS_MANIFEST])
        waits = self._editors[declared.EXPORT_WAITS_FOR_CHECKS].control
        waits.setVisible(self._checks_takes and self.speak_first.isChecked())

    def _value(self, setting: Setting[Any]) -> Any:
        return self._editors[setting].value()
