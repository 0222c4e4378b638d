"""List of the takes of the current line, and the cache of their waveform thumbnails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import (
    QLocale,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from studio.app.background import in_background
from studio.app.script.project_editor import ProjectEditor
from studio.app.theme.colors import theme_colors
from studio.app.theme.icons import icon
from studio.app.widgets.painting_guard import paints_safely
from studio.app.widgets.peaks import THUMBNAIL_COLUMNS, WaveformPeaks, outline_of
from studio.app.widgets.waveform_painting import paint_outline
from studio.errors import StudioError
from studio.project.takes import Take

_log = logging.getLogger(__name__)

Run = Callable[[Coroutine[Any, Any, Any]], asyncio.Task[Any]]

_TAKE_ROLE = Qt.ItemDataRole.UserRole
_MARGIN = 8
_WAVEFORM_HEIGHT = 30


class TakesList(QListWidget):
    """``outline_of`` returns the thumbnail of a take, or None until it is computed. Then call ``update_thumbnails``."""

    take_chosen = Signal(str)
    play_requested = Signal(str)
    menu_requested = Signal(QPoint)  # screen position; for the selected and the removed takes

    def __init__(self, outline_of: Callable[[str], WaveformPeaks | None], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("Takes of the line"))
        self.setItemDelegate(_TakeDelegate(outline_of, self))
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.itemSelectionChanged.connect(self._on_selection_changed)
        self.itemDoubleClicked.connect(lambda item: self.play_requested.emit(item.data(_TAKE_ROLE).id))
        self.customContextMenuRequested.connect(self._on_menu)
        self._chosen: str | None = None

    @property
    def selected_takes(self) -> list[str]:
        """The selected takes, the newest first."""
        return [item.data(_TAKE_ROLE).id for item in sorted(self.selectedItems(), key=self.row)]

    def show_takes(self, takes: tuple[Take, ...], chosen: str | None) -> None:
        """Show takes, the newest on top."""
        newest_first = list(reversed(takes))
        shown = [self.item(row).data(_TAKE_ROLE) for row in range(self.count())]
        if shown == newest_first and chosen == self._chosen:
            return  # several takes may be selected to compare them
        self._chosen = chosen
        with QSignalBlocker(self):
            if shown != newest_first:
                self.clear()
                for take in newest_first:
                    item = QListWidgetItem(self._title(take))
                    item.setData(_TAKE_ROLE, take)
                    item.setToolTip(self._details(take))
                    self.addItem(item)
            self._select_chosen()

    def update_thumbnails(self) -> None:
        self.viewport().update()

    def _select_chosen(self) -> None:
        with QSignalBlocker(self):
            for row in range(self.count()):
                if self.item(row).data(_TAKE_ROLE).id == self._chosen:
                    self.setCurrentRow(row)

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802
        """1 to 9 play the take with that number."""
        number = event.text()
        if number.isdigit() and number != "0" and not event.modifiers():
            for row in range(self.count()):
                take: Take = self.item(row).data(_TAKE_ROLE)
                if take.number == int(number):
                    self.setCurrentRow(row)
                    self.play_requested.emit(take.id)
            return
        super().keyPressEvent(event)

    def _on_selection_changed(self) -> None:
        """Choose the selected take. Several takes are selected to compare them."""
        selected = self.selected_takes
        if len(selected) == 1:
            self.take_chosen.emit(selected[0])
            if self._chosen != selected[0]:  # the line is locked and keeps its take
                QTimer.singleShot(0, self, self._select_chosen)  # after Qt has handled the click

    def _on_menu(self, position: QPoint) -> None:
        """Open the menu, even if no take is below the mouse, because it also restores removed takes."""
        item = self.itemAt(position)
        if item is not None and not item.isSelected():
            self.setCurrentItem(item)
        self.menu_requested.emit(self.viewport().mapToGlobal(position))

    def _title(self, take: Take) -> str:
        words = self.tr("Take {number}").format(number=take.number)
        if take.is_kept:
            words += ", " + self.tr("kept")
        if not take.is_complete:
            words += ", " + self.tr("stopped")
        return words

    def _details(self, take: Take) -> str:
        """Return the tool tip of a take."""
        created = QLocale().toString(take.created.astimezone(), QLocale.FormatType.ShortFormat)  # type: ignore[call-overload]
        rows = [
            self.tr("Length: {seconds:.1f} s").format(seconds=take.audio_seconds),
            self.tr("Seed: {seed}").format(seed=take.seed),
            self.tr("Voice: {voice}").format(voice=take.parameters.voice_name),
            self.tr("Model: {model}").format(model=take.parameters.model_name),
            self.tr("Spoken: {when}").format(when=created),
        ]
        if take.first_audio_seconds is not None:
            rows.append(self.tr("Latency: {seconds:.2f} s").format(seconds=take.first_audio_seconds))
        if take.real_time_factor is not None:
            rows.append(self.tr("Real-time factor: {factor:.2f}").format(factor=take.real_time_factor))
        if take.num_underruns is not None:
            rows.append(self.tr("Dropouts: {count}").format(count=take.num_underruns))
        return "\n".join(rows)


@paints_safely
class _TakeDelegate(QStyledItemDelegate):
    """Paints number and length above the waveform, with a mark for kept takes."""

    def __init__(self, outline_of: Callable[[str], WaveformPeaks | None], parent: QListWidget) -> None:
        super().__init__(parent)
        self._outline_of = outline_of

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:  # noqa: ARG002, N802
        return QSize(160, option.fontMetrics.lineSpacing() + _WAVEFORM_HEIGHT + 2 * _MARGIN)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        cell = QStyleOptionViewItem(option)
        self.initStyleOption(cell, index)
        words, cell.text = cell.text, ""
        style = cell.widget.style() if cell.widget else QApplication.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, cell, painter, cell.widget)
        take: Take = index.data(_TAKE_ROLE)
        is_selected = bool(cell.state & QStyle.StateFlag.State_Selected)
        palette: QPalette = cell.palette
        ink = palette.color(QPalette.ColorRole.HighlightedText if is_selected else QPalette.ColorRole.Text)
        quiet = ink if is_selected else QColor(theme_colors(palette).quiet)
        area: QRect = cell.rect.adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
        head = QRect(area.left(), area.top(), area.width(), cell.fontMetrics.lineSpacing())
        painter.save()
        if take.is_kept:
            icon("kept", ink.name()).paint(painter, QRect(head.left(), head.top(), head.height(), head.height()))
            head.setLeft(head.left() + head.height() + 4)
        painter.setPen(ink)
        painter.drawText(head, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), words)
        painter.setPen(quiet)
        length = f"{take.audio_seconds:.1f} s"
        painter.drawText(head, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), length)
        outline = self._outline_of(take.id)
        if outline is not None:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            wave = QRectF(area.left(), head.bottom() + 4, area.width(), _WAVEFORM_HEIGHT)
            paint_outline(painter, wave, outline, ink if is_selected else theme_colors(palette).accent)
        painter.restore()


class WaveformThumbnails(QObject):
    """Thumbnails by take. ``outline`` computes a missing one on another thread, and ``ready`` reports it."""

    ready = Signal(str)  # take id

    def __init__(self, editor: ProjectEditor, run: Run, parent: QObject | None = None) -> None:
        """``run`` starts a coroutine (``WorkerBridge.run``)."""
        super().__init__(parent)
        self._run = run
        self._editor = editor
        self._outlines: dict[str, WaveformPeaks] = {}
        self._requested: set[str] = set()
        editor.project_replaced.connect(self._forget)

    def outline(self, take_id: str) -> WaveformPeaks | None:
        if take_id not in self._outlines and take_id not in self._requested:
            self._requested.add(take_id)
            self._run(self._compute(take_id))
        return self._outlines.get(take_id)

    async def _compute(self, take_id: str) -> None:
        project = self._editor.project
        try:
            outline = await in_background(lambda: outline_of(project.samples_of(take_id), THUMBNAIL_COLUMNS))
        except StudioError as error:
            _log.info("no thumbnail of take %s: %s", take_id, error)
            return
        self._outlines[take_id] = outline
        self.ready.emit(take_id)

    def _forget(self) -> None:
        self._outlines.clear()
        self._requested.clear()
