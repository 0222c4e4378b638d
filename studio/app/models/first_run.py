"""First-run assistant: recommends a model for this computer, downloads it, and compares it with the bundled one.

Every step can be skipped, paused and resumed while the window stays usable. A download that was interrupted resumes
at the next start.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal

from studio.app.background import in_background, run_in_background
from studio.app.error_text import format_error
from studio.app.models.first_run_panel import FirstRunPanel, PanelPage, SetupSuggestion
from studio.app.models.model_preview import ModelPreview, PreviewRunner, compare
from studio.app.models.model_tasks import ModelTaskKind, ModelTasks
from studio.app.models.model_text import ability_text, download_text, memory_text, progress_text, size_text
from studio.app.playback.audio_player import NowPlaying
from studio.app.session import Session
from studio.audio.streaming_audio import StreamingAudio
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
    """Shows the steps in ``panel``. ``model_chosen`` carries the name of the model to load."""

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
        self._work: ModelTasks = session.models
        self._probe = probe
        self._player = session.voice_sources().make_player(self)
        self._previews = PreviewRunner(session.bridge, self)
        self._advice: Advice | None = None
        self._machine: MachineFacts | None = None
        self._before: ModelPreview | None = None
        self._after: ModelPreview | None = None
        self._is_active = False
        self._beginning: asyncio.Task[None] | None = None
        self._make_page: Callable[[], PanelPage] | None = None  # builds the current page
        # the panel
        panel.closed.connect(self._end)
        # the download
        self._work.task_changed.connect(self._on_task_changed)
        self._work.statuses_changed.connect(self._on_statuses_changed)
        self._work.installed.connect(self._on_installed)
        self._work.failed.connect(self._on_failed)
        # the comparison
        self._previews.finished.connect(self._on_preview)
        self._previews.failed.connect(lambda _: self._end_comparison())

    def begin(self) -> None:
        """Start if no model has been installed, or if the recommended one was installed but never loaded."""
        if not self._session.settings[FIRST_RUN_IS_OVER]:
            self._beginning = self._session.bridge.run(self._begin())

    async def _begin(self) -> None:
        facts, _ = await asyncio.gather(in_background(self._probe), self._work.refreshed())
        self._machine = facts
        self._advice = recommend_model(facts, known_models().values())
        if self._advice is None:
            return
        installed = {status.name for status in self._work.statuses if status.state is ModelState.INSTALLED}
        if not installed:
            self._is_active = True
            self._show_advice()
            self._on_task_changed()  # a download that an earlier window started
        elif self._name in installed and self._session.model_folder().name not in installed:
            self._is_active = True
            self._on_installed(self._name)

    @property
    def _name(self) -> str:
        assert self._advice is not None, "steps are shown only with advice"
        return self._advice.model.name

    def stop(self) -> None:
        """Stop synthesis and playback before the window closes. The settings keep the current step."""
        self._is_active = False
        if self._beginning is not None:
            self._beginning.cancel()
        self._previews.stop()
        self._player.stop()

    # Steps.

    def _show_advice(self) -> None:
        self._present(self._advice_page)

    def _advice_page(self) -> PanelPage:
        advice, status = self._advice, self._work.status_of(self._name)
        assert advice is not None
        is_partial = status is not None and status.state is ModelState.PARTIAL
        action = (
            self.tr("Resume download")
            if is_partial
            else self.tr("Download {size}").format(size=size_text(advice.model.size_bytes()))
        )
        words = [self._machine_text(), self._advice_text(advice), ability_text(advice.model)]
        missing_bytes = advice.model.size_bytes() - (status.arrived_bytes if status is not None else 0)
        words.append(download_text(missing_bytes))
        offers = (
            SetupSuggestion(action, self._install),
            SetupSuggestion(self.tr("Other models…"), self.models_wanted.emit),
            SetupSuggestion(self.tr("Not now"), self._end),
        )
        return PanelPage(self.tr("Install a better model"), "\n".join(words), offers=offers)

    def _on_statuses_changed(self) -> None:
        """Update the size to download: a cancelled download is deleted after the advice is shown again."""
        if self._is_active and self._make_page == self._advice_page:
            self._show_advice()

    def _install(self) -> None:
        self._work.install(self._name)
        self._on_task_changed()

    def _on_task_changed(self) -> None:
        task = self._work.task_of(self._name) if self._is_active else None
        if task is None or task.kind is not ModelTaskKind.INSTALL or task.stop.is_cancelled:
            return
        self._present(partial(self._download_page, task.progress))

    def _download_page(self, progress: Progress | None) -> PanelPage:
        return PanelPage(
            self.tr("Downloading {name}").format(name=self._name),
            (progress_text(progress) if progress else self.tr("Queued"))
            + "\n"
            + self.tr("You can keep working. Downloaded data is kept if you pause or quit."),
            is_busy=True,
            share=progress.share if progress else None,
            offers=(SetupSuggestion(self.tr("Pause"), self._pause), SetupSuggestion(self.tr("Cancel"), self._cancel)),
        )

    def _pause(self) -> None:
        self._work.stop(self._name)
        self._present(self._paused_page)

    def _paused_page(self) -> PanelPage:
        offers = (
            SetupSuggestion(self.tr("Continue"), self._install),
            SetupSuggestion(self.tr("Cancel"), self._cancel),
            SetupSuggestion(self.tr("Later"), self._end),
        )
        title = self.tr("Download of {name} paused").format(name=self._name)
        return PanelPage(title, self.tr("Downloaded data is kept, even after you quit."), offers=offers)

    def _cancel(self) -> None:
        self._work.discard(self._name)
        self._show_advice()

    def _on_failed(self, error: StudioError) -> None:
        if self._is_active and self.panel.page.is_busy:
            self._present(partial(self._failed_page, error, self._other_source))

    def _failed_page(self, error: StudioError, other: SourceKind) -> PanelPage:
        offers = [SetupSuggestion(self.tr("Try again"), self._install)]
        if isinstance(error, SourceUnreachable | SourceRefused | WrongDownload):
            words = self.tr("Continue from {source}").format(source=other.title)
            offers.append(SetupSuggestion(words, lambda: self._install_from(other)))
        offers.append(SetupSuggestion(self.tr("Other models…"), self.models_wanted.emit))
        offers.append(SetupSuggestion(self.tr("Not now"), self._end))
        title = self.tr("Download of {name} failed").format(name=self._name)
        return PanelPage(title, format_error(error), role="bad", error=error, offers=offers)

    @property
    def _other_source(self) -> SourceKind:
        return next(kind for kind in SourceKind if kind is not self._work.source_kind)

    def _install_from(self, source: SourceKind) -> None:
        """Change the source in the settings and resume: downloaded files are the same on every hub."""
        self._session.settings[MODEL_SOURCE] = source.value
        self._install()

    def _on_installed(self, name: str) -> None:
        if self._is_active and name == self._name:
            self._present(self._installed_page)

    def _installed_page(self) -> PanelPage:
        offers = (
            SetupSuggestion(self.tr("Load and compare"), self._load_and_compare),
            SetupSuggestion(self.tr("Load without comparing"), self._load),
            SetupSuggestion(self.tr("Later"), self._end),
        )
        words = self.tr("For comparison, one sentence is spoken with the current model and with the new one.")
        return PanelPage(self.tr("{name} is installed").format(name=self._name), words, offers=offers)

    def _load(self) -> None:
        self.model_chosen.emit(self._name)
        self._end()

    def _load_and_compare(self) -> None:
        self._before = self._after = None
        self._preview(self._session.model_folder().name)

    def _preview(self, name: str) -> None:
        run_in_background(
            self,
            self._session.library.voices,
            done=partial(self._preview_first_voice, name),
            failed=lambda _: self._load(),  # the Voices dock shows the error
        )

    def _preview_first_voice(self, name: str, voices: list[Voice]) -> None:
        if not self._is_active:
            return
        if not voices:
            self._load()
            return
        self._present(partial(self._preview_page, name))
        self._previews.begin(VoiceReference(voices[0].clip, voices[0].transcript, voices[0].name))

    def _on_preview(self, preview: ModelPreview) -> None:
        if self._before is None:
            self._before = preview
            self.model_chosen.emit(self._name)
            self._preview(self._name)
        else:
            self._after = preview
            self._show_difference(self._before, preview)

    def _show_difference(self, before: ModelPreview, after: ModelPreview) -> None:
        self._present(partial(self._difference_page, before, after))

    def _difference_page(self, before: ModelPreview, after: ModelPreview) -> PanelPage:
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
        return PanelPage(
            self.tr("{name} is in use").format(name=after.model_name),
            self.tr("The same sentence and voice with both models, measured on this computer:"),
            table=rows,
            words_below=self._difference_text(before, after),
            offers=(
                SetupSuggestion(self.tr("Done"), self._end),
                SetupSuggestion(
                    self.tr("Play {name}").format(name=before.model_name), lambda: self._play(before.sound)
                ),
                SetupSuggestion(self.tr("Play {name}").format(name=after.model_name), lambda: self._play(after.sound)),
            ),
        )

    def _difference_text(self, before: ModelPreview, after: ModelPreview) -> str:
        """Return what became better and worse, without differences too small to notice."""
        words_of = {
            "makes_noise": (self.tr("speech instead of noise"), self.tr("noise instead of speech")),
            "highest_hertz": (self.tr("fuller sound"), self.tr("duller sound")),
            "first_audio_seconds": (self.tr("lower latency"), self.tr("higher latency")),
            "real_time_factor": (self.tr("faster"), self.tr("slower")),
        }
        better, worse = compare(before, after)
        sentences = []
        if better:
            sentences.append(
                self.tr("Better: {gains}.").format(gains=self.tr(", ").join(words_of[name][0] for name in better))
            )
        if worse:
            sentences.append(
                self.tr("Worse: {costs}.").format(costs=self.tr(", ").join(words_of[name][1] for name in worse))
            )
        return " ".join(sentences) or self.tr("No noticeable difference.")

    def _end_comparison(self) -> None:
        """Load the model without a comparison. The window shows why the comparison failed."""
        if self._is_active and self._before is None:
            self.model_chosen.emit(self._name)
        self._end()

    def _play(self, sound: StreamingAudio) -> None:
        self._player.play(NowPlaying("", "", sound))

    def _end(self) -> None:
        """Close the panel for good; the Models page offers the same."""
        self._is_active = False
        self._previews.stop()
        self._player.stop()
        self.panel.hide()
        self._session.settings[FIRST_RUN_IS_OVER] = True

    # Texts.

    def _present(self, make_page: Callable[[], PanelPage]) -> None:
        self._make_page = make_page
        self.panel.show_page(make_page())

    def _preview_page(self, name: str) -> PanelPage:
        words = self.tr("Speaking a sentence with {name}…").format(name=name)
        return PanelPage(words, is_busy=True, offers=(SetupSuggestion(self.tr("Skip comparison"), self._skip),))

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

    def _advice_text(self, advice: Advice) -> str:
        match advice.reason:
            case Reason.HAS_GPU:
                words = self.tr("Recommended: {name}, the newest model. It fits into the GPU's memory.")
            case Reason.LIGHTEST:
                words = self.tr(
                    "Recommended: {name}, the lightest model that can clone voices. Without a GPU, speech may be slower "
                    "than real time. Playback starts once it can run without interruption."
                )
        sentences = [words.format(name=advice.model.name)]
        if advice.lacks_memory:
            sentences.append(self.tr("It will be slow: this computer has little memory."))
        if advice.lacks_disk:
            sentences.append(self.tr("There is not enough free disk space for it."))
        return " ".join(sentences)


def _seconds(value: float) -> str:
    return f"{value:.2f} s"


def _kilohertz(value: float) -> str:
    return f"{value / 1000:.1f} kHz"
