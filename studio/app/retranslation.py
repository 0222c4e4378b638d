"""The running window in another language, at once: every text that is one of ours is found again and said anew.

Decided: widgets set their texts once, where they are made; when the language changes, what they show is looked
up among all texts in the old language, and its translation into the new one takes its place. Because: a second
method in each widget that repeats its texts would be forgotten in one of them; instead of a start of the program.
What the user wrote is in fields, models and documents, which are left alone, or marked by ``mark_user_text``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any
from xml.etree import ElementTree

from PySide6.QtCore import QAbstractTableModel, QCoreApplication, QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QDialogButtonBox,
    QDoubleSpinBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QListWidget,
    QMenu,
    QPlainTextEdit,
    QSpinBox,
    QTabBar,
    QTableWidget,
    QTextEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from studio import paths
from studio.app.translation import USER_TEXT_PROPERTY
from studio.app.widgets.elided_label import ElidedLabel
from studio.app.widgets.waveform import Waveform

# Texts that stand beside one another in one label.
_SEPARATORS = ("\n", "   ", " · ", "  ")
_WEAK_SEPARATOR = ", "
_KEYS_AT_END = re.compile(r"(?P<tip>.+) \((?P<keys>[^()]+)\)\Z", re.DOTALL)
_PLACE = re.compile(r"\{(\w+)[^{}]*\}")
# Of Qt's own controls that do not translate themselves again.
_OF_QT = (("QDockWidget", "Float"), ("QDockWidget", "Close"), ("QTabBar", "Scroll Left"), ("QTabBar", "Scroll Right"))
# A number no text has by itself.
_MANY = 7_654_321
_FACT = re.compile(rf"\{{(\w+)[^{{}}]*\}}|{_MANY}")

Key = tuple[str, str]  # context, source


@cache
def _all_texts() -> tuple[Key, ...]:
    """The list the translators work on: context and source of everything the window can say."""
    tree = ElementTree.parse(paths.resources() / "translations" / "studio_zh_CN.ts")  # noqa: S314 - a file of our own
    return (
        tuple(
            (context.findtext("name") or "", message.findtext("source") or "")
            for context in tree.getroot().iter("context")
            for message in context.iter("message")
        )
        + _OF_QT
    )


class TextSources:
    """All texts as they are said now, to be found again after the language has changed."""

    def __init__(self) -> None:
        self._plain: dict[str, dict[str, Key]] = {}
        self._anywhere: dict[str, Key] = {}
        self._templates: dict[str, list[_Template]] = {}
        for context, source in _all_texts():
            for said in {_said(context, source, number) for number in ((1, _MANY) if "%n" in source else (1,))}:
                if _FACT.search(said):
                    self._templates.setdefault(context, []).append(_Template(said, (context, source)))
                else:
                    self._plain.setdefault(context, {}).setdefault(said, (context, source))
                    self._anywhere.setdefault(said, (context, source))

    def retranslated(self, shown: str, contexts: tuple[str, ...]) -> str:
        """``shown`` in the language of now; as it is where it is none of our texts. ``contexts``: where it stands."""
        if not any(letter.isalpha() for letter in shown):
            return shown
        words = shown.strip()
        if words != shown:
            return shown.replace(words, self.retranslated(words, contexts))
        return (
            self._word_for_word(shown, contexts)
            or self._in_pieces(shown, contexts)
            or self._with_facts(shown, contexts)
            or self._found_anywhere(shown)
            or self._as_a_list(shown, contexts)
        )

    def _word_for_word(self, shown: str, contexts: tuple[str, ...]) -> str | None:
        for context in contexts:
            if key := self._plain.get(context, {}).get(shown):
                return _said(*key, 1)
        for context in (*contexts, "Actions"):  # a tip says what its menu entry does
            if key := self._plain.get(context, {}).get(f"{shown}…"):
                return _said(*key, 1).rstrip("…")
        return None

    def _in_pieces(self, shown: str, contexts: tuple[str, ...]) -> str | None:
        if match := _KEYS_AT_END.match(shown):
            return f"{self.retranslated(match['tip'], contexts)} ({match['keys']})"
        for separator in _SEPARATORS:
            if separator in shown:
                return separator.join(self.retranslated(part, contexts) for part in shown.split(separator))
        return None

    def _with_facts(self, shown: str, contexts: tuple[str, ...]) -> str | None:
        for context in contexts:
            for template in self._templates.get(context, ()):
                if match := template.match(shown):
                    return self._filled(template.key, match)
        return None

    def _found_anywhere(self, shown: str) -> str | None:
        key = self._anywhere.get(shown)
        return _said(*key, 1) if key else None

    def _as_a_list(self, shown: str, contexts: tuple[str, ...]) -> str:
        if _WEAK_SEPARATOR not in shown:
            return shown
        return _WEAK_SEPARATOR.join(self.retranslated(part, contexts) for part in shown.split(_WEAK_SEPARATOR))

    def _filled(self, key: Key, match: re.Match[str]) -> str:
        """What stood in the places is written as it is shown already; only steps of the undo stack are our words too."""
        found = match.groupdict()
        if step := self._anywhere.get(found.get("step", "")):
            found["step"] = _said(*step, 1)
        number = found.get("n", "")
        said = _said(*key, int(number) if number.isdecimal() else 1)
        return _PLACE.sub(lambda place: found.get(place[1], place[0]), said)


def retranslate(texts: TextSources) -> None:
    """Everything there is, open or hidden, after the translators were exchanged. ``texts`` from before."""
    for window in QApplication.topLevelWidgets():
        for part in (window, *window.findChildren(QObject)):
            if isinstance(part, QWidget | QAction):
                _retranslate(part, texts)
        window.update()


def _retranslate(part: QWidget | QAction, texts: TextSources) -> None:
    contexts = _contexts_of(part)
    holds_user_text = bool(part.property(USER_TEXT_PROPERTY))
    if holds_user_text and isinstance(part, ElidedLabel):  # its tip and its accessible name are its text
        return

    def change(now: Callable[[], str], to: Callable[[str], object]) -> None:
        shown = now()
        said = texts.retranslated(shown, contexts)
        if said != shown:
            to(said)

    change(part.toolTip, part.setToolTip)
    change(part.statusTip, part.setStatusTip)
    if isinstance(part, QAction):
        change(part.text, part.setText)
        return
    change(part.accessibleName, part.setAccessibleName)
    change(part.accessibleDescription, part.setAccessibleDescription)
    change(part.windowTitle, part.setWindowTitle)
    if isinstance(part, QAbstractItemView):
        _say_items_anew(part, change, only_heads=holds_user_text)
    elif not holds_user_text:
        _say_content_anew(part, change)
    part.update()


def _say_content_anew(part: QWidget, change: Callable[[Any, Any], None]) -> None:
    match part:
        case QLabel() | ElidedLabel() | QAbstractButton() if not isinstance(part.parent(), QDialogButtonBox):
            change(part.text, part.setText)
        case QGroupBox() | QMenu():
            change(part.title, part.setTitle)
        case QLineEdit() | QTextEdit() | QPlainTextEdit():
            change(part.placeholderText, part.setPlaceholderText)
        case QSpinBox() | QDoubleSpinBox():
            change(part.prefix, part.setPrefix)
            change(part.suffix, part.setSuffix)
            change(part.specialValueText, part.setSpecialValueText)
        case Waveform():
            change(partial(getattr, part, "empty_text"), part.set_empty_text)
        case QComboBox():
            for index in range(part.count()):
                change(partial(part.itemText, index), partial(part.setItemText, index))
        case QTabBar():
            for index in range(part.count()):
                change(partial(part.tabText, index), partial(part.setTabText, index))
                change(partial(part.tabToolTip, index), partial(part.setTabToolTip, index))


def _say_items_anew(view: QAbstractItemView, change: Callable[[Any, Any], None], *, only_heads: bool) -> None:
    """Items with texts of their own are said anew; models translate when they are asked, and are asked again."""
    for item, column in _heads_of(view) if only_heads else (*_heads_of(view), *_items_of(view)):
        change(partial(item.text, *column), partial(item.setText, *column))
        change(partial(item.toolTip, *column), partial(item.setToolTip, *column))
    model = view.model()
    if isinstance(model, QAbstractTableModel) and (num_columns := model.columnCount()):
        model.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, num_columns - 1)
    view.viewport().update()


def _heads_of(view: QAbstractItemView) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """As ``_items_of``, of the items in the header."""
    if isinstance(view, QTableWidget):
        heads = [view.horizontalHeaderItem(column) for column in range(view.columnCount())]
        yield from ((item, ()) for item in heads if item is not None)
    elif isinstance(view, QTreeWidget):
        yield from ((view.headerItem(), (column,)) for column in range(view.columnCount()))


def _items_of(view: QAbstractItemView) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """Each item, and the column of it where it has some."""
    if isinstance(view, QListWidget):
        yield from ((view.item(row), ()) for row in range(view.count()))
    elif isinstance(view, QTableWidget):
        cells = [view.item(row, column) for row in range(view.rowCount()) for column in range(view.columnCount())]
        yield from ((item, ()) for item in cells if item is not None)
    elif isinstance(view, QTreeWidget):
        waiting: list[QTreeWidgetItem] = [view.invisibleRootItem()]
        while waiting:
            item = waiting.pop()
            yield from ((item, (column,)) for column in range(view.columnCount()))
            waiting += filter(None, map(item.child, range(item.childCount())))


def _contexts_of(part: QObject) -> tuple[str, ...]:
    """Classes from the part outwards: a text belongs to the class whose code set it."""
    names: dict[str, None] = {}
    at: QObject | None = part
    while at is not None:
        names.update(dict.fromkeys(kind.__name__ for kind in type(at).__mro__ if issubclass(kind, QObject)))
        at = at.parent()
    return tuple(names)


def _said(context: str, source: str, number: int) -> str:
    return QCoreApplication.translate(context, source, None, number if "%n" in source else -1)


class _Template:
    """A text with places for facts, as it is said. Hundreds are looked through for each text that is shown."""

    def __init__(self, said: str, key: Key) -> None:
        self.key = key
        self._facts = list(_FACT.finditer(said))
        self._said = said
        self._start, self._end = said[: self._facts[0].start()], said[self._facts[-1].end() :]
        self._expression: re.Pattern[str] | None = None

    def match(self, shown: str) -> re.Match[str] | None:
        """With the facts as groups; those of ``%n`` are called n."""
        if not (shown.startswith(self._start) and shown.endswith(self._end)):
            return None
        if self._expression is None:  # made for few of them
            self._expression = self._compiled()
        return self._expression.fullmatch(shown)

    def _compiled(self) -> re.Pattern[str]:
        parts = []
        end = 0
        for fact in self._facts:
            parts.append(re.escape(self._said[end : fact.start()]))
            name = fact[1] or "n"
            parts.append(f"(?P={name})" if f"(?P<{name}>" in "".join(parts) else f"(?P<{name}>.+)")
            end = fact.end()
        return re.compile("".join((*parts, re.escape(self._said[end:]))), re.DOTALL)
