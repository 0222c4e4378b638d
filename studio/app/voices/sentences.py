"""Translations of the clip report. The English sentences are defined in ``studio.voices.clip_report``.

They are repeated here because lupdate finds only literals in ``QT_TRANSLATE_NOOP``; a test compares both lists.
"""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication
from PySide6.QtGui import QPalette

from studio.app.theme.colors import theme_colors
from studio.voices.clip_report import Aspect, ClipIssue
from studio.voices.voice import Grade

_CONTEXT = "ClipReport"
_T = QT_TRANSLATE_NOOP

GRADE_WORDS = {
    Grade.GOOD: _T("ClipReport", "Good"),
    Grade.FAIR: _T("ClipReport", "Fair"),
    Grade.POOR: _T("ClipReport", "Poor"),
}
ASPECT_NAMES = {
    Aspect.LENGTH: _T("ClipReport", "Length"),
    Aspect.LEVEL: _T("ClipReport", "Level"),
    Aspect.CLIPPING: _T("ClipReport", "Distortion"),
    Aspect.NOISE: _T("ClipReport", "Noise"),
    Aspect.BANDWIDTH: _T("ClipReport", "Clarity"),
    Aspect.SILENCE: _T("ClipReport", "Pauses"),
}
# The icons differ in shape as well as in colour.
GRADE_ICONS = {Grade.GOOD: "quality-good", Grade.FAIR: "quality-fair", Grade.POOR: "quality-poor"}

SENTENCES = (
    _T("ClipReport", "It contains almost no speech."),
    _T("ClipReport", "Select another part, or record again closer to the microphone."),
    _T("ClipReport", "It contains only {seconds:.1f} seconds of speech."),
    _T("ClipReport", "Select a longer part if possible: 3 to 10 seconds give a closer likeness."),
    _T("ClipReport", "{seconds:.1f} seconds of speech: a good length."),
    _T("ClipReport", "It lasts {total:.1f} seconds, longer than a voice needs."),
    _T("ClipReport", "Select 3 to 10 seconds: speech then starts sooner."),
    _T("ClipReport", "It lasts {total:.1f} seconds; the models accept at most 30."),
    _T("ClipReport", "Move the handles to select 3 to 10 seconds."),
    _T("ClipReport", "The level is good."),
    _T("ClipReport", "The level is low."),
    _T("ClipReport", "For a new recording, move closer to the microphone or raise its level."),
    _T("ClipReport", "The level is very low, so noise becomes part of the voice."),
    _T("ClipReport", "Record again, closer to the microphone or at a higher level."),
    _T("ClipReport", "No clipping."),
    _T("ClipReport", "Some peaks are clipped."),
    _T("ClipReport", "Select a part without clipping, or record again at a lower level."),
    _T("ClipReport", "The recording is distorted: its peaks are clipped."),
    _T("ClipReport", "Record again at a lower level; clipping cannot be repaired well."),
    _T("ClipReport", "The background is quiet."),
    _T("ClipReport", "There is some background noise."),
    _T("ClipReport", "Select a quieter part, or record in a quieter place: noise is cloned too."),
    _T("ClipReport", "There is loud noise, music or another voice in the background."),
    _T("ClipReport", "Use a recording of this speaker alone: everything else is cloned too."),
    _T("ClipReport", "The full frequency range is present."),
    _T("ClipReport", "It sounds dull: there is almost nothing above {kilohertz:.1f} kHz."),
    _T("ClipReport", "Use a better copy of the recording if you have one."),
    _T("ClipReport", "It sounds like a telephone call: there is almost nothing above 4 kHz."),
    _T("ClipReport", "Use a recording made with a microphone; converting the file does not help."),
    _T(
        "ClipReport",
        "The sample rate is {rate:.0f} Hz; at least 16000 Hz is needed.",
    ),
    _T("ClipReport", "Use a recording of better quality; converting the file does not help."),
    _T("ClipReport", "There are few pauses."),
    _T("ClipReport", "{percent:.0f} % is silence."),
    _T("ClipReport", "Select a part with continuous speech; otherwise the voice may pause a lot."),
    _T("ClipReport", "It is mostly silence ({percent:.0f} %)."),
)


def grade_word(grade: Grade) -> str:
    return QCoreApplication.translate(_CONTEXT, str(GRADE_WORDS[grade]))


def grade_color(grade: Grade, palette: QPalette) -> str:
    """Return the colour of the grade's icon."""
    colors = theme_colors(palette)
    return {Grade.GOOD: colors.good, Grade.FAIR: colors.warn, Grade.POOR: colors.bad}[grade]


def aspect_name(aspect: Aspect) -> str:
    return QCoreApplication.translate(_CONTEXT, str(ASPECT_NAMES[aspect]))


def sentence_of(finding: ClipIssue) -> str:
    return QCoreApplication.translate(_CONTEXT, finding.verdict.sentence).format(**finding.values)


def advice_of(finding: ClipIssue) -> str:
    """Return the advice; empty for a good grade."""
    advice = finding.verdict.advice
    return QCoreApplication.translate(_CONTEXT, advice).format(**finding.values) if advice else ""
