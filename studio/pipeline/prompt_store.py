"""What a voice contributes to every utterance, computed once in its life: kept in memory and on disk.

Two things are kept. *Features* (tokens, mel, embedding) are small and always written. The *flow's
state* after the prompt is large (1.8 MB a mel frame and more): it is mapped from disk where that beats
making it again (a CPU), least recently used files go first when the limit is reached. A file appears
only when complete; a damaged or foreign one is made again without a word to the person.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import mmap
import os
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
import safetensors
import torch
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_file as load_tensors
from safetensors.torch import save_file as save_tensors

from studio.errors import UnreadableClip
from studio.model.stages import FlowDecoder, FlowPrompt, FlowPromptState
from studio.pipeline.card_streams import finish_for_others
from studio.pipeline.enrolment import feature_arrays, read_features
from studio.voices.prompt import VoicePrompt

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PreparedVoice:
    """A voice ready to speak: its prompt, and the flow's state after it."""

    prompt: VoicePrompt
    flow_prompt: FlowPrompt
    flow_state: FlowPromptState


@dataclass(frozen=True, slots=True)
class VoiceOnDemand:
    """A voice whose state is fetched each time somebody asks for it, and held by them alone.

    For those who may never ask (whole utterances), or stand in a line (a batch of many voices): a second of prompt
    is 90 MB of a card and more.
    """

    prompt: VoicePrompt
    flow_prompt: FlowPrompt
    fetch_state: Callable[[], FlowPromptState]

    @property
    def flow_state(self) -> FlowPromptState:
        return self.fetch_state()


SpeakingVoice = PreparedVoice | VoiceOnDemand


