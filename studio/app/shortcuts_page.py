"""List and editor of keyboard shortcuts."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QHeaderView,
    QKeySequenceEdit,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from studio.app.actions import MENUS, Actions
from studio.app.translation import join_names
from studio.app.widgets.controls import in_column, in_row, text_label

_ACTION_ROLE = Qt.ItemDataRole.UserRole


class ShortcutsPage(QWidget):
    """List of all actions with their keys. A newly assigned key takes effect at once and is removed from other actions."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._actions = actions
        self._search = QLineEdit(clearButtonEnabled=True)
        self._search.setPlaceholderText(self.tr("Search actions and keys"))
        self._search.setAccessibleName(self.tr("Search actions and keys"))
        self._list = QTreeWidget()
        self._list.setAccessibleName(self.tr("Keyboard shortcuts"))
        self._list.setHeaderLabels([self.tr("Action"), self.tr("Keys")])
        self._list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self._list.header().setStretchLastSection(False)
        self._list.setColumnWidth(1, 220)
        self._keys = QKeySequenceEdit()
        self._keys.setMaximumSequenceLength(1)
        self._keys.setClearButtonEnabled(True)
        self._keys.setAccessibleName(self.tr("New keys"))
        self._set = QPushButton(self.tr("Assign"))
        self._reset = QPushButton(self.tr("Reset"))
        self._reset_all = QPushButton(self.tr("Reset all"))
        self._warning = text_label("", "warn")
        row = in_row((self._keys, 1), self._set, self._reset, self._reset_all)
        in_column(self._search, (self._list, 1), row, self._warning, parent=self, margins=0)
        self._fill()
        self._search.textChanged.connect(self._on_search)
        self._list.currentItemChanged.connect(lambda *_: self._show_chosen())
        self._keys.keySequenceChanged.connect(lambda _: self._warn())
        self._set.clicked.connect(self._assign_keys)
        self._reset.clicked.connect(self._reset_chosen)
        self._reset_all.clicked.connect(self._reset_all_keys)
        actions.keys_changed.connect(self._on_keys_changed)
        self._show_chosen()

    def choose(self, action_id: str) -> None:
        for item in self._items():
            if item.data(0, _ACTION_ROLE) == action_id:
                self._list.setCurrentItem(item)

    def _fill(self) -> None:
        for menu in MENUS:
            head = QTreeWidgetItem([self._actions.menu_title(menu)])
            head.setFlags(Qt.ItemFlag.ItemIsEnabled)
            self._list.addTopLevelItem(head)
            for action_id in self._actions.ids_of(menu):
                item = QTreeWidgetItem([self._actions.title(action_id).rstrip("…"), ""])
                item.setData(0, _ACTION_ROLE, action_id)
                head.addChild(item)
            head.setExpanded(True)
        self._show_keys()

    def _items(self) -> list[QTreeWidgetItem]:
        heads = [self._list.topLevelItem(index) for index in range(self._list.topLevelItemCount())]
        items = [head.child(row) for head in heads if head for row in range(head.childCount())]
        return [item for item in items if item]

    def _show_keys(self) -> None:
        for item in self._items():
            action_id = item.data(0, _ACTION_ROLE)
            # Return and Enter can have the same name.
            item.setText(1, join_names(dict.fromkeys(_shown(key) for key in self._actions.keys(action_id))))
            font = item.font(1)
            font.setBold(action_id in self._actions.own_keys)
            item.setFont(1, font)

    def _on_search(self, wanted: str) -> None:
        words = wanted.casefold().split()
        for item in self._items():
            text = f"{item.text(0)} {item.text(1)}".casefold()
            item.setHidden(not all(word in text for word in words))

    @property
    def _chosen(self) -> str | None:
        item = self._list.currentItem()
        return item.data(0, _ACTION_ROLE) if item else None

    def _show_chosen(self) -> None:
        chosen = self._chosen
        for widget in (self._keys, self._set, self._reset):
            widget.setEnabled(chosen is not None)
        keys = self._actions.keys(chosen) if chosen else ()
        self._keys.setKeySequence(QKeySequence(keys[0]) if keys else QKeySequence())
        self._warn()

    def _new_keys(self) -> tuple[str, ...]:
        key = self._keys.keySequence().toString(QKeySequence.SequenceFormat.PortableText)
        return (key,) if key else ()

    def _warn(self) -> None:
        chosen = self._chosen
        others = self._actions.users_of(self._new_keys()) - {chosen or ""} if chosen else set()
        names = join_names(sorted(self._actions.title(other).rstrip("…") for other in others))
        self._warning.setText(
            self.tr("Already used by: {actions}. Assigning it removes it there.").format(actions=names) if names else ""
        )

    def _assign_keys(self) -> None:
        if self._chosen:
            self._actions.set_keys(self._chosen, self._new_keys())

    def _reset_chosen(self) -> None:
        if self._chosen:
            self._actions.reset_keys(self._chosen)

    def _reset_all_keys(self) -> None:
        self._actions.reset_keys()

    def _on_keys_changed(self) -> None:
        self._show_keys()
        self._show_chosen()


def _shown(key: str) -> str:
    return QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
