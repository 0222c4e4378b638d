"""Short user guide."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from studio.app.widgets.screen_fit import fit_to_screen


class GuideDialog(QDialog):
    """Non-modal page of help."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Guide"))
        self.resize(fit_to_screen(560, 600))
        text = QTextBrowser()
        text.setAccessibleName(self.tr("Guide"))
        text.setMarkdown("\n\n".join(self._paragraphs()))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(text, 1)
        layout.addWidget(buttons)

    def _paragraphs(self) -> tuple[str, ...]:
        return (
            "## " + self.tr("Voice"),
            self.tr(
                "Drop a recording of one speaker on the window: three to ten seconds, without music. Or press "
                "**Ctrl+R** to record one. Add a transcript for a closer likeness. "
                "Only clone voices you have permission to use."
            ),
            "## " + self.tr("Script"),
            self.tr(
                "Write a line and press **Ctrl+Enter**: playback starts while it is generated. **Enter** moves "
                "to the next line. Paste or drop a text to split it into lines; every step can be undone."
            ),
            self.tr(
                "Type a slash to insert sounds and emphasis: a breath, laughter, stressed words. "
                "**[pause 0.5]** inserts half a second of silence."
            ),
            "## " + self.tr("Style and takes"),
            self.tr(
                "Choose a style and speed on the right, or describe a style in your own words. Speak again for "
                "another take; all takes are kept. **[** and **]** switch between them, **Ctrl+B** compares two, "
                "**Ctrl+K** marks one to keep, **Ctrl+L** locks the line."
            ),
            self.tr("**Changed** marks lines that differ from their take. **Ctrl+Shift+Enter** speaks all of them."),
            "## " + self.tr("Listening and exporting"),
            self.tr(
                "**Space** plays the line, **Shift+Space** everything from here, **Esc** stops playback. **Ctrl+E** "
                "exports audio files, one per line or one for all."
            ),
            self.tr("All keys can be changed: **Ctrl+/**."),
        )
