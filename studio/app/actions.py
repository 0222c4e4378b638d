"""All actions of the window, with title, menu, icon and default keys.

Menus, toolbar, context menus and the shortcuts page are built from this list. ``window.py`` connects the actions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPushButton,
    QWidget,
)

from studio.app.theme.icons import icon
from studio.app.translation import QT_TRANSLATE_NOOP

_CONTEXT = "Actions"
NUM_VOICE_KEYS = 9
# With Ctrl, line edits use these keys on all systems: select all, copy, paste, cut, redo and undo.
_EDITING_LETTERS = (Qt.Key.Key_A, Qt.Key.Key_C, Qt.Key.Key_V, Qt.Key.Key_X, Qt.Key.Key_Y, Qt.Key.Key_Z)
IGNORES_ENTER = "ignoresEnter"  # property of buttons that Enter does not press


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """Declaration of an action. The part of ``id`` before the dot is its menu, except for actions on takes."""

    id: str
    title: str
    keys: tuple[str, ...] = ()  # portable key sequences; menus show the first
    icon: str = ""
    tip: str = ""
    is_checkable: bool = False

    @property
    def menu(self) -> str:
        return "takes" if self.id in _TAKE_ACTIONS else self.id.partition(".")[0]


# They have the ids of an earlier menu, by which the user's keys are stored.
_TAKE_ACTIONS = frozenset((
    "play.previous_take", "play.next_take", "play.compare", "play.compare_takes", "play.edit_take", "play.cut_silence",
    "play.accept", "play.best", "play.keep", "play.remove_take", "play.restore_take",
))  # fmt: skip
_T = QT_TRANSLATE_NOOP
# In the order of the menu bar. "&" marks the letter that opens the menu together with Alt.
MENUS = {
    "file": _T("Menus", "&File"),
    "edit": _T("Menus", "&Edit"),
    "speak": _T("Menus", "&Speak"),
    "play": _T("Menus", "&Play"),
    "takes": _T("Menus", "&Takes"),
    "voices": _T("Menus", "V&oices"),
    "view": _T("Menus", "&View"),
    "help": _T("Menus", "&Help"),
}
# In the order of the menu entries.
SPECS: tuple[ActionSpec, ...] = (
    ActionSpec("file.new", _T("Actions", "New script"), ("Ctrl+N",), "new"),
    ActionSpec("file.open", _T("Actions", "Open…"), ("Ctrl+O",), "open"),
    ActionSpec("file.save", _T("Actions", "Save"), ("Ctrl+S",), "save"),
    ActionSpec("file.save_as", _T("Actions", "Save as…"), ("Ctrl+Shift+S",)),
    ActionSpec("file.import", _T("Actions", "Import…"), ("Ctrl+I",), "import",
               _T("Actions", "Insert the lines of a text, table, document or subtitles")),
    ActionSpec("file.update", _T("Actions", "Update from file…"), (), "",
               _T("Actions", "Show what a new version of the imported file changes, and change only these lines")),
    ActionSpec("file.export", _T("Actions", "Export audio…"), ("Ctrl+E",), "export"),
    ActionSpec("file.last_export", _T("Actions", "Last export…"), (), "",
               _T("Actions", "Show the files of the last export with their verdicts, or its progress")),
    ActionSpec("file.book", _T("Actions", "Book details…"), (), "",
               _T("Actions", "Title, author, narrator and cover of the work")),
    ActionSpec("file.levels", _T("Actions", "Check audio levels…"), (), "",
               _T("Actions", "Compare audio files with ACX or EBU R128")),
    ActionSpec("file.inspect", _T("Actions", "Inspect audio files…"), (), "",
               _T("Actions", "Show the signed manifest and the tags of audio files")),
    ActionSpec("file.check_report", _T("Actions", "Report of checks…"), (), "",
               _T("Actions", "Save a table of all lines with their verdicts as HTML or CSV")),
    ActionSpec("file.models", _T("Actions", "Models…"), ("Ctrl+M",), "models",
               _T("Actions", "Install, verify and remove models")),
    ActionSpec("file.engines", _T("Actions", "Engines…"), (), "engine",
               _T("Actions", "Show the engine of each stage and why it was chosen")),
    ActionSpec("file.serve", _T("Actions", "Serve voices…"), (), "",
               _T("Actions", "Let other programs on this computer use your voices")),
    ActionSpec("file.settings", _T("Actions", "Settings…"), ("Ctrl+,",), "settings"),
    ActionSpec("file.quit", _T("Actions", "Quit"), ("Ctrl+Q",)),
    ActionSpec("edit.undo", _T("Actions", "Undo"), ("Ctrl+Z",), "undo"),
    ActionSpec("edit.redo", _T("Actions", "Redo"), ("Ctrl+Y", "Ctrl+Shift+Z"), "redo"),
    ActionSpec("edit.cut", _T("Actions", "Cut lines"), ("Ctrl+X",)),
    ActionSpec("edit.copy", _T("Actions", "Copy lines"), ("Ctrl+C",), "",
               _T("Actions", "Copy the selected lines, also for spreadsheets")),
    ActionSpec("edit.paste", _T("Actions", "Paste lines"), ("Ctrl+V",)),
    ActionSpec("edit.select_all", _T("Actions", "Select all lines"), ("Ctrl+A",)),
    ActionSpec("edit.new_line", _T("Actions", "New line below"), ("Shift+Return", "Shift+Enter"), "add"),
    ActionSpec("edit.paste_lines", _T("Actions", "Paste as lines"), ("Ctrl+Shift+V",)),
    ActionSpec("edit.duplicate", _T("Actions", "Duplicate lines"), ("Ctrl+D",), "duplicate"),
    ActionSpec("edit.remove", _T("Actions", "Remove lines"), ("Shift+Del",), "remove"),
    ActionSpec("edit.split", _T("Actions", "Split line at cursor"), ("Ctrl+Shift+K",), "split"),
    ActionSpec("edit.merge", _T("Actions", "Merge lines"), ("Ctrl+J",), "merge"),
    ActionSpec("edit.move_up", _T("Actions", "Move lines up"), ("Alt+Up",), "up"),
    ActionSpec("edit.move_down", _T("Actions", "Move lines down"), ("Alt+Down",), "down"),
    ActionSpec("edit.lock", _T("Actions", "Lock line"), ("Ctrl+L",), "lock",
               _T("Actions", "Protect the line from edits and new takes"), is_checkable=True),
    ActionSpec("edit.chapter", _T("Actions", "Chapter heading"), ("Ctrl+Alt+1",), "",
               _T("Actions", "Make the selected lines chapter headings, or ordinary lines again")),
    ActionSpec("edit.scene", _T("Actions", "Scene heading"), ("Ctrl+Alt+2",), "",
               _T("Actions", "Make the selected lines scene headings, or ordinary lines again")),
    ActionSpec("edit.note", _T("Actions", "Note, not spoken"), ("Ctrl+Alt+N",), "",
               _T("Actions", "Make the selected lines notes, or ordinary lines again")),
    ActionSpec("edit.spoken", _T("Actions", "Spoken text"), ("Ctrl+Alt+0",), "",
               _T("Actions", "Make the selected headings and notes ordinary lines")),
    ActionSpec("edit.find", _T("Actions", "Find…"), ("Ctrl+F",), "find"),
    ActionSpec("edit.replace", _T("Actions", "Replace…"), ("Ctrl+H",), "replace"),
    ActionSpec("edit.filter", _T("Actions", "Filter lines"), ("Ctrl+Shift+F",), "filter",
               _T("Actions", "Show only lines with a text, voice, state, style or note")),
    ActionSpec("edit.next_failed", _T("Actions", "Next failed line"), ("F8",)),
    ActionSpec("edit.next_check", _T("Actions", "Next line to review"), ("F7",), "",
               _T("Actions", "Go to the next line whose take has problems")),
    ActionSpec("edit.previous_check", _T("Actions", "Previous line to review"), ("Shift+F7",)),
    ActionSpec("edit.review", _T("Actions", "Show lines to review"), ("Ctrl+F7",), "",
               _T("Actions", "Show only lines whose take has problems, or all lines again")),
    ActionSpec("edit.select_chapter", _T("Actions", "Select lines of this chapter"), ("Ctrl+Shift+A",), "",
               _T("Actions", "Select the current chapter, or the scene of a heading, to speak or export it")),
    ActionSpec("edit.select_character", _T("Actions", "Select lines of this character"), (), "",
               _T("Actions", "Select all lines of the current line's character")),
    ActionSpec("edit.select_voice", _T("Actions", "Select lines of this voice"), (), "",
               _T("Actions", "Select all lines with the current line's voice")),
    ActionSpec("edit.speakers", _T("Actions", "Assign speakers…"), (), "",
               _T("Actions", "Divide the dialogue of a novel into the lines of its characters")),
    ActionSpec("edit.cast", _T("Actions", "Cast…"), ("Ctrl+Shift+C",), "",
               _T("Actions", "Choose the voice and style of each character")),
    ActionSpec("edit.pronunciation", _T("Actions", "Pronunciation…"), ("Ctrl+Shift+P",), "",
               _T("Actions", "Fix mispronounced words")),
    ActionSpec("speak.line", _T("Actions", "Speak line"), ("Ctrl+Return", "Ctrl+Enter"), "speak",
               _T("Actions", "Speak the selected lines and play them while they are generated")),
    ActionSpec("speak.takes", _T("Actions", "Speak several takes"), ("Ctrl+Alt+Return",), "takes",
               _T("Actions", "Speak several takes, each with a different seed (number in the settings)")),
    ActionSpec("speak.stale", _T("Actions", "Speak all changed lines"),
               ("Ctrl+Shift+Return", "Ctrl+Shift+Enter"), "speak-all",
               _T("Actions", "Speak every line without an up-to-date take")),
    ActionSpec("speak.again", _T("Actions", "Speak again"), ("Shift+F9",), "retry",
               _T("Actions", "Speak the selected lines again with another seed")),
    ActionSpec("speak.final", _T("Actions", "Make drafts final"), ("Ctrl+Alt+D",), "",
               _T("Actions", "Speak the drafts of the selected lines again exactly, with the same reading")),
    ActionSpec("speak.quality", _T("Actions", "Quality of this script…"), (), "",
               _T("Actions", "Choose between exact takes and faster drafts")),
    ActionSpec("speak.check", _T("Actions", "Check takes"), (), "",
               _T("Actions", "Check the selected takes again")),
    ActionSpec("speak.check_policy", _T("Actions", "Checks of this script…"), (), "",
               _T("Actions", "Choose what is checked in this script, and when lines are spoken again")),
    ActionSpec("speak.consistency", _T("Actions", "Consistency…"), (), "",
               _T("Actions", "Show how pace, pitch and level change over the script, and speak outliers again")),
    ActionSpec("speak.recording", _T("Actions", "Convert recording…"), ("Ctrl+Shift+R",), "",
               _T("Actions", "Convert a recording to the voice of the line")),
    ActionSpec("speak.fit", _T("Actions", "Fit to slot"), ("Ctrl+Alt+F",), "",
               _T("Actions", "Stretch the takes of the selected lines to their slots, within the limits")),
    ActionSpec("speak.fit_all", _T("Actions", "Fit all to slots…"), (), "",
               _T("Actions", "List the takes that are longer than their slots, and make them fit")),
    ActionSpec("speak.pause", _T("Actions", "Pause queue"), (), "pause", is_checkable=True),
    ActionSpec("speak.cancel", _T("Actions", "Cancel all"), (), "close"),
    ActionSpec("play.toggle", _T("Actions", "Play or pause"), ("Space", "F5"), "play"),
    ActionSpec("play.from_here", _T("Actions", "Play from here"), ("Shift+Space", "Shift+F5"), "play-all",
               _T("Actions", "Play all lines from here, or those that the filter shows")),
    ActionSpec("play.character", _T("Actions", "Play lines of this character"), (), "",
               _T("Actions", "Play all lines of the current line's character")),
    ActionSpec("play.stop", _T("Actions", "Stop"), ("Esc",), "stop"),
    ActionSpec("play.previous_line", _T("Actions", "Previous line"), ("Ctrl+Up",), "previous"),
    ActionSpec("play.next_line", _T("Actions", "Next line"), ("Ctrl+Down",), "next"),
    ActionSpec("play.previous_take", _T("Actions", "Previous take"), ("[",)),
    ActionSpec("play.next_take", _T("Actions", "Next take"), ("]",)),
    ActionSpec("play.compare", _T("Actions", "Compare with previous take"), ("Ctrl+B",)),
    ActionSpec("play.compare_takes", _T("Actions", "Compare takes…"), ("Ctrl+Shift+B",), "compare",
               _T("Actions", "Compare takes at equal loudness, optionally as a blind test")),
    ActionSpec("play.edit_take", _T("Actions", "Edit take…"), ("Ctrl+Shift+E",), "",
               _T("Actions", "Trim the take, or speak a part of it again")),
    ActionSpec("takes.recording", _T("Actions", "Use recording as take…"), (), "",
               _T("Actions", "Use a recording of this line as a take, in which words can be replaced")),
    ActionSpec("play.cut_silence", _T("Actions", "Cut silence…"), (), "",
               _T("Actions", "Shorten long pauses in the takes of the selected lines")),
    ActionSpec("play.accept", _T("Actions", "Approve take"), ("F9",), "",
               _T("Actions", "Approve the takes of the selected lines despite their problems, and go to the next one")),
    ActionSpec("play.best", _T("Actions", "Choose best take"), (), "",
               _T("Actions", "Choose the take with the best check result")),
    ActionSpec("play.keep", _T("Actions", "Protect take"), ("Ctrl+K",), "keep",
               _T("Actions", "Protect the take from being cleared"), is_checkable=True),
    ActionSpec("play.remove_take", _T("Actions", "Remove take"), (), "remove"),
    ActionSpec("play.restore_take", _T("Actions", "Restore removed take"), (), "",
               _T("Actions", "Restore the last take removed from this line")),
    ActionSpec("voices.new", _T("Actions", "New voice from files…"), ("Ctrl+Shift+I",), "voice"),
    ActionSpec("voices.record", _T("Actions", "Record voice…"), ("Ctrl+R",), "record"),
    ActionSpec("view.compact", _T("Actions", "Compact table"), ("Ctrl+Shift+T",), "",
               _T("Actions", "Show the script as a table with one row per line"), is_checkable=True),
    ActionSpec("view.live", _T("Actions", "Live figures"), ("Ctrl+Shift+L",), "",
               _T("Actions", "Show stage times, memory and concurrent lines"), is_checkable=True),
    ActionSpec("view.timeline", _T("Actions", "Timeline"), ("Ctrl+Shift+M",), "",
               _T("Actions", "Show the slots of a dubbing on a time axis"), is_checkable=True),
    ActionSpec("view.outline", _T("Actions", "Chapters and scenes…"), ("Ctrl+Shift+O",)),
    ActionSpec("view.next_section", _T("Actions", "Next chapter or scene"), ("Ctrl+PgDown",)),
    ActionSpec("view.previous_section", _T("Actions", "Previous chapter or scene"), ("Ctrl+PgUp",)),
    ActionSpec("view.reset", _T("Actions", "Reset layout")),
    ActionSpec("help.guide", _T("Actions", "Manual"), ("F1",), "help"),
    ActionSpec("help.sample", _T("Actions", "Open sample"), (), "",
               _T("Actions", "Open a short script with characters, styles, chapters and a dub")),
    ActionSpec("help.shortcuts", _T("Actions", "Keyboard shortcuts…"), ("Ctrl+/",), "keyboard"),
    ActionSpec("help.doctor", _T("Actions", "Diagnostics…"), (), "info",
               _T("Actions", "Check the installation and list problems")),
    ActionSpec("help.about", _T("Actions", "About Timbre Studio")),
)  # fmt: skip
_BEFORE_SEPARATORS = frozenset((
    "file.save_as", "file.check_report", "file.settings", "edit.redo", "edit.select_all", "edit.remove", "edit.move_down", "edit.lock",
    "edit.spoken", "edit.review", "edit.select_voice", "view.previous_section", "speak.stale", "speak.quality", "speak.consistency", "speak.recording", "play.stop", "play.compare_takes", "help.doctor",
))  # fmt: skip
# Titles of submenus, with which the Edit menu fits a screen of 800 pixels.
_HEADINGS, _REVIEW = _T("Actions", "Heading or note"), _T("Actions", "Review")
_SUBMENUS = {
    **dict.fromkeys(("edit.chapter", "edit.scene", "edit.note", "edit.spoken"), _HEADINGS),
    **dict.fromkeys(("edit.next_failed", "edit.next_check", "edit.previous_check", "edit.review"), _REVIEW),
}
_VOICE_KEY_TITLE = _T("Actions", "Assign voice {number}")


def voice_action_id(number: int) -> str:
    """Return the id of the action that assigns voice ``number`` of the voices dock, counted from 1."""
    return f"voices.assign_{number}"


class Actions(QObject):
    """All actions by id. ``keys``, chosen by the user, replace the defaults."""

    keys_changed = Signal()

    def __init__(self, parent: QWidget, keys: Mapping[str, tuple[str, ...]] | None = None) -> None:
        super().__init__(parent)
        self.specs = {spec.id: spec for spec in (*SPECS, *_voice_specs())}
        self._own_keys = {name: tuple(own) for name, own in (keys or {}).items() if name in self.specs}
        self._actions = {spec.id: self._make(spec) for spec in self.specs.values()}
        for name in self._actions:
            self._update_tip(name)
        parent.addActions(list(self._actions.values()))

    def __getitem__(self, action_id: str) -> QAction:
        return self._actions[action_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._actions)

    def ids_of(self, menu: str) -> list[str]:
        return [spec.id for spec in self.specs.values() if spec.menu == menu]

    def call_before(self, call: Callable[[], object], *menus: str) -> None:
        """Call ``call`` before any other slot when an action of ``menus`` is triggered.

        Qt runs slots in the order of connection.
        """
        for action_id in (action_id for menu in menus for action_id in self.ids_of(menu)):
            self._actions[action_id].triggered.connect(lambda _: call())

    @staticmethod
    def add_menus(bar: QMenuBar) -> dict[str, QMenu]:
        """Add all menus to ``bar``, without entries, and return them."""
        return {name: bar.addMenu(QCoreApplication.translate("Menus", title)) for name, title in MENUS.items()}

    def fill_menus(self, menus: Mapping[str, QMenu]) -> None:
        """Add the entries to ``menus``, by name. The keys that assign voices have none."""
        submenus: dict[str, QMenu] = {}
        for spec in SPECS:
            menu = menus[spec.menu]
            title = _SUBMENUS.get(spec.id, "")
            if title and title not in submenus:
                submenus[title] = menu.addMenu(QCoreApplication.translate(_CONTEXT, title))
            submenus.get(title, menu).addAction(self._actions[spec.id])
            if spec.id in _BEFORE_SEPARATORS:
                menu.addSeparator()

    def title(self, action_id: str) -> str:
        return _title(self.specs[action_id])

    @staticmethod
    def menu_title(menu: str) -> str:
        """Return the title without its Alt key letter, which Chinese titles have at the end in parentheses."""
        return re.sub(r"\(&\w\)|&", "", QCoreApplication.translate("Menus", MENUS[menu]))

    def keys(self, action_id: str) -> tuple[str, ...]:
        return self._own_keys.get(action_id, self.specs[action_id].keys)

    @property
    def own_keys(self) -> dict[str, tuple[str, ...]]:
        """The keys that differ from the defaults, as stored in the settings."""
        return dict(self._own_keys)

    def set_keys(self, action_id: str, keys: tuple[str, ...]) -> None:
        """Assign ``keys`` to the action and remove them from all others."""
        for other in self.users_of(keys) - {action_id}:
            self._set(other, tuple(key for key in self.keys(other) if _portable(key) not in map(_portable, keys)))
        self._set(action_id, keys)
        self.keys_changed.emit()

    def reset_keys(self, action_id: str | None = None) -> None:
        """Restore the default keys of one action, or of all."""
        for name in [action_id] if action_id else list(self._own_keys):
            self._set(name, self.specs[name].keys)
        self.keys_changed.emit()

    def users_of(self, keys: tuple[str, ...]) -> set[str]:
        """Return the actions that have one of these keys."""
        wanted = {_portable(key) for key in keys}
        return {name for name in self._actions if wanted & {_portable(key) for key in self.keys(name)}}

    def _set(self, action_id: str, keys: tuple[str, ...]) -> None:
        if keys == self.specs[action_id].keys:
            self._own_keys.pop(action_id, None)
        else:
            self._own_keys[action_id] = keys
        self._actions[action_id].setShortcuts([QKeySequence(key) for key in keys])
        self._update_tip(action_id)

    def _make(self, spec: ActionSpec) -> QAction:
        action = QAction(_title(spec), self)
        action.setObjectName(spec.id)
        action.setIconText(_title(spec).rstrip("…"))  # beside its icon in the toolbar
        action.setCheckable(spec.is_checkable)
        action.setShortcuts([QKeySequence(key) for key in self.keys(spec.id)])
        if spec.icon:
            action.setIcon(icon(spec.icon))
        return action

    def _update_tip(self, action_id: str) -> None:
        spec, action = self.specs[action_id], self._actions[action_id]
        tip = QCoreApplication.translate(_CONTEXT, spec.tip) if spec.tip else _title(spec).rstrip("…")
        shown_keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        words = QCoreApplication.translate("Actions", "{tip} ({keys})").format(tip=tip, keys=shown_keys)
        action.setToolTip(words if shown_keys else tip)


def belongs_to_focus(event: QEvent) -> bool:
    """Return whether the focused control uses this key:

    Space presses a button, Alt+Down opens a list. Called by the window's ``event``, which receives the shortcut
    overrides that no widget has accepted. Text fields accept their own.
    """
    if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    focus = QApplication.focusWidget()
    if event.key() == Qt.Key.Key_Down and held == Qt.KeyboardModifier.AltModifier:
        return isinstance(focus, QComboBox)
    is_space = event.key() == Qt.Key.Key_Space and held == Qt.KeyboardModifier.NoModifier
    return is_space and isinstance(focus, QAbstractButton | QComboBox)


def hides_shortcut(focus: QObject, event: QKeyEvent) -> bool:
    """Return whether a line edit would take this key before the shortcuts of its window.

    On Linux, line edits use Ctrl+E, Ctrl+K and Ctrl+U. They still do in windows without such a shortcut.
    """
    letter = event.key()
    return (
        isinstance(focus, QLineEdit | QAbstractSpinBox | QComboBox)
        and event.modifiers() == Qt.KeyboardModifier.ControlModifier
        and Qt.Key.Key_A <= letter <= Qt.Key.Key_Z
        and letter not in _EDITING_LETTERS
    )


def presses_button(focus: QObject, event: QKeyEvent) -> bool:
    """Return whether this key is Enter and presses the focused button, even if the dialog has a default button.

    Exception: in a comparison of takes, the letter buttons leave Enter to the default button, which chooses the take.
    """
    is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
    is_held = bool(event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier)
    return is_enter and not is_held and isinstance(focus, QPushButton) and not focus.property(IGNORES_ENTER)


def _voice_specs() -> Iterator[ActionSpec]:
    for number in range(1, NUM_VOICE_KEYS + 1):
        yield ActionSpec(voice_action_id(number), _VOICE_KEY_TITLE, (f"Ctrl+{number}",))


def _title(spec: ActionSpec) -> str:
    title = QCoreApplication.translate(_CONTEXT, spec.title)
    return title.format(number=spec.id.rpartition("_")[2]) if "{number}" in title else title


def _portable(key: str) -> str:
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.PortableText)
