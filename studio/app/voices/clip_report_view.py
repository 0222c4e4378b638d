"""View of a clip report: one row per aspect with grade, finding and advice."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from studio.app.theme.icons import icon
from studio.app.voices.sentences import (
    GRADE_ICONS,
    advice_of,
    aspect_name,
    grade_color,
    grade_word,
    sentence_of,
)
from studio.voices.clip_report import Aspect, ClipIssue, ClipReport

_ICON_PIXELS = 18


class ClipReportView(QWidget):
    """Rows are created once and only updated, so that the layout does not jump while handles are dragged."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._report: ClipReport | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(2, 1)
        self._rows = {aspect: self._add_row(row, aspect) for row, aspect in enumerate(Aspect)}
        self._grid.setRowStretch(len(self._rows), 1)

    @property
    def clip_report(self) -> ClipReport | None:
        return self._report

    def show_report(self, clip_report: ClipReport) -> None:
        self._report = clip_report
        found = {finding.aspect: finding for finding in clip_report.findings}
        for aspect, (badge, words) in self._rows.items():
            finding = found.get(aspect)
            badge.setVisible(finding is not None)
            words.setText(self._words(finding) if finding else "")
            if finding is not None:
                picture = icon(GRADE_ICONS[finding.grade], grade_color(finding.grade, self.palette()))
                badge.setPixmap(picture.pixmap(QSize(_ICON_PIXELS, _ICON_PIXELS), self.devicePixelRatioF()))
                badge.setToolTip(grade_word(finding.grade))
                badge.setAccessibleName(grade_word(finding.grade))

    def changeEvent(self, event: QEvent) -> None:  # noqa: N802
        if event.type() == QEvent.Type.PaletteChange and self._report is not None:
            self.show_report(self._report)
        super().changeEvent(event)

    def _add_row(self, row: int, aspect: Aspect) -> tuple[QLabel, QLabel]:
        badge, name, words = QLabel(self), QLabel(aspect_name(aspect), self), QLabel(self)
        name.setProperty("role", "title")
        words.setWordWrap(True)
        words.setTextFormat(Qt.TextFormat.PlainText)
        words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        words.setAccessibleName(aspect_name(aspect))
        top = Qt.AlignmentFlag.AlignTop
        for column, label in enumerate((badge, name, words)):
            self._grid.addWidget(label, row, column, top)
        return badge, words

    def _words(self, finding: ClipIssue) -> str:
        """Include the grade in the text, so that it does not depend on the icon."""
        sentence, advice = sentence_of(finding), advice_of(finding)
        return (
            self.tr("{grade}: {sentence} {advice}")
            .format(grade=grade_word(finding.grade), sentence=sentence, advice=advice)
            .strip()
        )
