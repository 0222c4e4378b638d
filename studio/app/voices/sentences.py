"""The prompt doctor's sentences in the window's language. The English ones live in ``studio.voices.clip_report``.

They are repeated here for the translators' tools, which only see literals beside ``QT_TRANSLATE_NOOP``;
a test holds both lists together.
"""

from __future__ import annotations

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication
from PySide6.QtGui import QPalette

from studio.app.theme.colors import theme_colors
from studio.voices.clip_report import Aspect, ClipIssue
from studio.voices.grades import Grade

_CONTEXT = "PromptDoctor"
_T = QT_TRANSLATE_NOOP

GRADE_WORDS = {
    Grade.GOOD: _T("PromptDoctor", "Good"),
    Grade.FAIR: _T("PromptDoctor", "Fair"),
    Grade.POOR: _T("PromptDoctor", "Poor"),
}
SUBJECT_WORDS = {
    Aspect.LENGTH: _T("PromptDoctor", "Length"),
    Aspect.LEVEL: _T("PromptDoctor", "Level"),
    Aspect.CLIPPING: _T("PromptDoctor", "Distortion"),
    Aspect.NOISE: _T("PromptDoctor", "Noise"),
    Aspect.BANDWIDTH: _T("PromptDoctor", "Clarity"),
    Aspect.SILENCE: _T("PromptDoctor", "Pauses"),
}
# They differ in shape, for those to whom colours say nothing.
GRADE_ICONS = {Grade.GOOD: "quality-good", Grade.FAIR: "quality-fair", Grade.POOR: "quality-poor"}

SENTENCES = (
    _T("PromptDoctor", "There is hardly any speech in it."),
    _T("PromptDoctor", "Choose another part, or record it again nearer to the microphone."),
    _T("PromptDoctor", "It holds only {seconds:.1f} seconds of speech."),
    _T("PromptDoctor", "Choose more if there is more: 3 to 10 seconds make a better likeness."),
    _T("PromptDoctor", "{seconds:.1f} seconds of speech: a good length."),
    _T("PromptDoctor", "It lasts {total:.1f} seconds, more than the voice gains by."),
    _T("PromptDoctor", "Choose 3 to 10 seconds: speech then begins sooner."),
    _T("PromptDoctor", "It lasts {total:.1f} seconds; the models hear no more than 30."),
    _T("PromptDoctor", "Move the handles until 3 to 10 seconds are chosen."),
    _T("PromptDoctor", "The level is good."),
    _T("PromptDoctor", "It is rather quiet."),
    _T("PromptDoctor", "If you record it again, speak nearer to the microphone or turn it up."),
    _T("PromptDoctor", "It is very quiet, and its noise is learnt along with the voice."),
    _T("PromptDoctor", "Record it again, nearer to the microphone or with the level turned up."),
    _T("PromptDoctor", "Nothing is distorted by being too loud."),
    _T("PromptDoctor", "Some loud moments are cut off."),
    _T("PromptDoctor", "Choose a part without them, or record it again less loud."),
    _T("PromptDoctor", "It is distorted: its loud parts are cut off."),
    _T("PromptDoctor", "Record it again with the level turned down; no program can mend it well."),
    _T("PromptDoctor", "The background is quiet."),
    _T("PromptDoctor", "There is some noise behind the voice."),
    _T("PromptDoctor", "Choose a quieter part, or record in a quieter place: the noise is imitated too."),
    _T("PromptDoctor", "There is loud noise, music or another voice behind the voice."),
    _T("PromptDoctor", "Use a recording in which only this person is heard: everything is imitated."),
    _T("PromptDoctor", "High and low tones are all there."),
    _T("PromptDoctor", "It sounds dull: above {kilohertz:.1f} kHz there is next to nothing."),
    _T("PromptDoctor", "If there is a better copy of the recording, use that."),
    _T("PromptDoctor", "It sounds like a telephone: above 4 kHz there is next to nothing."),
    _T("PromptDoctor", "Use a recording made with a microphone; converting the file does not help."),
    _T(
        "PromptDoctor",
        "It has {rate:.0f} samples a second, and at least 16000 are needed: the models listen up to 8 kHz.",
    ),
    _T("PromptDoctor", "Use a recording of better quality; converting the file does not help."),
    _T("PromptDoctor", "There are few pauses."),
    _T("PromptDoctor", "{percent:.0f} % of it is silence."),
    _T("PromptDoctor", "Choose a part in which the voice goes on speaking, or it may pause a lot."),
    _T("PromptDoctor", "It is mostly silence ({percent:.0f} %)."),
)


def grade_word(grade: Grade) -> str:
    return QCoreApplication.translate(_CONTEXT, str(GRADE_WORDS[grade]))


def grade_color(grade: Grade, palette: QPalette) -> str:
    """The colour its icon is drawn in."""
    colors = theme_colors(palette)
    return {Grade.GOOD: colors.good, Grade.FAIR: colors.warn, Grade.POOR: colors.bad}[grade]


def subject_word(subject: Aspect) -> str:
    return QCoreApplication.translate(_CONTEXT, str(SUBJECT_WORDS[subject]))


def sentence_of(finding: ClipIssue) -> str:
    return QCoreApplication.translate(_CONTEXT, finding.verdict.sentence).format(**finding.values)


def advice_of(finding: ClipIssue) -> str:
    """Empty where nothing need be done."""
    advice = finding.verdict.advice
    return QCoreApplication.translate(_CONTEXT, advice).format(**finding.values) if advice else ""
