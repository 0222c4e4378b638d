"""Dialog to select the clip of a new voice in a recording, with a quality report and the voice's metadata."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.playback.audio_player import AudioPlayer
from studio.app.theme.icons import icon
from studio.app.voices.clip_report_view import ClipReportView
from studio.app.voices.clip_suggestion import ClipAssessment, ClipSuggestion
from studio.app.voices.details_form import DetailsForm
from studio.app.voices.voice_edits import Description
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import ScrolledPage, fit_to_screen
from studio.app.widgets.waveform_view import WaveformView
from studio.errors import StudioError
from studio.voices.best_segment import PromptWindow
from studio.voices.clip_check import LONGEST_SECONDS
from studio.voices.voice_file import VoiceDetails

# Delay that skips assessments while a handle is being dragged.
_ASSESS_DELAY_MILLISECONDS = 120
_SHORTEST_SECONDS = 0.5


class ClipEditorDialog(QDialog):
    """After it is accepted, ``window_of_clip`` and ``details`` describe the new voice."""

    def __init__(
        self, suggestion: ClipSuggestion, player: AudioPlayer, parent: QWidget | None = None, *, name: str = ""
    ) -> None:
        """``name`` replaces the suggested name, which may be taken."""
        super().__init__(parent)
        self.suggestion = suggestion
        self._name = name or suggestion.name
        self._player = player
        self._num_assessments = 0
        self._refusal: StudioError | None = None
        self.setWindowTitle(self.tr("New voice"))
        self.resize(fit_to_screen(880, 640))
        self._waveform = WaveformView(self)
        self._waveform.setMinimumHeight(150)
        self._waveform.setAccessibleName(self.tr("Recording with selection"))
        self._listen = QPushButton(icon("play"), "", self)
        self._report_view = ClipReportView(self)
        self._form = DetailsForm(self)
        self._kept = QLabel(self)
        self._kept.setProperty("role", "quiet")
        self._problem = ErrorLine(self)
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self._create = self._buttons.addButton(self.tr("Create voice"), QDialogButtonBox.ButtonRole.AcceptRole)
        self._create.setDefault(True)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_ASSESS_DELAY_MILLISECONDS)
        self._lay_out()
        self._connect_signals()
        self._fill()

    @property
    def window_of_clip(self) -> PromptWindow:
        """The part between the handles."""
        selection = self._waveform.selection
        return PromptWindow(*selection) if selection else self.suggestion.window

    @property
    def details(self) -> VoiceDetails:
        description = self._form.description
        return VoiceDetails(
            name=self._form.name.text(),
            transcript=description.transcript or None,
            notes=description.notes,
            language=description.language or None,
            consent=description.consent,
        )

    def done(self, result: int) -> None:
        self._player.stop()
        super().done(result)

    def closeEvent(self, event: QCloseEvent) -> None:  # noqa: N802
        self._player.stop()
        super().closeEvent(event)

    def _lay_out(self) -> None:
        words = QLabel(
            self.tr(
                "Select the part to clone: three to ten seconds of one speaker, without music. "
                "The recording needs a sample rate of at least 16 kHz."
            ),
            self,
        )
        words.setWordWrap(True)
        tools = QHBoxLayout()
        tools.addWidget(self._listen)
        before: QWidget = self._listen
        for name, tip, action in (
            ("retry", self.tr("Suggest best part"), self._select_suggestion),
            ("zoom-in", self.tr("Zoom in"), self._waveform.zoom_in),
            ("zoom-out", self.tr("Zoom out"), self._waveform.zoom_out),
            ("zoom-selection", self.tr("Zoom to selection"), self._waveform.zoom_to_selection),
            ("zoom-fit", self.tr("Show all"), self._waveform.zoom_to_fit),
        ):
            tool = self._tool(name, tip, action)
            tools.addWidget(tool)
            self.setTabOrder(before, tool)
            before = tool
        tools.addStretch(1)
        tools.addWidget(self._kept)
        left = QWidget(self)
        left_rows = QVBoxLayout(left)
        left_rows.setContentsMargins(0, 0, 8, 0)
        left_rows.addWidget(self._report_view)
        scroll = QScrollArea(self)
        scroll.setWidget(left)
        scroll.setAccessibleName(self.tr("Findings"))
        self.setTabOrder(before, scroll)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        columns = QHBoxLayout()
        columns.setSpacing(16)
        columns.addWidget(scroll, 1)
        columns.addWidget(self._form, 1)
        page = QWidget(self)
        parts = QVBoxLayout(page)
        parts.setContentsMargins(0, 0, 0, 0)
        parts.addWidget(words)
        parts.addWidget(self._waveform, 1)
        parts.addLayout(tools)
        parts.addLayout(columns, 2)
        rows = QVBoxLayout(self)
        rows.addWidget(ScrolledPage(page, self), 1)
        rows.addWidget(self._problem)
        rows.addWidget(self._buttons)

    def _tool(self, name: str, tip: str, action: object) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(icon(name))
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        button.setAutoRaise(True)
        button.clicked.connect(action)
        return button

    def _connect_signals(self) -> None:
        # The handles.
        self._waveform.selection_changed.connect(self._on_selection_changed)
        self._waveform.seek_requested.connect(self._play_from)
        self._timer.timeout.connect(self._assess)
        # Listening.
        self._listen.clicked.connect(self._on_listen_clicked)
        self._player.moved.connect(self._waveform.set_cursor)
        self._player.ended.connect(self._on_play_ended)
        self._player.failed.connect(self.show_problem)
        # Dialog buttons.
        self._form.name_changed.connect(self._update_state)
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)

    def _fill(self) -> None:
        self._waveform.show_peaks(self.suggestion.peaks)
        self._form.fill(self._name, Description(transcript=self.suggestion.transcript))
        self._select_suggestion()
        self._on_play_ended()
        self._form.name.setFocus()
        self._form.name.selectAll()

    def _select_suggestion(self) -> None:
        window = self.suggestion.window
        self._waveform.select(
            window.start_seconds,
            window.end_seconds,
            shortest_seconds=min(_SHORTEST_SECONDS, self.suggestion.recording.seconds),
            longest_seconds=LONGEST_SECONDS,
        )
        self._timer.start()

    def _on_selection_changed(self) -> None:
        self._player.stop()
        self._timer.start()

    def _assess(self) -> None:
        self._num_assessments += 1
        run_in_background(
            self,
            partial(self.suggestion.assess, self.window_of_clip),
            done=partial(self._on_assessed, self._num_assessments),
            failed=self.show_problem,
        )

    def _on_assessed(self, number: int, assessment: ClipAssessment) -> None:
        if number != self._num_assessments:  # the selection has changed again
            return
        self._report_view.show_report(assessment.clip_report)
        self._refusal = assessment.clip_report.refusal
        self._kept.setText(self.tr("{seconds:.1f} s after trimming silence").format(seconds=assessment.kept_seconds))
        self._update_state()

    def _update_state(self) -> None:
        self._problem.show_error(self._refusal)
        self._create.setEnabled(self._refusal is None and bool(self._form.name.text().strip()))

    def _on_listen_clicked(self) -> None:
        if self._player.is_playing:
            self._player.stop()
        else:
            self._play_from(self.window_of_clip.start_seconds)

    def _play_from(self, seconds: float) -> None:
        window = self.window_of_clip
        is_inside = window.start_seconds <= seconds < window.end_seconds
        self._player.play_clip(self.suggestion.recording, seconds, window.end_seconds if is_inside else None)
        self._listen.setText(self.tr("Stop"))
        self._listen.setIcon(icon("stop"))

    def _on_play_ended(self) -> None:
        self._listen.setText(self.tr("Play selection"))
        self._listen.setIcon(icon("play"))
        self._waveform.set_cursor(None)

    def show_problem(self, error: StudioError) -> None:
        """Show why the voice cannot be created or played."""
        self._problem.show_error(error)
