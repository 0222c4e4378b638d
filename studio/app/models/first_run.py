"""The first steps with a real model: what this computer has, which model suits it, and what it made better.

Every step can be skipped, stopped and gone on with; the window works meanwhile. What has been downloaded is on the
disk, so the next start goes on from there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal

from studio.app.background import run_in_background
from studio.app.error_text import format_error
from studio.app.models.first_run_panel import FirstRunPanel, PanelPage, SetupSuggestion
from studio.app.models.model_preview import ModelPreview, Trials, compare
from studio.app.models.model_tasks import ModelTaskKind, ModelTasks
from studio.app.models.model_text import ability_text, download_text, memory_text, progress_text, size_text
from studio.app.session import Session
from studio.audio.streaming_audio import StreamingAudio
from studio.audio.waveform import Waveform
from studio.catalog.advice import Advice, Reason, recommend_model
from studio.catalog.installed import ModelState
from studio.catalog.known import SourceKind, known_models
from studio.catalog.machine import MachineFacts, probe_machine
from studio.catalog.progress import Progress
from studio.errors import SourceRefused, SourceUnreachable, StudioError, WrongDownload
from studio.pipeline.request import VoiceReference
from studio.settings import FIRST_RUN_IS_OVER, MODEL_SOURCE
from studio.voices.library import Voice


class FirstRun(QObject):
    """Leads ``panel`` through the steps. ``model_chosen``: the name of the one that is to speak from now on."""

    model_chosen = Signal(str)
    models_wanted = Signal()

    def __init__(
        self,
        session: Session,
        panel: FirstRunPanel,
        parent: QObject | None = None,
        *,
        look: Callable[[], MachineFacts] = probe_machine,
    ) -> None:
        super().__init__(parent)
        self.panel = panel
        self._session = session
        self._work: ModelTasks = session.models
        self._look = look
        self._player = session.voice_sources().make_player(self)
        self._trials = Trials(session.bridge, self)
        self._advice: Advice | None = None
        self._machine: MachineFacts | None = None
        self._before: ModelPreview | None = None
        self._after: ModelPreview | None = None
        self._is_on = False
        self._beginning: asyncio.Task[None] | None = None
        self._make_page: Callable[[], PanelPage] | None = None  # what is shown, to be said anew
        # the panel
        panel.closed.connect(self._end)
        # the model on its way
        self._work.task_changed.connect(self._on_task_changed)
        self._work.statuses_changed.connect(self._on_statuses_changed)
        self._work.installed.connect(self._on_installed)
        self._work.failed.connect(self._on_failed)
        # what it made better
        self._trials.made.connect(self._on_trial)
        self._trials.failed.connect(lambda _: self._show_loaded())

    def begin(self) -> None:
        """Where nothing but what ships is here, or what was downloaded was never loaded; else it is not needed."""
        if not self._session.settings[FIRST_RUN_IS_OVER]:
            self._beginning = self._session.bridge.run(self._begin())

    async def _begin(self) -> None:
        facts, _ = await asyncio.gather(asyncio.to_thread(self._look), self._work.refreshed())
        self._machine = facts
        self._advice = recommend_model(facts, known_models().values())
        if self._advice is None:
            return
        installed = {status.name for status in self._work.statuses if status.state is ModelState.INSTALLED}
        if not installed:
            self._is_on = True
            self._show_advice()
            self._on_task_changed()  # a download that an earlier window began
        elif self._name in installed and self._session.model_folder().name not in installed:
            self._is_on = True
            self._on_installed(self._name)

    @property
    def _name(self) -> str:
        assert self._advice is not None, "nothing is shown without advice"
        return self._advice.model.name

    def stop(self) -> None:
        """Stop what speaks or plays, because the window goes. The settings keep what was reached."""
        self._is_on = False
        if self._beginning is not None:
            self._beginning.cancel()
        self._trials.stop()
        self._player.stop()

    # Steps.

    def _show_advice(self) -> None:
        self._present(self._advice_page)

    def _advice_page(self) -> PanelPage:
        advice, status = self._advice, self._work.status_of(self._name)
        assert advice is not None
        is_partial = status is not None and status.state is ModelState.PARTIAL
        go_on = (
            self.tr("Go on with the download")
            if is_partial
            else self.tr("Download {size}").format(size=size_text(advice.model.size_bytes()))
        )
        words = [self._machine_text(), self._advice_text(advice), ability_text(advice.model)]
        missing_bytes = advice.model.size_bytes() - (status.arrived_bytes if status is not None else 0)
        words.append(download_text(missing_bytes))
        offers = (
            SetupSuggestion(go_on, self._install),
            SetupSuggestion(self.tr("Other models…"), self.models_wanted.emit),
            SetupSuggestion(self.tr("Not now"), self._end),
        )
        return PanelPage(self.tr("A better voice"), "\n".join(words), offers=offers)

    def _on_statuses_changed(self) -> None:
        """What a cancelled download leaves is gone a moment after its advice is offered again."""
        if self._is_on and self._make_page == self._advice_page:
            self._show_advice()

    def _install(self) -> None:
        self._work.install(self._name)
        self._on_task_changed()

    def _on_task_changed(self) -> None:
        task = self._work.task_of(self._name) if self._is_on else None
        if task is None or task.kind is not ModelTaskKind.INSTALL or task.stop.is_cancelled:
            return
        self._present(partial(self._download_page, task.progress))

    def _download_page(self, progress: Progress | None) -> PanelPage:
        return PanelPage(
            self.tr("Downloading {name}").format(name=self._name),
            (progress_text(progress) if progress else self.tr("Waits for its turn"))
            + "\n"
            + self.tr("Go on working meanwhile. It may be interrupted at any time: what is here stays."),
            is_busy=True,
            share=progress.share if progress else None,
            offers=(SetupSuggestion(self.tr("Pause"), self._pause), SetupSuggestion(self.tr("Cancel"), self._cancel)),
        )

    def _pause(self) -> None:
        self._work.stop(self._name)
        self._present(self._paused_page)

    def _paused_page(self) -> PanelPage:
        offers = (
            SetupSuggestion(self.tr("Go on"), self._install),
            SetupSuggestion(self.tr("Cancel"), self._cancel),
            SetupSuggestion(self.tr("Later"), self._end),
        )
        title = self.tr("The download of {name} is paused").format(name=self._name)
        return PanelPage(title, self.tr("What is here stays, also when the program ends."), offers=offers)

    def _cancel(self) -> None:
        self._work.discard(self._name)
        self._show_advice()

    def _on_failed(self, error: StudioError) -> None:
        if self._is_on and self.panel.page.is_busy:
            self._present(partial(self._failed_page, error, self._other_source))

    def _failed_page(self, error: StudioError, other: SourceKind) -> PanelPage:
        offers = [SetupSuggestion(self.tr("Try again"), self._install)]
        if isinstance(error, SourceUnreachable | SourceRefused | WrongDownload):
            words = self.tr("Go on from {source}").format(source=other.title)
            offers.append(SetupSuggestion(words, lambda: self._install_from(other)))
        offers.append(SetupSuggestion(self.tr("Other models…"), self.models_wanted.emit))
        offers.append(SetupSuggestion(self.tr("Not now"), self._end))
        title = self.tr("The download of {name} has stopped").format(name=self._name)
        return PanelPage(title, format_error(error), role="bad", error=error, offers=offers)

    @property
    def _other_source(self) -> SourceKind:
        return next(kind for kind in SourceKind if kind is not self._work.source_kind)

    def _install_from(self, source: SourceKind) -> None:
        """From now on, as the settings say then; what has arrived is the same everywhere and stays."""
        self._session.settings[MODEL_SOURCE] = source.value
        self._install()

    def _on_installed(self, name: str) -> None:
        if self._is_on and name == self._name:
            self._present(self._installed_page)

    def _installed_page(self) -> PanelPage:
        offers = (
            SetupSuggestion(self.tr("Load it"), self._load_and_compare),
            SetupSuggestion(self.tr("Load without comparing"), self._load),
            SetupSuggestion(self.tr("Later"), self._end),
        )
        words = self.tr(
            "It can be loaded now. A sentence is spoken with both models then, so that you hear the difference."
        )
        return PanelPage(self.tr("{name} is here").format(name=self._name), words, offers=offers)

    def _load(self) -> None:
        self.model_chosen.emit(self._name)
        self._end()

    def _load_and_compare(self) -> None:
        self._before = self._after = None
        self._try(self._session.model_folder().name)

    def _try(self, name: str) -> None:
        run_in_background(
            self,
            self._session.library.voices,
            done=partial(self._try_in_first_of, name),
            failed=lambda _: self._load(),  # the dock of voices shows the error
        )

    def _try_in_first_of(self, name: str, voices: list[Voice]) -> None:
        if not self._is_on:
            return
        if not voices:
            self._load()
            return
        self._present(partial(self._trial_page, name))
        self._trials.begin(VoiceReference(voices[0].clip, voices[0].transcript, voices[0].name))

    def _on_trial(self, trial: ModelPreview) -> None:
        if self._before is None:
            self._before = trial
            self.model_chosen.emit(self._name)
            self._try(self._name)
        else:
            self._after = trial
            self._show_difference(self._before, trial)

    def _show_difference(self, before: ModelPreview, after: ModelPreview) -> None:
        self._present(partial(self._difference_page, before, after))

    def _difference_page(self, before: ModelPreview, after: ModelPreview) -> PanelPage:
        kinds = (self.tr("speech"), self.tr("noise"))
        rows = [
            ("", before.model_name, after.model_name),
            (self.tr("Makes"), kinds[before.makes_noise], kinds[after.makes_noise]),
            (self.tr("First sound"), _seconds(before.first_audio_seconds), _seconds(after.first_audio_seconds)),
            (
                self.tr("Work for a second of speech"),
                _seconds(before.real_time_factor),
                _seconds(after.real_time_factor),
            ),
        ]
        if not before.makes_noise:  # noise reaches higher than any voice
            rows.append((self.tr("Sound up to"), _kilohertz(before.highest_hertz), _kilohertz(after.highest_hertz)))
        return PanelPage(
            self.tr("{name} speaks now").format(name=after.model_name),
            self.tr("The same sentence and voice with both models, as measured on this computer just now:"),
            table=rows,
            words_below=self._difference_text(before, after),
            offers=(
                SetupSuggestion(self.tr("Done"), self._end),
                SetupSuggestion(
                    self.tr("Hear {name}").format(name=before.model_name), lambda: self._hear(before.sound)
                ),
                SetupSuggestion(self.tr("Hear {name}").format(name=after.model_name), lambda: self._hear(after.sound)),
            ),
        )

    def _difference_text(self, before: ModelPreview, after: ModelPreview) -> str:
        """What became better, and what it costs; differences too small to notice are not told."""
        words_of = {
            "makes_noise": (self.tr("speech instead of noise"), self.tr("noise instead of speech")),
            "highest_hertz": (self.tr("a fuller sound"), self.tr("a duller sound")),
            "first_audio_seconds": (self.tr("an earlier first sound"), self.tr("a later first sound")),
            "real_time_factor": (self.tr("less work"), self.tr("more work")),
        }
        better, worse = compare(before, after)
        told = []
        if better:
            told.append(
                self.tr("Better: {gains}.").format(gains=self.tr(", ").join(words_of[name][0] for name in better))
            )
        if worse:
            told.append(
                self.tr("The price: {costs}.").format(costs=self.tr(", ").join(words_of[name][1] for name in worse))
            )
        return " ".join(told) or self.tr("No difference worth telling.")

    def _show_loaded(self) -> None:
        """The comparison did not work out; the window says what the model itself has to say."""
        if self._is_on and self._before is None:
            self.model_chosen.emit(self._name)
        self._end()

    def _hear(self, sound: StreamingAudio) -> None:
        self._player.play(Waveform(sound.all(), sound.sample_rate))

    def _end(self) -> None:
        """For good: the page of models has it all from now on."""
        self._is_on = False
        self._trials.stop()
        self._player.stop()
        self.panel.hide()
        self._session.settings[FIRST_RUN_IS_OVER] = True

    # Words.

    def _present(self, make_page: Callable[[], PanelPage]) -> None:
        self._make_page = make_page
        self.panel.show_page(make_page())

    def _trial_page(self, name: str) -> PanelPage:
        words = self.tr("Speaking a sentence with {name}…").format(name=name)
        return PanelPage(words, is_busy=True, offers=(SetupSuggestion(self.tr("Skip the comparison"), self._skip),))

    def _skip(self) -> None:
        if self._before is None:
            self._load()
        else:
            self._end()

    def _machine_text(self) -> str:
        machine = self._machine
        assert machine is not None
        parts = [
            machine.processor,
            self.tr("%n core(s)", "", machine.num_cores),
            self.tr("{size} of memory, {free} free").format(
                size=memory_text(machine.memory_bytes), free=memory_text(machine.free_memory_bytes)
            ),
            self.tr("{size} free on the disk").format(size=size_text(machine.free_disk_bytes)),
        ]
        card = machine.gpu
        if card is None:
            parts.append(self.tr("no NVIDIA graphics card"))
        else:
            words = self.tr("{card} with {size}, driver {driver}")
            parts.append(words.format(card=card.name, size=memory_text(card.memory_bytes), driver=card.driver))
        return self.tr("This computer: {parts}.").format(parts=" · ".join(parts))

    def _advice_text(self, advice: Advice) -> str:
        match advice.reason:
            case Reason.HAS_GPU:
                words = self.tr("Recommended: {name}, the newest; the graphics card has room for it.")
            case Reason.LIGHTEST:
                words = self.tr(
                    "Recommended: {name}, which has least to compute of those that clone voices. Without a graphics card "
                    "speech may take longer to make than to hear; it is played as soon as it can go on without a gap."
                )
        told = [words.format(name=advice.model.name)]
        if advice.lacks_memory:
            told.append(self.tr("It will be slow here: there is little memory."))
        if advice.lacks_disk:
            told.append(self.tr("There is not enough room on the disk for it."))
        return " ".join(told)


def _seconds(value: float) -> str:
    return f"{value:.2f} s"


def _kilohertz(value: float) -> str:
    return f"{value / 1000:.1f} kHz"
