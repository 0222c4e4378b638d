"""Cache of prepared voices in memory and on disk.

*Features* (tokens, mel, embedding) are small and written at once. The *flow state* after the prompt is large:
at least 1.8 MB per mel frame. It is written in the background after the request, and mapped from disk on a CPU, where
that is faster than computing it. When the limit is reached, the least recently used files are deleted.
Files are written atomically, and damaged files are replaced.
"""

from __future__ import annotations

import contextlib
import copy
import hashlib
import logging
import mmap
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
import safetensors
import torch
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_file as load_tensors
from safetensors.torch import save_file as save_tensors

from studio.errors import UnreadableClip
from studio.model.generations import Generation
from studio.model.stages import FlowDecoder, FlowPrompt, FlowPromptState
from studio.model.torch_device import synchronize
from studio.pipeline.enrolment import FEATURE_VERSION, feature_arrays, read_features
from studio.pipeline.request import RequestControl, VoicePrompt, VoiceReference
from studio.storage.atomic_file import atomic_path, own_parts
from studio.storage.disk import require_regular_file
from studio.storage.lru import delete_least_used, mark_used

_log = logging.getLogger(__name__)

# Shorter than the time that a client waits for its worker to exit.
_CLOSE_WAIT_SECONDS = 3.0
# A write is abandoned if its file has not grown for this long.
_STALL_SECONDS = 10.0
_POLL_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class PreparedVoice:
    """A prompt with the flow state after it."""

    prompt: VoicePrompt
    flow_prompt: FlowPrompt
    flow_state: FlowPromptState
    was_cached: bool = True  # False: the state has been computed for this request


@dataclass(frozen=True, slots=True)
class LazyVoiceState:
    """A prompt whose flow state is fetched on each access and not kept.

    It is used for whole utterances, which may not need the state, and for batches of many voices: the state of one
    second of prompt takes at least 90 MB of GPU memory.
    """

    prompt: VoicePrompt
    flow_prompt: FlowPrompt
    fetch_state: Callable[[], FlowPromptState]
    was_cached: bool = True

    @property
    def flow_state(self) -> FlowPromptState:
        return self.fetch_state()


# File times advance in steps of up to two seconds, so a file that was written just now may change without a new time.
_SETTLED_NANOSECONDS = 3_000_000_000
# Keys of a flow and of a prompt.
_Key = tuple[str, str]
VoiceState = PreparedVoice | LazyVoiceState


def prompt_key(voice: VoiceReference, front_end_key: str) -> str:
    """Return the cache key of prompt features and flow state: a hash of the clip's bytes and the model's front end.

    The transcript is not part of the key: only the language model uses it, so editing it keeps the state. A clip whose
    file has not changed since the last call is not read again. Raise ``UnreadableClip``.
    """
    try:
        status = voice.clip.stat()
        version = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        is_settled = time.time_ns() - status.st_mtime_ns > _SETTLED_NANOSECONDS
        hash_clip = _hash_clip if is_settled else _hash_clip.__wrapped__
        return hash_clip(voice.clip, version, front_end_key)
    except OSError as error:
        raise UnreadableClip(
            "{file} cannot be opened.",
            remedy="Check the path and that the file may be read.",
            file=voice.clip.name or voice.clip,
        ) from error


@lru_cache(maxsize=256)
def _hash_clip(clip: Path, version: tuple[int, ...], front_end_key: str) -> str:  # noqa: ARG001 - part of the key
    digest = hashlib.sha256(f"{FEATURE_VERSION}\0{front_end_key}\0".encode())
    require_regular_file(clip)
    with clip.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


class BackgroundWriter:
    """Performs one write at a time, in the background. Thread-safe.

    To limit memory, at most one write is held besides the one in progress.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holding = threading.Lock()
        self.num_bytes = 0  # size of the last write
        self._held: Callable[[], None] | None = None
        self._is_due = False  # whether the held write follows the one in progress
        self._thread: threading.Thread | None = None

    def hold(self, write: Callable[[], None], num_bytes: int) -> None:
        """Hold ``write`` of ``num_bytes`` until ``start``.

        An earlier one is started. Only if a third one was held besides these, this waits for the disk.
        """
        with self._holding:
            self.start()
            if self._held is not None:
                self.wait()
            with self._lock:
                self._held, self.num_bytes, self._is_due = write, num_bytes, False

    def start(self) -> None:
        """Start the held write, if any, or let it follow the one in progress."""
        with self._lock:
            self._is_due = True
            if self._held is not None and not (self._thread and self._thread.is_alive()):
                write, self._held = self._held, None
                self._thread = threading.Thread(target=self._write, args=(write,), name="cache-writer", daemon=True)
                self._thread.start()

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait for the writes that were started. Return False after ``timeout_seconds``."""
        with self._lock:
            thread = self._thread
        if thread is None:
            return True
        thread.join(timeout_seconds)
        return not thread.is_alive()

    def _write(self, write: Callable[[], None] | None) -> None:
        while write is not None:
            write()
            with self._lock:
                write, self._held = (self._held, None) if self._is_due else (None, self._held)
                if write is None:
                    self._thread = None


