"""Contents of a document, with check boxes for the sections to import."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QTreeWidget, QTreeWidgetItem, QWidget

from studio.project.importing.blocks import Section


class ContentsTree(QTreeWidget):
    """Sections by their levels. Front and back matter is unchecked at first.

    It is never the child of a section that is read, because unchecking a parent also unchecks its children.
    """

    changed = Signal()  # once after any number of check boxes changed together

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: dict[int, QTreeWidgetItem] = {}  # by the start of the section
        self._changes = QTimer(self, singleShot=True, interval=0)
        self._changes.timeout.connect(self.changed)
        self.setAccessibleName(self.tr("Contents"))
        self.setHeaderHidden(True)
        self.itemChanged.connect(lambda _item, _column: self._changes.start())

    @property
    def left_out(self) -> frozenset[int]:
        """The starts of the unchecked sections."""
        return frozenset(start for start, item in self._items.items() if item.checkState(0) is Qt.CheckState.Unchecked)

    def show_sections(self, sections: Sequence[Section]) -> None:
        parents: list[tuple[Section, QTreeWidgetItem]] = []
        for section in sections:
            while parents and parents[-1][0].level >= section.level:
                parents.pop()
            item = QTreeWidgetItem([section.title])
            item.setToolTip(0, section.title)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable | Qt.ItemFlag.ItemIsAutoTristate)
            item.setCheckState(0, Qt.CheckState.Unchecked if section.is_matter else Qt.CheckState.Checked)
            alike = [parent for above, parent in parents if above.is_matter == section.is_matter]
            if alike:
                alike[-1].addChild(item)
            else:
                self.addTopLevelItem(item)
            parents.append((section, item))
            self._items[section.start] = item
        self.expandAll()
