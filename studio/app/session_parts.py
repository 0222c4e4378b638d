"""The parts of a session that are built after the first paint, and outlive the window."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject

from studio.app.checking.automatic_retries import AutomaticRetries
from studio.app.checking.take_check_queue import TakeCheckQueue
from studio.app.dictionary.global_words import GlobalWords
from studio.app.export_dialog.export_manager import ExportManager
from studio.app.model_selection import ModelSelection
from studio.app.models.model_tasks import ModelTasks
from studio.app.script.project_editor import ProjectEditor
from studio.app.services import Services
from studio.app.serving.serving_controller import ServingController
from studio.app.synthesis.queue import SynthesisQueue
from studio.app.synthesis.take_synthesis import FindVoice
from studio.project.dubbing import FitOptions
from studio.settings import (
    CHECK_STRICTNESS,
    EXPORT_WAITS_FOR_CHECKS,
    FIT_FASTEST,
    FIT_SLOWEST,
    RECOGNIZER,
    TAKE_CHECKS,
    TAKE_RETRIES,
)
from studio.settings_store import Settings
from studio.take_checks.policy import CheckMode, CheckPolicy
from studio.take_checks.requests import Strictness


class SessionParts(QObject):
    """Models, checks, exports, the speech service and the shared dictionary."""

    def __init__(
        self,
        selection: ModelSelection,
        editor: ProjectEditor,
        queue: SynthesisQueue,
        parent: QObject,
        *,
        find_voice: FindVoice,
        settings: Settings,
        services: Services,
    ) -> None:
        super().__init__(parent)
        self._editor = editor
        self._bridge = selection.bridge
        self._settings = settings
        self.models = ModelTasks(settings, self._bridge.run, self)
        self.serving = ServingController(self._bridge, settings, services.open_library, self)
        self.global_words = GlobalWords(editor, self)
        self.checker = TakeCheckQueue(
            editor,
            services.open_checks,
            self,
            find_voice=find_voice,
            policy=self.check_policy,
            run=self._bridge.run,
            model_folder=selection.local_folder,
        )
        self.retries = AutomaticRetries(
            queue, self.checker, editor, self.check_policy, self, fit_options=self.fit_options
        )
        records = services.drafts.parent / "exports"
        self.exports = ExportManager(queue, self, records=records, waits_for=self._export_waits_for)
        self.retries.settled.connect(self.exports.take_settled)
        self.checker.check_unchecked()

    def check_policy(self) -> CheckPolicy:
        """Return the policy for checks of takes, from the settings and the project.

        Takes of a model that makes noise are not checked.
        """
        settings, description = self._settings, self._bridge.engine.description
        policy = CheckPolicy(
            CheckMode(settings[TAKE_CHECKS]),
            settings[TAKE_RETRIES],
            Strictness(settings[CHECK_STRICTNESS]),
            settings[RECOGNIZER],
        )
        policy = self._editor.script.details.checks.over(policy)
        makes_noise = description is not None and description.makes_noise
        return replace(policy, mode=CheckMode.OFF) if makes_noise else policy

    def fit_options(self) -> FitOptions:
        """Return the limits of fitting takes to their slots."""
        return FitOptions(self._settings[FIT_SLOWEST], self._settings[FIT_FASTEST])

    def _export_waits_for(self, batch: int) -> bool:
        """Whether an export waits for the checks of the takes of this batch."""
        return self._settings[EXPORT_WAITS_FOR_CHECKS] and self.retries.is_open(batch)

    async def end_exports(self) -> None:
        self.exports.cancel_all()
        await self.exports.finished()
