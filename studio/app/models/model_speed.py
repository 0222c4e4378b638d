"""Speed of installed models on this computer: measured on request, and remembered."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from PySide6.QtCore import QLocale, QObject, Signal

from studio.app.background import run_in_thread
from studio.app.bridge import WorkerBridge
from studio.app.models.model_preview import ModelPreview, synthesize_preview
from studio.app.session import Session
from studio.errors import StudioError, VoiceNotFound
from studio.pipeline.request import VoiceReference
from studio.settings import MODEL_SPEEDS
from studio.system.processor import is_machine_busy


@dataclass(frozen=True, slots=True)
class ModelSpeed:
    """Measurement of one sentence in a voice that the model has prepared.

    Attributes:
        measured_at: The time in ISO 8601, UTC.
        was_busy: Whether other programs kept the computer busy.
    """

    name: str
    real_time_factor: float
    first_audio_seconds: float
    measured_at: str
    was_busy: bool

    def entry(self) -> str:
        """Return the entry in the settings."""
        figures = f"{self.real_time_factor:.3f}\t{self.first_audio_seconds:.3f}"
        return f"{self.name}\t{figures}\t{self.measured_at}\t{int(self.was_busy)}"


def speed_of_entry(entry: str) -> ModelSpeed | None:
    """Return the measurement of an entry in the settings, or None if it is not one."""
    try:
        name, factor, first, measured_at, was_busy = entry.split("\t")
        datetime.fromisoformat(measured_at)
        return ModelSpeed(name, float(factor), float(first), measured_at, was_busy == "1")
    except ValueError:
        return None


class ModelSpeeds(QObject):
    """Measures one model at a time. A model that is not in use is loaded in a separate process for the measurement."""

    changed = Signal()
    failed = Signal(object)  # StudioError

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.measuring = ""  # name of the model

    def speed_of(self, name: str) -> ModelSpeed | None:
        entries = self._session.settings[MODEL_SPEEDS]
        found = [speed_of_entry(entry) for entry in entries]
        return next((speed for speed in found if speed is not None and speed.name == name), None)

    def text(self, name: str) -> str:
        """Return the speed of a model in words."""
        if name == self.measuring:
            return self.tr("Speed on this computer: measuring…")
        speed = self.speed_of(name)
        if speed is None:
            return self.tr("Speed on this computer: not measured")
        day = datetime.fromisoformat(speed.measured_at).astimezone().date()
        words = self.tr("Speed on this computer: RTF {factor:.2f}, latency {latency:.2f} s ({day})").format(
            factor=speed.real_time_factor,
            latency=speed.first_audio_seconds,
            day=QLocale().toString(day, QLocale.FormatType.ShortFormat),  # type: ignore[call-overload]
        )
        return f"{words} · {self.tr('the computer was busy')}" if speed.was_busy else words

    def measure(self, name: str) -> None:
        """Measure an installed model. Does nothing while another one is measured."""
        if not self.measuring:
            self.measuring = name
            self.changed.emit()
            self._session.bridge.run(self._measure(name))

    async def _measure(self, name: str) -> None:
        try:
            voices = await run_in_thread(self._session.library.voices)
            if not voices:
                raise VoiceNotFound("There is no voice to measure with.", remedy="Add a voice first.")
            voice = VoiceReference(voices[0].clip, voices[0].transcript, voices[0].name)
            folder = (await run_in_thread(self._session.services.find_models))[name]
            preview = await self._preview(folder, voice)
            if preview is not None:
                self._keep(preview, name)
        except StudioError as error:
            self.failed.emit(error)
        finally:
            self.measuring = ""
            self.changed.emit()

    async def _preview(self, folder: Path, voice: VoiceReference) -> ModelPreview | None:
        session = self._session
        if folder == session.model_selection.local_folder():
            return await synthesize_preview(session.bridge, voice)
        bridge = WorkerBridge(session.services.start_worker, folder, session.model_selection.engine_options(), self)
        try:
            return await synthesize_preview(bridge, voice)
        finally:
            await bridge.close()
            bridge.deleteLater()

    def _keep(self, preview: ModelPreview, name: str) -> None:
        measured_at = datetime.now(UTC).isoformat(timespec="seconds")
        speed = ModelSpeed(
            name, preview.real_time_factor, preview.first_audio_seconds, measured_at, was_busy=is_machine_busy()
        )
        others = [entry for entry in self._session.settings[MODEL_SPEEDS] if not entry.startswith(f"{name}\t")]
        self._session.settings[MODEL_SPEEDS] = (*others, speed.entry())[-MODEL_SPEEDS.most :]
