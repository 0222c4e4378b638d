"""Widget whose content is created when it is first shown."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.app.widgets.focus import place_in_tab_order


class DeferredPage(QWidget):
    """A placeholder for the widget that ``make`` returns. ``make`` is called once."""

    def __init__(self, make: Callable[[], QWidget], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._make: Callable[[], QWidget] | None = make
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)

    def fill(self) -> None:
        """Create the content if it does not exist yet."""
        make, self._make = self._make, None
        if make is not None:
            content = make()
            self._column.addWidget(content)
            content.show()  # otherwise the layout shows it later
            place_in_tab_order(self, content)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802
        self.fill()
        super().showEvent(event)
