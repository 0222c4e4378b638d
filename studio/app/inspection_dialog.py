"""Dialog that shows where audio files come from: the signed manifest, the mark and the tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QFileDialog, QPushButton, QTextBrowser, QWidget

from studio.app.background import run_in_background
from studio.app.error_text import message_text
from studio.app.translation import join_names, join_phrases, join_sentences
from studio.app.widgets.controls import in_column
from studio.app.widgets.dialogs import dialog_buttons
from studio.app.widgets.error_line import ErrorLine
from studio.app.widgets.screen_fit import fit_to_screen
from studio.provenance.inspection import Inspection, ManifestState, inspect_file, own_certificates
from studio.provenance.mark import FoundMark, MarkState
from studio.provenance.statement import REPLACED_WORDS

_SIZE = (640, 480)
_SOUND_FILES = "(*.wav *.flac *.mp3 *.ogg *.opus *.m4b *.m4a)"
_MAX_LINES = 50


class InspectionDialog(QDialog):
    """Shows the origin of files that the user chooses, or drops on the dialog."""

    def __init__(self, files: Iterable[Path] = (), parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Inspect audio files"))
        self.resize(fit_to_screen(*_SIZE))
        self.setAcceptDrops(True)
        self.choose_button = QPushButton(self.tr("Choose files…"))
        self.choose_button.clicked.connect(self._choose)
        self.problem = ErrorLine()
        self.page = QTextBrowser()
        self.page.setAccessibleName(self.tr("Origin of the files"))
        self.page.setPlaceholderText(self.tr("Choose audio files, or drop them here."))
        buttons = dialog_buttons(self, QDialogButtonBox.StandardButton.Close)
        buttons.addButton(self.choose_button, QDialogButtonBox.ButtonRole.ActionRole)
        in_column(self.problem, (self.page, 1), buttons, parent=self)
        self.show_files(files)

    def show_files(self, files: Iterable[Path]) -> None:
        """Inspect these files instead of the current ones."""
        self.problem.clear()
        self.page.clear()
        chosen = tuple(files)
        if chosen:
            run_in_background(self, partial(_inspect, chosen), done=self._show, failed=self.problem.show_error)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:  # noqa: N802
        if _local_files(event):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:  # noqa: N802
        event.acceptProposedAction()
        self.show_files(_local_files(event))

    def _choose(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(
            self, self.tr("Choose files"), "", f"{self.tr('Audio files')} {_SOUND_FILES}"
        )
        if names:
            self.show_files(map(Path, names))

    def _show(self, found: list[Inspection]) -> None:
        # The contents of files are untrusted, so no mark-up of theirs is interpreted.
        parts = []
        for each in found:
            rows = "".join(
                f"<tr><td>{escape(name)}&nbsp;&nbsp;</td><td>{escape(value)}</td></tr>"
                for name, value in self._facts(each)
            )
            parts.append(f"<h3>{escape(each.path.name)}</h3><table>{rows}</table>")
        self.page.setHtml("".join(parts))

    def _facts(self, found: Inspection) -> Iterable[tuple[str, str]]:
        yield self.tr("Manifest"), self._state(found)
        yield self.tr("Mark"), self._mark(found.mark)
        if found.signer:
            yield self.tr("Signed by"), found.signer
        if found.num_ingredients:
            yield self.tr("Original recordings"), str(found.num_ingredients)
        if found.speech is not None:
            yield from self._speech(found.speech)
        yield from found.tags.items()

    def _state(self, found: Inspection) -> str:
        if found.state is ManifestState.VALID and found.is_trusted:
            return self.tr("Valid. The file has not changed since it was signed.")
        if found.state is ManifestState.VALID:
            return self.tr("Valid, but no certificate that you trust confirms the name of the signer.")
        if found.state is ManifestState.ABSENT:
            return self.tr("None. The file does not say where it comes from, and may be synthetic.")
        return "" if found.reason is None else message_text(found.reason)

    def _mark(self, mark: FoundMark) -> str:
        match mark.state:
            case MarkState.FOUND:
                found = self.tr("Found. The speech is synthetic; the mark is clearest from {start} to {end} s.").format(
                    start=round(mark.start_seconds), end=round(mark.end_seconds)
                )
                own = self.tr("This is your file {number}.").format(number=mark.number) if mark.number else ""
                return join_sentences([found, *([own] if own else [])])
            case MarkState.NOT_FOUND:
                return self.tr("No mark found. The speech may be synthetic, too.")
            case MarkState.NOT_CHECKED:
                return self.tr("Not checked. The sound is too short or cannot be read.")

    def _speech(self, speech: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        titles = {"model": self.tr("Model"), "licence": self.tr("Licence"), "made": self.tr("Made")}
        yield from ((title, str(speech[name])) for name, title in titles.items() if name in speech)
        edits, lines = speech.get("edits"), speech.get("lines")
        if isinstance(edits, list) and edits:
            yield self.tr("Edits"), join_names(map(str, edits))
        known = [each for each in lines if isinstance(each, dict)] if isinstance(lines, list) else []
        for line in known[:_MAX_LINES]:
            facts = [
                self.tr("voice {name}").format(name=line.get("voice")),
                self.tr("seed {seed}").format(seed=line.get("seed")),
            ]
            facts += [self._recording(line["recording"])] if "recording" in line else []
            facts += [self.tr("consent: {consent}").format(consent=line["consent"])] if "consent" in line else []
            yield self.tr("Line"), join_phrases(facts)
        if len(known) > _MAX_LINES:
            yield "", self.tr("and {count} more").format(count=len(known) - _MAX_LINES)

    def _recording(self, state: object) -> str:
        if state == REPLACED_WORDS:
            return self.tr("human recording with replaced words")
        return self.tr("human recording")


def _inspect(files: Iterable[Path]) -> list[Inspection]:
    trusted = own_certificates()
    return [inspect_file(path, trusted=trusted) for path in files]


def _local_files(event: QDropEvent) -> list[Path]:
    return [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
