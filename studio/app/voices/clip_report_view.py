"""What the prompt doctor found, one row a subject: icon, word, sentence, and what to do about it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from studio.app.theme.icons import icon
from studio.app.voices.sentences import (
    GRADE_ICONS,
    advice_of,
    grade_color,
    grade_word,
    sentence_of,
    subject_word,
)
from studio.voices.clip_report import Aspect, ClipIssue, ClipReport

_ICON_PIXELS = 18


class ClipReportView(QWidget):
    """Rows are made once and filled anew while handles are being dragged, so that nothing jumps."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._examination: ClipReport | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(2, 1)
        self._rows = {subject: self._add_row(row, subject) for row, subject in enumerate(Aspect)}
        self._grid.setRowStretch(len(self._rows), 1)

    @property
    def clip_report(self) -> ClipReport | None:
        return self._examination

    def show_report(self, clip_report: ClipReport) -> None:
        self._examination = clip_report
        found = {finding.subject: finding for finding in clip_report.findings}
        for subject, (badge, words) in self._rows.items():
            finding = found.get(subject)
            badge.setVisible(finding is not None)
            words.setText(self._words(finding) if finding else "")
            if finding is not None:
                picture = icon(GRADE_ICONS[finding.grade], grade_color(finding.grade, self.palette()))
                badge.setPixmap(picture.pixmap(QSize(_ICON_PIXELS, _ICON_PIXELS), self.devicePixelRatioF()))
                badge.setToolTip(grade_word(finding.grade))
                badge.setAccessibleName(grade_word(finding.grade))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() == QEvent.Type.PaletteChange and self._examination is not None:
            self.show_report(self._examination)
        super().changeEvent(event)

    def _add_row(self, row: int, subject: Aspect) -> tuple[QLabel, QLabel]:
        badge, name, words = QLabel(self), QLabel(subject_word(subject), self), QLabel(self)
        name.setProperty("role", "title")
        words.setWordWrap(True)
        words.setTextFormat(Qt.TextFormat.PlainText)
        words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        words.setAccessibleName(subject_word(subject))
        top = Qt.AlignmentFlag.AlignTop
        for column, label in enumerate((badge, name, words)):
            self._grid.addWidget(label, row, column, top)
        return badge, words

    def _words(self, finding: ClipIssue) -> str:
        """The grade is said too: an icon alone would leave it to guessing."""
        sentence, advice = sentence_of(finding), advice_of(finding)
        return (
            self.tr("{grade}: {sentence} {advice}")
            .format(grade=grade_word(finding.grade), sentence=sentence, advice=advice)
            .strip()
        )