class PromptCache:
    """Prepared voices of one loaded model on ``device``. Thread-safe.

    ``memory_bytes`` limits the flow states in memory, of which the last one is always kept. ``disk_bytes`` limits the
    state files; 0 disables them.
    """

    def __init__(
        self,
        folder: Path,
        flow: FlowDecoder,
        generation: Generation,
        *,
        memory_bytes: int,
        disk_bytes: int,
        device: str = "cpu",
        writer: BackgroundWriter | None = None,
    ) -> None:
        self._folder = folder
        self._flow = flow
        self._flow_key = flow.prompt_key()
        self._generation = generation
        self._memory_bytes = memory_bytes
        self._disk_bytes = disk_bytes
        self._device = device
        self._writer = writer or BackgroundWriter()
        self._prepared: OrderedDict[_Key, PreparedVoice] = OrderedDict()
        # States that are still in use, even after eviction, so that no state is loaded twice.
        self._in_use: WeakValueDictionary[_Key, FlowPromptState] = WeakValueDictionary()
        self._lock = threading.Lock()

    def for_flow(self, flow: FlowDecoder) -> PromptCache:
        """Return a cache with the same folder and limits for another engine, whose states differ."""
        return PromptCache(
            self._folder,
            flow,
            self._generation,
            memory_bytes=self._memory_bytes,
            disk_bytes=self._disk_bytes,
            device=self._device,
            writer=self._writer,
        )

    def for_solver(self, flow: FlowDecoder) -> PromptCache:
        """Return this cache for the same engine with another solver. Both share memory, disk and their limits."""
        cache = copy.copy(self)
        cache._flow, cache._flow_key = flow, flow.prompt_key()
        return cache

    @property
    def num_bytes(self) -> int:
        return sum(voice.flow_state.num_bytes for voice in self._prepared.values())

    def features(self, key: str, make: Callable[[], VoicePrompt]) -> VoicePrompt:
        """Return the features of ``key`` in memory or on disk. If there are none, store the result of ``make()``."""
        path = self._folder / f"{key}.features.safetensors"
        with self._lock:
            voice = self._prepared.get((self._flow_key, key))
            if voice is not None:
                return voice.prompt
            if path.is_file():
                try:
                    return replace(read_features(path, self._generation), key=key)
                except UnreadableClip:
                    _log.warning("replacing damaged %s", path.name)
            prompt = make()
            self._write(path, lambda temporary: save_arrays(feature_arrays(prompt), temporary))
            return prompt

    def prepared(self, prompt: VoicePrompt, *, progress: Callable[[float], None] | None = None) -> PreparedVoice:
        """Return the voice with its flow state. A new state is computed now, and written to disk later."""
        with self._lock:
            voice = self._cached(prompt)
            if voice is not None:
                return voice
            voice, is_new = self._prepare(prompt, progress)
            voice = replace(voice, was_cached=not is_new)
        if is_new and 0 < voice.flow_state.num_bytes <= self._disk_bytes:
            num_bytes = voice.flow_state.num_bytes
            self._writer.hold(partial(self._write_state, prompt, voice.flow_state), num_bytes)
        return voice

    @contextmanager
    def writes_afterwards(self) -> Iterator[None]:
        """Write new flow states only when the block ends, so that writing does not delay a request."""
        try:
            yield
        finally:
            self._writer.start()

    def on_demand(self, prompt: VoicePrompt, *, progress: Callable[[float], None] | None = None) -> LazyVoiceState:
        """Return the voice without its flow state, which is fetched on access."""
        with self._lock:
            was_cached = (
                self._key(prompt) in self._prepared
                or self._key(prompt) in self._in_use
                or self._state_path(prompt).is_file()
            )
        return LazyVoiceState(
            prompt,
            _flow_prompt(prompt),
            lambda: self.prepared(prompt, progress=progress).flow_state,
            was_cached=was_cached,
        )

    def finish_writes(self, control: RequestControl) -> None:
        """Wait for the write in progress, for as long as its file keeps growing. ``control`` reports the stage "save" and may cancel.

        Call this before the process exits, because computing the state again takes up to a minute on a CPU.
        """
        self._writer.start()
        num_written, deadline = -1, 0.0
        while not self._writer.wait(_POLL_SECONDS):
            control.raise_if_cancelled()
            before, num_written = num_written, self._bytes_written()
            if num_written > before:
                deadline = time.monotonic() + _STALL_SECONDS
                control.report_progress("save", min(1.0, num_written / max(1, self._writer.num_bytes)))
            elif time.monotonic() > deadline:
                _log.warning("the voice cache was not written: the disk does not respond")
                return

    def close(self) -> None:
        """Free the memory. A write that takes too long is abandoned."""
        self._writer.start()
        if not self._writer.wait(_CLOSE_WAIT_SECONDS):
            _log.warning("the voice cache was not written in time")
            for path in own_parts(self._folder):
                with contextlib.suppress(OSError):
                    path.unlink()
        with self._lock:
            self._prepared.clear()

    def _cached(self, prompt: VoicePrompt) -> PreparedVoice | None:
        cached = self._prepared.get(self._key(prompt))
        if cached is None:
            return None
        self._prepared.move_to_end(self._key(prompt))
        return replace(cached, prompt=prompt)

    def _prepare(self, prompt: VoicePrompt, progress: Callable[[float], None] | None) -> tuple[PreparedVoice, bool]:
        """Return the voice, and whether its state was computed now."""
        flow_prompt = _flow_prompt(prompt)
        state = self._in_use.get(self._key(prompt)) or self._read_state(prompt, flow_prompt)
        is_new = state is None
        if state is None:
            state = self._flow.prepare_prompt(flow_prompt, progress=progress)
        synchronize(self._device)
        self._in_use[self._key(prompt)] = state
        voice = PreparedVoice(prompt, flow_prompt, state)
        self._prepared[self._key(prompt)] = voice
        self._shrink_memory()
        return voice, is_new

    def _key(self, prompt: VoicePrompt) -> _Key:
        return self._flow_key, prompt.key

    def _state_path(self, prompt: VoicePrompt) -> Path:
        digest = hashlib.sha256(f"{self._flow_key}\0{prompt.key}\0".encode())
        digest.update(np.asarray(prompt.flow_tokens, dtype=np.int32).tobytes())
        digest.update(prompt.flow_mel.tobytes())
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
            _log.warning("replacing unusable %s (%s)", path.name, error)
            return None
        mark_used(path)
        return state

    def _write_state(self, prompt: VoicePrompt, state: FlowPromptState) -> None:
        delete_least_used(self._folder.glob("*.flow.safetensors"), max_bytes=self._disk_bytes - state.num_bytes)
        tensors = {name: tensor.contiguous() for name, tensor in state.tensors().items()}
        self._write(self._state_path(prompt), lambda temporary: save_tensors(tensors, temporary))

    def _bytes_written(self) -> int:
        num_bytes = 0
        for path in own_parts(self._folder):
            with contextlib.suppress(OSError):  # already renamed
                num_bytes += path.stat().st_size
        return num_bytes

    def _shrink_memory(self) -> None:
        while len(self._prepared) > 1 and self.num_bytes > self._memory_bytes:
            self._prepared.popitem(last=False)

    def _write(self, path: Path, save: Callable[[str], None]) -> None:
        """Write ``path`` atomically. Failures are only logged: without the cache, the voice is prepared again."""
        started = time.perf_counter()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with atomic_path(path, syncs=False) as part:  # a power cut costs only time
                save(str(part))
        except (OSError, safetensors.SafetensorError) as error:
            _log.warning("cannot write the voice cache: %s", error)
        else:
            _log.debug("wrote %s in %.2f s", path.name, time.perf_counter() - started)


def _flow_prompt(prompt: VoicePrompt) -> FlowPrompt:
    return FlowPrompt(prompt.flow_tokens, prompt.flow_mel, prompt.embedding)


def _read_pages(mapped: Iterable[torch.Tensor]) -> None:
    """Read mapped tensors from disk now, so that disk time is not measured as flow time (``pacing.py``)."""
    for tensor in mapped:
        tensor.flatten().view(torch.uint8)[:: mmap.PAGESIZE].sum()
