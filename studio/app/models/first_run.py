"""First-run assistant: recommends a model for this computer, downloads it, and compares it with the bundled one.

Every step can be skipped, paused and resumed, and the window stays usable. A download that was interrupted resumes at
the next start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from PySide6.QtCore import QObject, Signal

from studio.app.background import run_in_thread
from studio.app.bridge import EngineState
from studio.app.models.first_run_panel import FirstRunPanel, PanelButton, PanelPage
from studio.app.models.model_preview import ModelPreview, compare, synthesize_preview
from studio.app.models.model_tasks import ModelTaskKind
from studio.app.models.model_text import (
    ability_text,
    advice_text,
    download_text,
    is_waiting,
    language_text,
    memory_text,
    progress_text,
    recommended_model,
    size_text,
)
from studio.app.playback.audio_player import NowPlaying
from studio.app.session import Session
from studio.app.translation import join_sentences
from studio.catalog.installed import ModelState
from studio.catalog.known import known_models
from studio.catalog.machine import Advice, MachineFacts, probe_machine
from studio.errors import SourceRefused, SourceUnreachable, StudioError, WrongDownload
from studio.pipeline.request import VoiceReference
from studio.settings import FIRST_RUN_IS_OVER

_POLL_SECONDS = 0.5


class FirstRun(QObject):
    """Shows its steps in ``panel``. ``model_chosen`` carries the name of the model to load."""

    model_chosen = Signal(str)
    models_wanted = Signal()

    def __init__(
        self,
        session: Session,
        panel: FirstRunPanel,
        parent: QObject | None = None,
        *,
        probe: Callable[[], MachineFacts] = probe_machine,
    ) -> None:
        super().__init__(parent)
        self.panel = panel
        self._session = session
        self._tasks = session.parts.models
        self._probe = probe
        self._player = session.playback.make_player(self)
        self._advice: Advice | None = None
        self._machine: MachineFacts | None = None
        self._seconds_per_second: float | None = None
        self._is_active = False
        self._shows_advice = False
        self._shows_download = False
        self._is_put_off = False
        self._beginning: asyncio.Task[None] | None = None
        self._comparison: asyncio.Task[None] | None = None
        panel.closed.connect(self._end)
        self._tasks.task_changed.connect(self._on_task_changed)
        self._tasks.statuses_changed.connect(self._on_statuses_changed)
        self._tasks.installed.connect(self._on_installed)
        self._tasks.failed.connect(self._on_failed)

    def begin(self) -> None:
        """Start if no model has been installed, or if the recommended one was installed but never loaded.

        Probe the hardware in any case, for the recommendations in the list of styles.
        """
        self._beginning = self._session.bridge.run(self._begin())

    async def _begin(self) -> None:
        facts, _ = await asyncio.gather(run_in_thread(self._probe), self._tasks.refreshed())
        self._machine = facts
        self._session.model_selection.styles.use_machine(facts)
        if self._session.settings[FIRST_RUN_IS_OVER]:
            return
        self._advice = recommended_model(facts, known_models().values())
        if self._advice is None:
            return
        installed = self._installed
        if not installed:
            self._is_active = True
            if not self._is_put_off:
                self._show_advice()
            self._on_task_changed()  # an earlier window may have started a download
            await self._measure_speed(facts)
        elif self._name in installed and self._session.model_selection.local_folder().name not in installed:
            self._is_active = True
            self._on_installed(self._name)

    async def _measure_speed(self, machine: MachineFacts) -> None:
        """Add the expected speed to the advice. It is measured once the model is loaded, which would disturb it."""
        if machine.gpu is not None:
            return
        while self._session.bridge.engine.state is EngineState.LOADING:
            await asyncio.sleep(_POLL_SECONDS)
        self._seconds_per_second = await run_in_thread(self._session.services.measure_speed)
        self._on_statuses_changed()

    @property
    def _name(self) -> str:
        assert self._advice is not None, "steps are shown only with advice"
        return self._advice.model.name

    @property
    def _installed(self) -> set[str]:
        """Names of the models that speak, without the bundled one."""
        return {
            status.name
            for status in self._tasks.statuses
            if status.state is ModelState.INSTALLED and not status.is_recognizer
        }

    def stop(self) -> None:
        """Stop synthesis and playback before the window closes. The assistant continues at the next start."""
        self._is_active = False
        if self._beginning is not None:
            self._beginning.cancel()
        self._stop_comparison()

    def _end(self) -> None:
        """Close the panel permanently. The Models page offers the same actions."""
        self._is_active = False
        self._stop_comparison()
        self.panel.hide()
        self._session.settings[FIRST_RUN_IS_OVER] = True

    def _show(self, page: PanelPage) -> None:
        self._shows_advice = self._shows_download = False
        self.panel.show_page(page)

    # The download.

    def _show_advice(self) -> None:
        advice, status = self._advice, self._tasks.status_of(self._name)
        assert advice is not None, "steps are shown only with advice"
        assert self._machine is not None, "the advice depends on it"
        size_bytes = advice.model.size_bytes()
        if status is not None and status.state is ModelState.PARTIAL:
            install = self.tr("Resume download")
        else:
            install = self.tr("Download {size}").format(size=size_text(size_bytes))
        missing_bytes = size_bytes - (status.arrived_bytes if status is not None else 0)
        paragraphs = (
            self._machine_text(),
            advice_text(advice, self._machine, self._seconds_per_second),
            ability_text(advice.model),
            download_text(missing_bytes),
        )
        buttons = (
            PanelButton(install, self._install),
            PanelButton(self.tr("Other models…"), self.models_wanted.emit),
            PanelButton(self.tr("Not now"), self._end),
        )
        self._show(PanelPage(self._advice_title(advice), "\n".join(paragraphs), buttons=buttons))
        self._shows_advice = True

    def _on_statuses_changed(self) -> None:
        """Update the download size: a cancelled download is deleted only after the advice is shown again.

        Hide the advice if another model was installed.
        """
        if self._is_active and self._shows_advice:
            if self._installed:
                self._is_active = self._shows_advice = False
                self.panel.hide()
            else:
                self._show_advice()

    def put_off_advice(self) -> None:
        """Hide the advice until the next start, because a notice offers a download that the lines need."""
        self._is_put_off = True
        if self._is_active and self._shows_advice:
            self._shows_advice = False
            self.panel.hide()

    def _install(self) -> None:
        self._tasks.install(self._name)
        self._on_task_changed()

    def _on_task_changed(self) -> None:
        task = self._tasks.task_of(self._name) if self._is_active else None
        if task is None or task.kind is not ModelTaskKind.INSTALL or task.stop.is_cancelled:
            if self._is_active and self._shows_download:  # it was stopped elsewhere, on the Models page
                self._show_advice()
            return
        progress = progress_text(task.progress) if task.progress else self.tr("Queued")
        note = self.tr("You can keep working. Downloaded data is kept if you pause or quit.")
        buttons = [PanelButton(self.tr("Pause"), self._pause), PanelButton(self.tr("Cancel"), self._cancel)]
        if is_waiting(task):
            buttons += [
                PanelButton(self.tr("Try now"), lambda: self._tasks.end_wait(self._name)),
                PanelButton(self.tr("Other source"), lambda: self._tasks.skip_source(self._name)),
            ]
        self._show(
            PanelPage(
                self.tr("Downloading {name}").format(name=self._name),
                f"{progress}\n{note}",
                is_busy=True,
                share=task.progress.share if task.progress else None,
                buttons=buttons,
            )
        )
        self._shows_download = True

    def _pause(self) -> None:
        self._tasks.stop(self._name)
        buttons = (
            PanelButton(self.tr("Continue"), self._install),
            PanelButton(self.tr("Cancel"), self._cancel),
            PanelButton(self.tr("Later"), self._end),
        )
        title = self.tr("Download of {name} paused").format(name=self._name)
        self._show(PanelPage(title, self.tr("Downloaded data is kept, even after you quit."), buttons=buttons))

    def _cancel(self) -> None:
        self._tasks.discard(self._name)
        self._show_advice()

    def _on_failed(self, error: StudioError) -> None:
        if not (self._is_active and self.panel.page.is_busy):
            return
        buttons = [PanelButton(self.tr("Try again"), self._install)]
        if isinstance(error, SourceUnreachable | SourceRefused | WrongDownload):
            buttons.append(PanelButton(self.tr("Other source"), self._install_from_other_source))
        buttons.append(PanelButton(self.tr("Other models…"), self.models_wanted.emit))
        buttons.append(PanelButton(self.tr("Not now"), self._end))
        title = self.tr("Download of {name} failed").format(name=self._name)
        self._show(PanelPage(title, error=error, buttons=buttons))

    def _install_from_other_source(self) -> None:
        self._tasks.install_from_other_source(self._name)
        self._on_task_changed()

    def _on_installed(self, name: str) -> None:
        if not self._is_active or name != self._name:
            return
        buttons = (
            PanelButton(self.tr("Load and compare"), self._load_and_compare),
            PanelButton(self.tr("Load without comparing"), self._load),
            PanelButton(self.tr("Later"), self._end),
        )
        text = self.tr("For comparison, one sentence is spoken with the current model and with the new one.")
        self._show(PanelPage(self.tr("{name} is installed").format(name=self._name), text, buttons=buttons))

    def _load(self) -> None:
        self.model_chosen.emit(self._name)
        self._end()

    # The comparison.

    def _load_and_compare(self) -> None:
        self._comparison = self._session.bridge.run(self._compare())

    def _stop_comparison(self) -> None:
        if self._comparison is not None:
            self._comparison.cancel()
            self._comparison = None
        self._player.stop()

    async def _compare(self) -> None:
        """Speak the same sentence with the current model and with the new one.

        Without a voice, or after an error, the new model is loaded without a comparison. The window shows errors of
        the model, and the Voices dock those of the library.
        """
        before = await self._preview(self._session.model_selection.local_folder().name, skip=self._load)
        if before is None:
            self._load()
            return
        self.model_chosen.emit(self._name)
        after = await self._preview(self._name, skip=self._end)
        if after is None:
            self._end()
        else:
            self._show_difference(before, after)

    async def _preview(self, name: str, *, skip: Callable[[], None]) -> ModelPreview | None:
        try:
            voices = await run_in_thread(self._session.library.voices)
            if not voices:
                return None
            buttons = (PanelButton(self.tr("Skip comparison"), skip),)
            title = self.tr("Speaking a sentence with {name}…").format(name=name)
            self._show(PanelPage(title, is_busy=True, buttons=buttons))
            voice = VoiceReference(voices[0].clip, voices[0].transcript, voices[0].name)
            return await synthesize_preview(self._session.bridge, voice)
        except StudioError:
            return None

    def _show_difference(self, before: ModelPreview, after: ModelPreview) -> None:
        kinds = (self.tr("speech"), self.tr("noise"))
        rows = [
            ("", before.model_name, after.model_name),
            (self.tr("Output"), kinds[before.makes_noise], kinds[after.makes_noise]),
            (self.tr("Latency"), _seconds(before.first_audio_seconds), _seconds(after.first_audio_seconds)),
            (
                self.tr("Time per second of speech"),
                _seconds(before.real_time_factor),
                _seconds(after.real_time_factor),
            ),
        ]
        if not before.makes_noise:  # noise has more high frequencies than any voice
            rows.append(
                (self.tr("Frequencies up to"), _kilohertz(before.highest_hertz), _kilohertz(after.highest_hertz))
            )
        play = self.tr("Play {name}")
        self._show(
            PanelPage(
                self.tr("{name} is in use").format(name=after.model_name),
                self.tr("The same sentence and voice with both models, measured on this computer:"),
                table=rows,
                text_below=self._difference_text(before, after),
                buttons=(
                    PanelButton(self.tr("Done"), self._end),
                    PanelButton(play.format(name=before.model_name), lambda: self._play(before)),
                    PanelButton(play.format(name=after.model_name), lambda: self._play(after)),
                ),
            )
        )

    def _play(self, preview: ModelPreview) -> None:
        self._player.play(NowPlaying("", "", preview.audio))

    # Texts.

    def _difference_text(self, before: ModelPreview, after: ModelPreview) -> str:
        """Return the improvements and the disadvantages. Differences too small to notice are left out."""
        words_of = {
            "makes_noise": (self.tr("speech instead of noise"), self.tr("noise instead of speech")),
            "highest_hertz": (self.tr("fuller sound"), self.tr("duller sound")),
            "first_audio_seconds": (self.tr("lower latency"), self.tr("higher latency")),
            "real_time_factor": (self.tr("faster"), self.tr("slower")),
        }
        better, worse = compare(before, after)
        comma = self.tr(", ")
        sentences = []
        if better:
            sentences.append(self.tr("Better: {gains}.").format(gains=comma.join(words_of[name][0] for name in better)))
        if worse:
            sentences.append(self.tr("Worse: {costs}.").format(costs=comma.join(words_of[name][1] for name in worse)))
        return join_sentences(sentences) or self.tr("No noticeable difference.")

    def _advice_title(self, advice: Advice) -> str:
        """Return the name of a better model, and the limits of a demonstration in use."""
        used = known_models().get(self._session.model_selection.local_folder().name)
        if used is None or not used.is_demonstration:
            return self.tr("Better voice: {name}").format(name=advice.model.name)
        words = self.tr("Demo model, {languages} only. Get {model} for more natural voices")
        return words.format(languages=language_text(used), model=advice.model.name)

    def _machine_text(self) -> str:
        machine = self._machine
        assert machine is not None
        parts = [
            machine.processor,
            self.tr("%n core(s)", "", machine.num_cores),
            self.tr("{size} memory, {free} free").format(
                size=memory_text(machine.memory_bytes), free=memory_text(machine.free_memory_bytes)
            ),
            self.tr("{size} free disk space").format(size=size_text(machine.free_disk_bytes)),
        ]
        gpu = machine.gpu
        if gpu is None:
            parts.append(self.tr("no NVIDIA GPU"))
        else:
            words = self.tr("{gpu} with {size}, driver {driver}")
            parts.append(words.format(gpu=gpu.name, size=memory_text(gpu.memory_bytes), driver=gpu.driver))
        return self.tr("This computer: {parts}.").format(parts=" · ".join(parts))


def _seconds(value: float) -> str:
    return f"{value:.2f} s"


def _kilohertz(value: float) -> str:
    return f"{value / 1000:.1f} kHz"
