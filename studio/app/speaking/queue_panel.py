"""The queue as a list: what is spoken now, what waits, what failed and why."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMenu,
    QProgressBar,
    QPushButton,
    QSizePolicy,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from studio.app.error_words import error_words
from studio.app.speaking.queue import Order, OrderState, SpeakQueue
from studio.app.theme.icons import icon
from studio.app.translation import language, mark_user_text
from studio.app.widgets.copy_report import CopyReportButton
from studio.app.widgets.room import LEAST_LIST_PIXELS

_TEXT_CHARACTERS = 120


class QueuePanel(QWidget):
    """Follows the queue; its buttons and menu act on it."""

    def __init__(self, queue: SpeakQueue, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._queue = queue
        self._items: dict[Order, QTreeWidgetItem] = {}
        self._list = mark_user_text(QTreeWidget())
        self._list.setAccessibleName(self.tr("Queue"))
        self._list.setMinimumHeight(LEAST_LIST_PIXELS)
        self._list.setHeaderLabels([self.tr("State"), self.tr("Progress"), self.tr("Text")])
        self._list.setRootIsDecorated(False)
        self._list.setUniformRowHeights(True)
        self._row_size = QSize(0, QProgressBar().sizeHint().height())
        self._list.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self._list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header = self._list.header()
        header.setStretchLastSection(True)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Fixed)
        self._list.setColumnWidth(0, 130)
        self._list.setColumnWidth(1, 150)
        self._rest = QLabel()
        self._rest.setProperty("role", "quiet")
        # Rather a short sentence than a window that cannot be made narrow.
        self._rest.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._copy = CopyReportButton()
        self._retry = self._button(self.tr("Try again"), "retry")
        self._cancel = self._button(self.tr("Cancel"), "close")
        self._clear = self._button(self.tr("Clear finished"), "remove")
        buttons = QHBoxLayout()
        buttons.addWidget(self._rest, 1)
        for button in (self._copy, self._retry, self._cancel, self._clear):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 8)
        layout.addWidget(self._list, 1)
        layout.addLayout(buttons)
        self._soon = QTimer(self)  # once, however many orders change at the same time
        self._soon.setSingleShot(True)
        self._soon.timeout.connect(self._show_whole)
        queue.orders_added.connect(self._on_added)
        queue.order_changed.connect(self._on_changed)
        queue.orders_removed.connect(self._on_removed)
        queue.became_idle.connect(self._soon.start)
        language.changed.connect(self._say_anew)
        self._retry.clicked.connect(self._retry_chosen)
        self._cancel.clicked.connect(self._cancel_chosen)
        self._clear.clicked.connect(queue.clear_finished)
        self._list.itemSelectionChanged.connect(self._show_buttons)
        self._list.customContextMenuRequested.connect(self._open_menu)
        self._on_added(list(queue.orders), 0)

    def _on_added(self, orders: list[Order], place: int) -> None:
        items = [QTreeWidgetItem() for _ in orders]
        for order, item in zip(orders, items, strict=True):
            self._items[order] = item
            item.setData(0, Qt.ItemDataRole.UserRole, order)
            item.setSizeHint(1, self._row_size)
        self._list.insertTopLevelItems(place, items)
        for order in orders:
            self._on_changed(order)

    def _on_changed(self, order: Order) -> None:
        item = self._items.get(order)
        if item is None:
            return
        item.setText(0, self._words(order))
        item.setIcon(0, icon(_ICONS[order.state]))
        item.setToolTip(0, error_words(order.error) if order.error else "")
        item.setText(2, error_words(order.error) if order.error else order.text[:_TEXT_CHARACTERS])
        item.setToolTip(2, order.text)
        self._show_progress(order, item)
        self._soon.start()

    def _show_progress(self, order: Order, item: QTreeWidgetItem) -> None:
        """A bar where something moves: thousands of them would take seconds to make."""
        bar = self._list.itemWidget(item, 1)
        if order.state is not OrderState.SPEAKING:
            if bar is not None:
                self._list.removeItemWidget(item, 1)
            item.setText(1, f"{order.share:.0%}" if order.share else "")
            return
        if not isinstance(bar, QProgressBar):
            bar = QProgressBar(maximum=100)
            bar.setTextVisible(True)
            bar.setAccessibleName(self.tr("Progress"))
            item.setText(1, "")
            self._list.setItemWidget(item, 1, bar)
            if not self._list.selectedItems():  # else somebody is busy with those
                self._list.scrollToItem(item)
        bar.setMaximum(100 if order.share else 0)
        bar.setValue(round(100 * order.share))

    def _say_anew(self) -> None:
        for order in self._items:
            self._on_changed(order)

    def _on_removed(self, orders: list[Order]) -> None:
        for order in orders:
            item = self._items.pop(order, None)
            if item is not None:
                self._list.takeTopLevelItem(self._list.indexOfTopLevelItem(item))
        self._soon.start()

    def _show_whole(self) -> None:
        self._show_rest()
        self._show_buttons()

    def _words(self, order: Order) -> str:
        match order.state:
            case OrderState.WAITING:
                return self.tr("Waiting")
            case OrderState.SPEAKING:
                return self.stage_words(order.stage)
            case OrderState.DONE:
                return self.tr("Done")
            case OrderState.FAILED:
                return self.tr("Failed")
            case OrderState.CANCELLED:
                return self.tr("Stopped")

    def stage_words(self, stage: str) -> str:
        """What is being done of an order right now."""
        match stage:
            case "load":
                return self.tr("Loading the model")
            case "voice":
                return self.tr("Preparing the voice")
            case _:
                return self.tr("Speaking")

    def _chosen(self) -> list[Order]:
        """From above to below, in whatever order they were clicked."""
        rows = sorted(self._list.selectionModel().selectedRows())
        return [row.data(Qt.ItemDataRole.UserRole) for row in rows]

    def _retry_chosen(self) -> None:
        for order in self._chosen():
            self._queue.retry(order)

    def _cancel_chosen(self) -> None:
        for order in self._chosen():
            self._queue.cancel(order)

    def _show_buttons(self) -> None:
        chosen = self._chosen()
        self._retry.setEnabled(any(order.state.is_over for order in chosen))
        self._cancel.setEnabled(any(not order.state.is_over for order in chosen))
        self._clear.setEnabled(any(order.state.is_over for order in self._queue.orders))
        self._copy.offer_for(next((order.error for order in chosen if order.error is not None), None))

    def _show_rest(self) -> None:
        num_left = sum(not order.state.is_over for order in self._queue.orders)
        if not num_left:
            self._rest.setText(self.tr("Nothing is waiting to be spoken."))
            return
        words = self.tr("%n line(s) to go", "", num_left)
        seconds = self._queue.remaining_seconds
        if seconds is not None:
            words += ", " + self.tr("about {time}").format(time=duration_words(seconds))
        self._rest.setText(words)

    def _open_menu(self) -> None:
        menu = QMenu(self)
        for button in (self._retry, self._cancel, self._clear):
            action = menu.addAction(button.icon(), button.text())
            action.setEnabled(button.isEnabled())
            action.triggered.connect(button.click)
        menu.popup(self.cursor().pos())

    @staticmethod
    def _button(words: str, icon_name: str) -> QPushButton:
        return QPushButton(icon(icon_name), words)


_ICONS = {
    OrderState.WAITING: "state-queued",
    OrderState.SPEAKING: "state-speaking",
    OrderState.DONE: "state-ready",
    OrderState.FAILED: "state-failed",
    OrderState.CANCELLED: "stop",
}


def duration_words(seconds: float) -> str:
    """Minutes and seconds, as on a clock."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
