"""Opening of the engines of a loaded model, and their replacement between requests."""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from studio.engines.machine import empty_cache
from studio.engines.manager import EngineManager, OpenedStage
from studio.engines.stage import Stage
from studio.model.torch_device import cuda_stream
from studio.pipeline.loading import StageOverrides, load_synthesizer
from studio.pipeline.request import AUTO, EngineOptions, RequestControl
from studio.pipeline.synthesizer import Synthesizer
from studio.pipeline.warm_up import RecordingStage

_log = logging.getLogger(__name__)

# Names of the stages in descriptions and reports, without the stages of the front end.
STAGE_KEYS = {Stage.SPEECH_LM: "speech_lm", Stage.FLOW: "flow", Stage.VOCODER: "vocoder"}


class StageLoader:
    """Opens engines on any thread. ``install`` passes them to a synthesizer between requests."""

    def __init__(self, folder: Path, options: EngineOptions, manager: EngineManager) -> None:
        self._folder = folder
        self._options = options
        self._manager = manager
        self._lock = threading.Lock()
        self._ready: dict[Stage, OpenedStage] = {}
        self._deferred: set[Stage] = set()

    def load_synthesizer(self, control: RequestControl | None = None) -> Synthesizer:
        """Load the model with the engines verified so far, except those that open slowly; see ``open_deferred``."""
        opened: dict[Stage, OpenedStage] = {}
        # Probing the candidates loads their libraries, which takes time. Without manifests, no engine is verified.
        for stage in self._replaceable() if self._manager.store.has_manifests() else ():
            if self._manager.opens_slowly(stage):
                with self._lock:
                    self._deferred.add(stage)
            elif (found := self._manager.open_choice(stage)) is not None:
                opened[stage] = found
        overrides = StageOverrides(
            **_arguments(opened),
            open_speech_tokenizer=lambda: self._open_frontend(Stage.SPEECH_TOKENIZER),
            open_speaker_encoder=lambda: self._open_frontend(Stage.SPEAKER_ENCODER),
        )
        return load_synthesizer(self._folder, self._options, overrides, control)

    def open_deferred(self, is_wanted: Callable[[], bool]) -> None:
        """Open the engines that ``load_synthesizer`` has skipped, for ``install``."""
        if not is_wanted():
            return
        with self._lock:
            deferred, self._deferred = self._deferred, set()
        for stage in deferred:
            if is_wanted():
                self._open(stage, is_wanted)

    def open_faster(self, in_use: Mapping[str, str], is_wanted: Callable[[], bool]) -> None:
        """Open the chosen engines that are not yet in use, for ``install``. ``in_use`` contains names by stage key."""
        choices = {view.stage: view.choice.name for view in self._manager.overview().stages}
        for stage in self._replaceable():
            if is_wanted() and choices[stage] != in_use.get(STAGE_KEYS[stage]):
                self._open(stage, is_wanted)

    def install(self, synthesizer: Synthesizer) -> None:
        """Replace the stages of ``synthesizer`` by the engines opened since the last call."""
        ready = self._take_ready()
        if not ready:
            return
        synthesizer.use(**_arguments(ready))
        _log.info("engines from now on: %s", synthesizer.description.stages)
        del ready
        gc.collect()  # the old engines
        empty_cache(self._options.device)

    def discard(self) -> None:
        """Close the engines that were opened and not installed."""
        self._take_ready()

    def _take_ready(self) -> dict[Stage, OpenedStage]:
        with self._lock:
            ready, self._ready = self._ready, {}
        return ready

    def _open(self, stage: Stage, is_wanted: Callable[[], bool]) -> None:
        opened = self._manager.open_choice(stage)
        if opened is not None and is_wanted():
            if isinstance(opened.engine, RecordingStage):
                self._record(opened.engine)
            with self._lock:
                self._ready[stage] = opened

    def _record(self, stage: RecordingStage) -> None:
        """Record what the first line would otherwise record."""
        try:
            with cuda_stream(self._options.device):
                for record in stage.recordings():
                    record()
        except RuntimeError:  # torch's errors, such as out of memory
            _log.exception("recording failed; lines record what they need")

    def _open_frontend(self, stage: Stage) -> Any:
        """Open a front-end stage when the first new voice needs it. None selects plain PyTorch."""
        is_wanted = self._options.engines != "plain" and self._manager.store.has_manifests()
        found = self._manager.open_choice(stage) if is_wanted else None
        return None if found is None else found.engine

    def _replaceable(self) -> tuple[Stage, ...]:
        """Return the stages for which the options request no specific engine."""
        options, stages = self._options, []
        if options.engines == "plain":
            return ()
        if options.speech_lm_precision == AUTO and options.loads_speech_lm:
            stages.append(Stage.SPEECH_LM)
        if options.flow_precision in (AUTO, "float32") and options.flow_steps is None:
            stages.append(Stage.FLOW)
        return (*stages, Stage.VOCODER)


def _arguments(opened: Mapping[Stage, OpenedStage]) -> dict[str, Any]:
    """Return the keyword arguments that ``StageOverrides`` and ``Synthesizer.use`` have in common."""
    engines: dict[str, Any] = {STAGE_KEYS[stage]: found.engine for stage, found in opened.items()}
    return engines | {
        "words": {STAGE_KEYS[stage]: f"{found.view.engine} {found.view.precision}" for stage, found in opened.items()},
        "names": {STAGE_KEYS[stage]: found.view.name for stage, found in opened.items()},
    }