class PromptStore:
    """Prepared voices of one loaded model on ``device``. Lines on several threads may ask; a voice is prepared by the first.

    ``memory_bytes`` bounds the flow states held (the one in use is always kept), ``disk_bytes`` the
    state files; 0 switches them off.
    """

    def __init__(
        self, folder: Path, flow: FlowDecoder, *, memory_bytes: int, disk_bytes: int, device: str = "cpu"
    ) -> None:
        self._folder = folder
        self._flow = flow
        self._memory_bytes = memory_bytes
        self._disk_bytes = disk_bytes
        self._device = device
        self._prepared: OrderedDict[str, PreparedVoice] = OrderedDict()
        # Also those that lines hold though there is no room for them here: nobody needs a second one.
        self._in_use: WeakValueDictionary[str, FlowPromptState] = WeakValueDictionary()
        self._lock = threading.Lock()

    def for_flow(self, flow: FlowDecoder) -> PromptStore:
        """A store of the same files and limits for another engine of the flow, which makes states of its own."""
        return PromptStore(
            self._folder, flow, memory_bytes=self._memory_bytes, disk_bytes=self._disk_bytes, device=self._device
        )

    @property
    def num_bytes(self) -> int:
        return sum(voice.flow_state.num_bytes for voice in self._prepared.values())

    def features(self, key: str, make: Callable[[], VoicePrompt]) -> VoicePrompt:
        """The stored features of ``key``, else ``make()``, which is then stored."""
        path = self._folder / f"{key}.features.safetensors"
        with self._lock:
            if path.is_file():
                try:
                    return replace(read_features(path), key=key)
                except UnreadableClip:
                    _log.warning("made again: damaged %s", path.name)
            prompt = make()
            self._write(path, lambda temporary: save_arrays(feature_arrays(prompt), temporary))
            return prompt

    def prepared(self, prompt: VoicePrompt, *, progress: Callable[[float], None] | None = None) -> PreparedVoice:
        """The voice with its flow state: from memory, from disk, or made now."""
        with self._lock:
            return self._held(prompt) or self._made(prompt, progress)

    def on_demand(self, prompt: VoicePrompt, *, progress: Callable[[float], None] | None = None) -> VoiceOnDemand:
        """The voice at once; its state when it is asked for."""
        return VoiceOnDemand(prompt, _flow_prompt(prompt), lambda: self.prepared(prompt, progress=progress).flow_state)

    def clear_memory(self) -> None:
        with self._lock:
            self._prepared.clear()

    def _held(self, prompt: VoicePrompt) -> PreparedVoice | None:
        held = self._prepared.get(prompt.key)
        if held is None:
            return None
        self._prepared.move_to_end(prompt.key)
        return replace(held, prompt=prompt)

    def _made(self, prompt: VoicePrompt, progress: Callable[[float], None] | None) -> PreparedVoice:
        flow_prompt = _flow_prompt(prompt)
        state = self._in_use.get(prompt.key) or self._read_state(prompt, flow_prompt)
        if state is None:
            state = self._flow.prepare_prompt(flow_prompt, progress=progress)
            self._write_state(prompt, state)
        finish_for_others(self._device)
        self._in_use[prompt.key] = state
        voice = PreparedVoice(prompt, flow_prompt, state)
        self._prepared[prompt.key] = voice
        self._shrink_memory()
        return voice

    def _state_path(self, prompt: VoicePrompt) -> Path:
        digest = hashlib.sha256(f"{self._flow.prompt_key()}\0{prompt.key}\0".encode())
        digest.update(np.asarray(prompt.speech_tokens, dtype=np.int32).tobytes())
        digest.update(prompt.mel.tobytes())
        digest.update(prompt.embedding.tobytes())
        return self._folder / f"{digest.hexdigest()}.flow.safetensors"

    def _read_state(self, prompt: VoicePrompt, flow_prompt: FlowPrompt) -> FlowPromptState | None:
        path = self._state_path(prompt)
        if not self._disk_bytes or not path.is_file():
            return None
        try:
            tensors: Mapping[str, torch.Tensor] = load_tensors(path)
            state = self._flow.restore_prompt(flow_prompt, tensors)
            _read_pages(tensors.values())
        except (OSError, ValueError, KeyError, RuntimeError, safetensors.SafetensorError) as error:
            _log.warning("made again: %s does not fit (%s)", path.name, error)
            return None
        with contextlib.suppress(OSError):
            os.utime(path)  # most recently used
        return state

    def _write_state(self, prompt: VoicePrompt, state: FlowPromptState) -> None:
        if not self._disk_bytes or state.num_bytes > self._disk_bytes:
            return
        self._shrink_disk(state.num_bytes)
        tensors = {name: tensor.contiguous() for name, tensor in state.tensors().items()}
        self._write(self._state_path(prompt), lambda temporary: save_tensors(tensors, temporary))

    def _shrink_memory(self) -> None:
        while len(self._prepared) > 1 and self.num_bytes > self._memory_bytes:
            self._prepared.popitem(last=False)

    def _shrink_disk(self, coming_bytes: int) -> None:
        """Deletes the least recently used state files until ``coming_bytes`` fit under the limit."""
        with contextlib.suppress(OSError):
            files = sorted(self._folder.glob("*.flow.safetensors"), key=lambda path: path.stat().st_mtime)
            room = self._disk_bytes - coming_bytes - sum(path.stat().st_size for path in files)
            for path in files:
                if room >= 0:
                    break
                room += path.stat().st_size
                path.unlink()

    def _write(self, path: Path, save: Callable[[str], None]) -> None:
        """Beside, then renamed. A cache that cannot be written costs time, not the person's work."""
        started = time.perf_counter()
        temporary = ""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self._folder, prefix=".writing-", suffix=".safetensors")
            os.close(handle)
            save(temporary)
            os.replace(temporary, path)
        except (OSError, safetensors.SafetensorError) as error:
            _log.warning("the voice cache cannot be written: %s", error)
            if temporary:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
        else:
            _log.debug("wrote %s in %.2f s", path.name, time.perf_counter() - started)


def _flow_prompt(prompt: VoicePrompt) -> FlowPrompt:
    return FlowPrompt(prompt.speech_tokens, prompt.mel, prompt.embedding)


def _read_pages(mapped: Iterable[torch.Tensor]) -> None:
    """Fetches mapped tensors from disk now: the disk's time must not pass for the flow's (``pacing.py``)."""
    for tensor in mapped:
        tensor.flatten().view(torch.uint8)[:: mmap.PAGESIZE].sum()
