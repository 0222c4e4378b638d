"""Dialog to create a voice from part of a recording, with a report on the quality of the selected part."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from studio.app.background import run_in_background
from studio.app.playback.audio_player import AudioPlayer
from studio.app.playback.play_button import PlayButton
from studio.app.theme.colors import theme_colors
from studio.app.theme.icons import icon
from studio.app.voices.new_voices import ClipAssessment, ClipSuggestion
from studio.app.voices.transcript_comparison import Transcribe
from studio.app.voices.voice_details import DetailsForm
from studio.app.voices.voice_text import GRADE_ICONS, aspect_name, finding_text, grade_color, grade_name
from studio.app.widgets.controls import STRETCH, icon_button, in_column, in_row
from studio.app.widgets.dialogs import make_primary
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import ScrolledPage, fit_to_screen
from studio.app.widgets.waveform_view import WaveformView
from studio.errors import StudioError
from studio.voices.best_segment import PromptWindow
from studio.voices.clip_check import MAX_SECONDS
from studio.voices.clip_report import Aspect, ClipReport
from studio.voices.library import VoiceDetails
from studio.voices.voice import Grade

if TYPE_CHECKING:
    from studio.app.models.model_tasks import ModelTasks
    from studio.app.voices.spoken_consent_field import ConsentServices

# The selection is assessed once it has not changed for this time, and not while a handle is being dragged.
_ASSESS_DELAY_MILLISECONDS = 120
_MIN_SECONDS = 0.5
_ICON_PIXELS = 18


class ClipReportView(QWidget):
    """Clip report with one row for each aspect, which stays in its place while handles are dragged."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.clip_report: ClipReport | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(2, 1)
        self._rows = {aspect: self._add_row(row, aspect) for row, aspect in enumerate(Aspect)}
        self._grid.setRowStretch(len(self._rows), 1)

    def show_report(self, clip_report: ClipReport) -> None:
        self.clip_report = clip_report
        colors = theme_colors(self.palette())
        found = {finding.aspect: finding for finding in clip_report.findings}
        for aspect, (badge, words) in self._rows.items():
            finding = found.get(aspect)
            badge.setVisible(finding is not None)
            words.clear()
            if finding is not None:
                grade = grade_name(finding.grade)
                picture = icon(GRADE_ICONS[finding.grade], grade_color(finding.grade, colors))
                badge.setPixmap(picture.pixmap(QSize(_ICON_PIXELS, _ICON_PIXELS), self.devicePixelRatioF()))
                badge.setToolTip(grade)
                badge.setAccessibleName(grade)
                told = finding_text(finding)
                is_good = finding.grade is Grade.GOOD
                words.setText(told if is_good else self.tr("{grade}: {finding}").format(grade=grade, finding=told))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() == QEvent.Type.PaletteChange and self.clip_report is not None:
            self.show_report(self.clip_report)
        super().changeEvent(event)

    def _add_row(self, row: int, aspect: Aspect) -> tuple[QLabel, QLabel]:
        badge, name = QLabel(self), QLabel(aspect_name(aspect), self)
        words = QLabel(self, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        name.setProperty("role", "title")
        words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        words.setAccessibleName(aspect_name(aspect))
        for column, label in enumerate((badge, name, words)):
            self._grid.addWidget(label, row, column, Qt.AlignmentFlag.AlignTop)
        return badge, words


class ClipEditorDialog(QDialog):
    """Clip editor. After it is accepted, ``window_of_clip`` and ``details`` describe the new voice."""

    def __init__(
        self,
        suggestion: ClipSuggestion,
        player: AudioPlayer,
        parent: QWidget | None = None,
        *,
        transcribe: Transcribe | None = None,
        models: ModelTasks | None = None,
    ) -> None:
        """``transcribe`` compares the transcript with the selection; ``models`` downloads what it needs."""
        super().__init__(parent)
        self.suggestion = suggestion
        self._transcribe = transcribe
        self._player = player
        self._num_assessments = 0
        self._refusal: StudioError | None = None
        self.setWindowTitle(self.tr("New voice"))
        self.resize(fit_to_screen(880, 680))
        self._waveform = WaveformView(self)
        self._waveform.setMinimumHeight(150)
        self._waveform.setAccessibleName(self.tr("Recording with selection"))
        self._listen = PlayButton(self.tr("Play selection"), player, self)
        self._report_view = ClipReportView(self)
        self._form = DetailsForm(self)
        self._form.comparison.offer_recognizers(models)
        self._problem = ErrorLine(self)
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel, self)
        self._create = self._buttons.addButton(self.tr("Create voice"), QDialogButtonBox.ButtonRole.AcceptRole)
        make_primary(self._create)
        self._timer = QTimer(self, singleShot=True, interval=_ASSESS_DELAY_MILLISECONDS)
        self._lay_out()
        self._connect_signals()
        self._fill()

    @property
    def window_of_clip(self) -> PromptWindow:
        """The selected part of the recording."""
        selection = self._waveform.selection
        return PromptWindow(*selection) if selection else self.suggestion.window

    @property
    def details(self) -> VoiceDetails:
        return self._form.details

    def add_spoken_consent(self, services: ConsentServices) -> None:
        """Let the user record the consent of the speaker."""
        self._form.add_spoken_consent(services)

    def done(self, result: int) -> None:
        self._player.stop()
        self._form.comparison.stop()
        super().done(result)

    def _lay_out(self) -> None:
        words = QLabel(
            self.tr(
                "Select the part to clone: three to ten seconds of one speaker, without music. "
                "The recording needs a sample rate of at least 16 kHz."
            ),
            self,
            wordWrap=True,
        )
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
            tool = icon_button(name, tip, action, parent=self)
            tools.addWidget(tool)
            self.setTabOrder(before, tool)
            before = tool
        tools.addStretch(1)
        left = QWidget(self)
        in_column(self._report_view, self._form.comparison, STRETCH, parent=left, margins=(0, 0, 8, 0))
        scroll = QScrollArea(self, widgetResizable=True)
        scroll.setWidget(left)
        scroll.setAccessibleName(self.tr("Findings"))
        self.setTabOrder(before, scroll)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        columns = in_row((scroll, 1), (self._form, 1), spacing=16)
        page = QWidget(self)
        in_column(words, (self._waveform, 1), tools, (columns, 2), parent=page, margins=0)
        in_column((ScrolledPage(page, self), 1), self._problem, self._buttons, parent=self)

    def _connect_signals(self) -> None:
        # The handles.
        self._waveform.selection_changed.connect(self._on_selection_changed)
        self._waveform.seek_requested.connect(self._play_from)
        self._timer.timeout.connect(self._assess)
        # Listening.
        self._listen.play_wanted.connect(lambda: self._play_from(self.window_of_clip.start_seconds))
        self._player.moved.connect(self._waveform.set_cursor)
        self._player.ended.connect(self._on_play_ended)
        self._player.failed.connect(self.show_problem)
        # Dialog buttons.
        self._form.completeness_changed.connect(self._update_state)
        self._buttons.accepted.connect(self.accept)
        self._buttons.rejected.connect(self.reject)

    def _fill(self) -> None:
        self._waveform.show_peaks(self.suggestion.peaks)
        self._form.fill(VoiceDetails(self.suggestion.name, self.suggestion.transcript))
        self._select_suggestion()
        self._form.name.setFocus()
        self._form.name.selectAll()

    def _select_suggestion(self) -> None:
        window = self.suggestion.window
        self._waveform.select(
            window.start_seconds,
            window.end_seconds,
            shortest_seconds=min(_MIN_SECONDS, self.suggestion.recording.seconds),
            longest_seconds=MAX_SECONDS,
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
        if number != self._num_assessments:  # the selection has changed meanwhile
            return
        self._report_view.show_report(assessment.clip_report)
        self._refusal = assessment.clip_report.refusal
        clip = None if self._refusal is not None else assessment.clip
        self._form.comparison.show_clip(clip, self._transcribe)
        if clip is not None:
            self._form.compare_consent_again()
        self._update_state()

    def _update_state(self) -> None:
        self._problem.show_error(self._refusal)
        self._create.setEnabled(self._refusal is None and self._form.is_complete)

    def _on_play_ended(self) -> None:
        self._waveform.set_cursor(None)

    def _play_from(self, seconds: float) -> None:
        window = self.window_of_clip
        is_inside = window.start_seconds <= seconds < window.end_seconds
        self._player.play_clip(self.suggestion.recording, seconds, window.end_seconds if is_inside else None)

    def show_problem(self, error: StudioError) -> None:
        """Show why the voice cannot be created or played."""
        self._problem.show_error(error)
