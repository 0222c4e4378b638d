"""Panel under the script with the timeline, its zoom, and the guide track."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSlider, QToolButton, QWidget

from studio.app.dubbing.picture import make_picture
from studio.app.dubbing.timeline_view import TimelineView
from studio.app.theme.icons import icon
from studio.app.voices.voice_importer import AUDIO_SUFFIXES
from studio.app.widgets.controls import icon_button, in_column, in_row, text_label
from studio.app.widgets.dialogs import choose_file
from studio.app.widgets.elided_label import ElidedLabel
from studio.app.widgets.focus import holds_focus


class TimelinePanel(QWidget):
    """Hidden unless the script has slots."""

    guide_chosen = Signal(object)  # path as str, or None to remove the guide track
    play_clicked = Signal()
    gain_changed = Signal(float)  # 0..1

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.view = TimelineView()
        self.picture = make_picture()
        self.folder = ""  # where guide tracks are looked for
        self.play_button = self._button("play", self.tr("Play with guide"))
        self.guide_button = self._button("open", self.tr("Choose guide track…"))
        self.remove_button = self._button("close", self.tr("Remove guide track"))
        self.guide_name = ElidedLabel()
        self.guide_name.setProperty("role", "quiet")
        self.overlap = ElidedLabel()
        self.overlap.setProperty("role", "warn")
        self.volume = QSlider(Qt.Orientation.Horizontal)
        self.volume.setRange(0, 100)
        self.volume.setValue(50)
        self.volume.setFixedWidth(90)
        self.volume.setAccessibleName(self.tr("Guide volume"))
        self.volume.setToolTip(self.tr("Guide volume"))
        title = text_label(self.tr("Timeline"), "title", wraps=False)
        head = in_row(
            title,
            self.play_button,
            self.guide_button,
            self.remove_button,
            self.volume,
            (self.guide_name, 1),
            self.overlap,
            margins=(8, 2, 8, 2),
            spacing=8,
        )
        for name, words, steps in (("zoom-out", self.tr("Zoom out"), -1), ("zoom-in", self.tr("Zoom in"), 1)):
            self._add_zoom(head, name, words).clicked.connect(lambda _=False, steps=steps: self.view.zoom_by(steps))
        self._add_zoom(head, "zoom-fit", self.tr("Show all")).clicked.connect(self.view.zoom_to_all)
        rows = in_column(head, parent=self, margins=0, spacing=0)
        lanes = QHBoxLayout()
        lanes.addWidget(self.view, 1)
        if self.picture is not None:
            lanes.addWidget(self.picture)
        rows.addLayout(lanes)
        self.view.overlap_changed.connect(self.overlap.setText)
        self.play_button.clicked.connect(self.play_clicked)
        self.guide_button.clicked.connect(self._choose_guide)
        self.remove_button.clicked.connect(lambda: self.guide_chosen.emit(None))
        self.volume.valueChanged.connect(lambda value: self.gain_changed.emit(value / 100))
        self.show_guide_name(None)

    def show_guide_name(self, path: str | None, *, is_loading: bool = False) -> None:
        words = self.tr("No guide track") if path is None else Path(path).name
        self.guide_name.setText(self.tr("Reading {file}…").format(file=words) if is_loading else words)
        if path is None and (holds_focus(self.remove_button) or holds_focus(self.volume)):
            self.guide_button.setFocus()
        self.remove_button.setVisible(path is not None)
        self.volume.setVisible(path is not None)
        if self.picture is not None and not is_loading:
            self.picture.show_file(path)

    def show_time(self, seconds: float) -> None:
        self.view.show_playhead(seconds)
        if self.picture is not None:
            self.picture.seek(seconds)

    def show_playing(self, is_playing: bool) -> None:
        if self.picture is not None:
            self.picture.set_playing(is_playing)
        words = self.tr("Stop") if is_playing else self.tr("Play with guide")
        self.play_button.setIcon(icon("stop" if is_playing else "play"))
        self.play_button.setToolTip(words)
        self.play_button.setAccessibleName(words)

    def _choose_guide(self) -> None:
        patterns = " ".join(f"*{suffix}" for suffix in sorted(AUDIO_SUFFIXES))
        title = self.tr("Choose guide track")
        kinds = self.tr("Video and audio ({patterns})").format(patterns=patterns)
        choose_file(self, title, lambda path: self.guide_chosen.emit(str(path)), folder=self.folder, filters=(kinds,))

    def _add_zoom(self, head: QHBoxLayout, icon_name: str, words: str) -> QToolButton:
        button = self._button(icon_name, words)
        head.addWidget(button)
        return button

    @staticmethod
    def _button(icon_name: str, words: str) -> QToolButton:
        button = icon_button(icon_name, words)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button
