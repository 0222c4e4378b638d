"""A page of help: how to get from nothing to a finished recording."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QTextBrowser, QVBoxLayout, QWidget

from studio.app.widgets.screen_fit import fit_to_screen


class GuideDialog(QDialog):
    """Stays open beside the window."""

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
            "## " + self.tr("A voice"),
            self.tr(
                "Drop a recording of one person on the window: three to ten seconds, without music. Or press "
                "**Ctrl+R** and record one. If you also write down what is said in it, the likeness gains. "
                "Clone only voices whose owners agree."
            ),
            "## " + self.tr("A script"),
            self.tr(
                "Write a line and press **Ctrl+Enter**: you hear it while it is still being made. **Enter** goes on "
                "to the next line. Paste or drop a text to make lines of it; every step can be undone."
            ),
            self.tr(
                "A slash in the text offers what the model can do besides words: a breath, laughter, emphasis. "
                "**[pause 0.5]** is half a second of silence."
            ),
            "## " + self.tr("Style and takes"),
            self.tr(
                "On the right you choose a style, or describe one in your own words, and the speed. Speak again for "
                "another reading: every take stays. **[** and **]** go through them, **Ctrl+B** compares two, "
                "**Ctrl+K** marks the ones to keep, **Ctrl+L** locks the line."
            ),
            self.tr(
                "**Changed** means that the line says something else now than its take. **Ctrl+Shift+Enter** speaks all of those."
            ),
            "## " + self.tr("Listening and exporting"),
            self.tr(
                "**Space** plays the line, **Shift+Space** everything from here, **Esc** is silence. **Ctrl+E** "
                "writes sound files, one for each line or one for all."
            ),
            self.tr("All keys can be changed: **Ctrl+/**."),
        )
