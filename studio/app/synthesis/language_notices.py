"""Notice about lines in languages that the model has not learned. Recommends a model that supports them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from studio.app.background import run_in_thread
from studio.app.error_text import error_message
from studio.app.models.model_text import size_text
from studio.app.notifications import NotificationBar
from studio.app.session import Session
from studio.app.synthesis.commands import HeldLines
from studio.app.translation import join_sentences
from studio.catalog.known import KnownModel
from studio.catalog.language_check import language_error, models_speaking
from studio.catalog.machine import MachineFacts, probe_machine, recommend_model


class LanguageNotices(QObject):
    """Offers a suitable model, or to speak the lines anyway.

    ``model_chosen`` carries the name of an installed model to load.
    """

    model_chosen = Signal(str)
    download_offered = Signal()

    def __init__(
        self,
        session: Session,
        notices: NotificationBar,
        parent: QObject | None = None,
        *,
        probe: Callable[[], MachineFacts] = probe_machine,
    ) -> None:
        super().__init__(parent)
        self._session = session
        self._notices = notices
        self._probe = probe
        self._words = ""
        session.language_check.held_back.connect(self._on_held_back)
        session.language_check.released.connect(self._hide)

    def _on_held_back(self, held: HeldLines) -> None:
        self._session.bridge.run(self._show(held))

    async def _show(self, held: HeldLines) -> None:
        offer, call, is_download = await self._help_for(held)
        line_ids = [line_id for line_id in held.line_ids if self._session.editor.project.has_line(line_id)]
        if not line_ids or held.model_name != self._session.bridge.engine.folder.name:
            return
        not_spoken = self.tr("%n line(s) not spoken.", "", len(line_ids))
        self._words = join_sentences((error_message(language_error(held.model_name)), not_spoken))
        others = [
            (self.tr("Speak anyway"), lambda: self._speak(line_ids, is_for_all=False)),
            (self.tr("Always speak"), lambda: self._speak(line_ids, is_for_all=True)),
        ]
        if not offer:
            offer, call = others.pop(0)
        self._notices.show_hint(self._words, offer=offer, call=call, others=others, is_about_script=True)
        if is_download:
            self.download_offered.emit()

    async def _help_for(self, held: HeldLines) -> tuple[str, Callable[[], object] | None, bool]:
        """Return label and action of the button for a model that supports all languages, and whether it downloads."""
        models = models_speaking(held.languages)
        installed = await run_in_thread(self._session.services.find_models)
        usable = next((model.name for model in models if model.name in installed), None)
        if usable is not None:
            return self.tr("Use {name}").format(name=usable), lambda: self.model_chosen.emit(usable), False
        machine = await run_in_thread(self._probe)
        advice = recommend_model(machine, models)
        if advice is None or self._session.parts.models.task_of(advice.model.name) is not None:
            return "", None, False
        return self._download_text(advice.model), lambda: self._session.parts.models.install(advice.model.name), True

    def _download_text(self, model: KnownModel) -> str:
        words = self.tr("Download {name} ({size})")
        return words.format(name=model.name, size=size_text(model.size_bytes()))

    def _speak(self, line_ids: list[str], *, is_for_all: bool) -> None:
        check, project = self._session.language_check, self._session.editor.project
        if is_for_all:
            check.allow_all()
        else:
            check.allow(line_ids)
        self._session.synthesis.speak([line_id for line_id in line_ids if project.has_line(line_id)])

    def _hide(self) -> None:
        """Remove the notice once no line is held back, for example because the lines were edited."""
        self._notices.withdraw(self._words)
