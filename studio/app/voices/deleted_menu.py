"""Menu of recently deleted voices. Undo ends with the program; the trash does not."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QDateTime, QLocale, Qt
from PySide6.QtWidgets import QMenu, QWidget

from studio.app.theme.icons import icon
from studio.app.voices.voice_edits import VoiceEdits
from studio.voices.library import TrashedVoice

_MOST_SHOWN = 20


class DeletedMenu(QMenu):
    """One entry per voice, latest first; choosing it restores the voice."""

    def __init__(self, trashed: list[TrashedVoice], edits: VoiceEdits, parent: QWidget) -> None:
        super().__init__(parent)
        self.setTitle(self.tr("Restore deleted voice"))
        self.setIcon(icon("undo"))
        self.setEnabled(bool(trashed))
        for each in trashed[:_MOST_SHOWN]:
            moment = QDateTime.fromString(each.removed, Qt.DateFormat.ISODate)
            day = QLocale().toString(moment.toLocalTime().date(), QLocale.FormatType.ShortFormat)
            words = self.tr("{name}, deleted on {day}").format(name=each.voice.name, day=day)
            self.addAction(words).triggered.connect(partial(edits.restore, each))
