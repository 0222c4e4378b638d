"""Voices are cached in memory and on disk within limits, and stored files are verified."""

from __future__ import annotations

import errno
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from studio.errors import UnreadableClip
from studio.model.generations import COSYVOICE3
from studio.model.stages import FlowPrompt, FlowPromptState
from studio.pipeline import prompt_cache
from studio.pipeline.prompt_cache import BackgroundWriter, PreparedVoice, PromptCache, prompt_key
from studio.pipeline.request import Cancelled, RequestControl, VoicePrompt, VoiceReference
from studio.storage.atomic_file import new_part

STATE_VALUES = 1000


class FakeState:
    def __init__(self, tensors: Mapping[str, torch.Tensor]) -> None:
        self._tensors = dict(tensors)

    @property
    def num_bytes(self) -> int:
        return sum(tensor.nbytes for tensor in self._tensors.values())

    def tensors(self) -> Mapping[str, torch.Tensor]:
        return self._tensors


class FakeFlow:
    """Counts how often a voice is computed."""

    chunk_tokens, lookahead_tokens, streams_exactly = 25, 3, True

    def __init__(self, key: str = "flow") -> None:
        self.num_prepared = 0
        self._key = key

    def prepare_prompt(self, prompt: FlowPrompt, *, progress: Callable[[float], None] | None = None) -> FlowPromptState:
        self.num_prepared += 1
        return FakeState({"state": torch.full((STATE_VALUES,), float(len(prompt.speech_tokens)))})

    def restore_prompt(self, prompt: FlowPrompt, tensors: Mapping[str, torch.Tensor]) -> FlowPromptState:
        if tensors["state"].shape != (STATE_VALUES,):
            raise ValueError("another layout")
        return FakeState(tensors)

    def frames_of_tokens(self, num_tokens: int) -> int:
        return 2 * num_tokens

    def prompt_key(self) -> str:
        return self._key

    open_stream = decode_whole = None


def prompt(num_tokens: int) -> VoicePrompt:
    return VoicePrompt(
        key=f"{num_tokens:064x}",
        name="n",
        transcript=None,
        clip_seconds=num_tokens / 25,
        speech_tokens=tuple(range(num_tokens)),
        mel=np.full((2 * num_tokens, 80), 0.5, np.float32),
        embedding=np.ones(192, np.float32),
        warnings=("A sentence.", "Another one: 太短"),
    )


def store(folder: Path, flow: FakeFlow, *, memory: int = 1 << 20, disk: int = 1 << 20) -> PromptCache:
    return PromptCache(folder, flow, COSYVOICE3, memory_bytes=memory, disk_bytes=disk)  # type: ignore[arg-type]


def prepare_and_close(store: PromptCache, prompt: VoicePrompt) -> PreparedVoice:
    prepared = store.prepared(prompt)
    store.close()
    return prepared


def state_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.flow.safetensors"))


def test_a_voice_is_prepared_once_and_then_read_from_memory_or_disk(tmp_path: Path) -> None:
    flow = FakeFlow()
    first = store(tmp_path, flow)
    assert first.prepared(prompt(5)).flow_state is first.prepared(prompt(5)).flow_state
    first.close()
    restored = prepare_and_close(store(tmp_path, flow), prompt(5))
    assert flow.num_prepared == 1
    assert torch.equal(restored.flow_state.tensors()["state"], torch.full((STATE_VALUES,), 5.0))


def test_solvers_of_a_flow_share_the_limits_and_have_their_own_states(tmp_path: Path) -> None:
    exact, reduced = FakeFlow("exact"), FakeFlow("reduced")
    cache = store(tmp_path, exact, memory=8 * STATE_VALUES)
    other = cache.for_solver(reduced)  # type: ignore[arg-type]
    states = [each.prepared(prompt(5)).flow_state for each in (cache, other)]
    assert states[0] is not states[1]
    assert [each.prepared(prompt(5)).flow_state for each in (cache, other)] == states
    assert (exact.num_prepared, reduced.num_prepared) == (1, 1)
    assert cache.num_bytes == other.num_bytes == 2 * 4 * STATE_VALUES
    other.prepared(prompt(6))
    assert cache.num_bytes == 2 * 4 * STATE_VALUES  # the least recently used state was dropped
    cache.close()
    assert other.num_bytes == 0
    assert len(state_files(tmp_path)) == 3


def test_a_voice_says_whether_its_state_was_cached(tmp_path: Path) -> None:
    flow = FakeFlow()
    cache = store(tmp_path, flow)
    assert not cache.on_demand(prompt(5)).was_cached
    assert not cache.prepared(prompt(5)).was_cached
    assert cache.prepared(prompt(5)).was_cached
    assert cache.on_demand(prompt(5)).was_cached
    cache.close()
    assert store(tmp_path, flow).prepared(prompt(5)).was_cached, "it is on disk"


def test_another_flow_uses_another_state(tmp_path: Path) -> None:
    prepare_and_close(store(tmp_path, FakeFlow("weights A")), prompt(5))
    other = FakeFlow("weights B")
    prepare_and_close(store(tmp_path, other), prompt(5))
    assert other.num_prepared == 1
    assert len(state_files(tmp_path)) == 2


@pytest.mark.parametrize("content", [b"", b"\x08\0\0\0\0\0\0\0{}......", b"x" * 5000])
def test_a_damaged_state_is_computed_again(tmp_path: Path, content: bytes) -> None:
    flow = FakeFlow()
    prepare_and_close(store(tmp_path, flow), prompt(5))
    state_files(tmp_path)[0].write_bytes(content)
    prepare_and_close(store(tmp_path, flow), prompt(5))
    assert flow.num_prepared == 2
    prepare_and_close(store(tmp_path, flow), prompt(5))
    assert flow.num_prepared == 2, "the damaged file was replaced"


def test_a_state_of_another_voice_in_the_file_is_replaced(tmp_path: Path) -> None:
    flow = FakeFlow()
    prepare_and_close(store(tmp_path, flow), prompt(5))
    prompt_cache.save_tensors({"state": torch.zeros(3)}, state_files(tmp_path)[0])
    prepare_and_close(store(tmp_path, flow), prompt(5))
    assert flow.num_prepared == 2


def test_features_are_stored_with_their_warnings(tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> VoicePrompt:
        made.append(1)
        return prompt(7)

    kept = store(tmp_path, FakeFlow())
    kept.features("k" * 64, make)
    again = kept.features("k" * 64, make)
    assert made == [1]
    assert again.speech_tokens == prompt(7).speech_tokens
    assert again.warnings == prompt(7).warnings
    np.testing.assert_array_equal(again.mel, prompt(7).mel)
    (tmp_path / f"{'k' * 64}.features.safetensors").write_bytes(b"broken")
    assert kept.features("k" * 64, make).num_tokens == 7
    assert made == [1, 1]


def test_a_state_in_use_is_not_computed_again_after_eviction(tmp_path: Path) -> None:
    """Concurrent lines of two voices share one state per voice, even if the limit permits only one."""
    flow = FakeFlow()
    small = store(tmp_path, flow, memory=4 * STATE_VALUES, disk=0)
    lines = [small.prepared(prompt(tokens)) for tokens in (1, 2, 1, 2, 1)]
    assert flow.num_prepared == 2
    assert small.num_bytes == 4 * STATE_VALUES
    del lines
    small.prepared(prompt(2))
    assert flow.num_prepared == 3, "the state was no longer cached"


def test_states_on_demand_are_freed_when_no_longer_used(tmp_path: Path) -> None:
    """Successive lines of many voices, with a limit of one voice."""
    flow = FakeFlow()
    small = store(tmp_path, flow, memory=4 * STATE_VALUES, disk=0)
    lines = [small.on_demand(prompt(tokens)) for tokens in (1, 2, 3)]
    assert flow.num_prepared == 0
    held = []
    for line in lines:
        state = line.flow_state
        assert state is line.flow_state
        held.append(weakref.ref(state))
    del state
    assert [state() is None for state in held] == [True, True, False]
    assert flow.num_prepared == 3


def test_memory_keeps_the_most_recently_used_voices_within_its_limit(tmp_path: Path) -> None:
    flow = FakeFlow()
    two_states = 2 * 4 * STATE_VALUES
    small = store(tmp_path, flow, memory=two_states, disk=0)
    for tokens in (1, 2, 1, 3):
        small.prepared(prompt(tokens))
    assert flow.num_prepared == 3
    assert small.num_bytes == two_states
    small.prepared(prompt(1))
    assert flow.num_prepared == 3, "voice 1 was used after voice 2, so 2 had to go"
    small.prepared(prompt(2))
    assert flow.num_prepared == 4


def test_the_last_voice_is_kept_even_above_the_limit(tmp_path: Path) -> None:
    flow = FakeFlow()
    tiny = store(tmp_path, flow, memory=1, disk=0)
    tiny.prepared(prompt(1))
    tiny.prepared(prompt(1))
    assert flow.num_prepared == 1


def test_the_disk_limit_deletes_the_least_recently_used_state(tmp_path: Path) -> None:
    flow = FakeFlow()
    room_for_two = 2 * (4 * STATE_VALUES + 200)
    for age, tokens in enumerate((1, 2)):
        prepare_and_close(store(tmp_path, flow, disk=room_for_two), prompt(tokens))
        for path in state_files(tmp_path):
            if path.stat().st_mtime > 1000:
                os.utime(path, (age + 1, age + 1))
    prepare_and_close(store(tmp_path, flow, disk=room_for_two), prompt(1))
    prepare_and_close(store(tmp_path, flow, disk=room_for_two), prompt(3))
    assert len(state_files(tmp_path)) == 2
    assert flow.num_prepared == 3
    prepare_and_close(store(tmp_path, flow, disk=room_for_two), prompt(1))
    assert flow.num_prepared == 3, "voice 1 was read after voice 2 was written"


def test_a_limit_of_zero_writes_nothing(tmp_path: Path) -> None:
    prepare_and_close(store(tmp_path, FakeFlow(), disk=0), prompt(5))
    assert state_files(tmp_path) == []


def test_a_full_disk_is_no_error_and_leaves_no_partial_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room(_tensors: object, path: str) -> None:
        Path(path).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(prompt_cache, "save_tensors", no_room)
    monkeypatch.setattr(prompt_cache, "save_arrays", no_room)
    kept = store(tmp_path, FakeFlow())
    assert kept.features("k" * 64, lambda: prompt(4)).num_tokens == 4
    assert prepare_and_close(kept, prompt(4)).prompt.num_tokens == 4
    assert list(tmp_path.iterdir()) == []


class SlowDisk:
    """``save_tensors`` writes half a file, then waits until ``may_finish``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_begun, self.may_finish = threading.Event(), threading.Event()
        self.num_saved = 0
        self._save = prompt_cache.save_tensors
        monkeypatch.setattr(prompt_cache, "save_tensors", self.save)

    def save(self, tensors: dict[str, torch.Tensor], path: str) -> None:
        Path(path).write_bytes(b"half")
        self.has_begun.set()
        assert self.may_finish.wait(60)
        self._save(tensors, path)
        self.num_saved += 1


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowDisk]:
    slow = SlowDisk(monkeypatch)
    yield slow
    slow.may_finish.set()


def test_the_first_audio_of_a_new_voice_does_not_wait_for_the_disk(tmp_path: Path, disk: SlowDisk) -> None:
    flow = FakeFlow()
    kept = store(tmp_path, flow)
    with kept.writes_afterwards():
        first = kept.prepared(prompt(5))
        assert not disk.has_begun.is_set(), "the request's sound comes first"
    assert disk.has_begun.wait(60)
    second = kept.prepared(prompt(5))
    other = kept.features("k" * 64, lambda: prompt(7))
    assert second.flow_state is first.flow_state
    assert (flow.num_prepared, other.num_tokens) == (1, 7), "nothing waits for the write"
    assert state_files(tmp_path) == []
    disk.may_finish.set()
    kept.close()
    assert len(state_files(tmp_path)) == 1


def test_the_voice_of_a_failed_request_is_written(tmp_path: Path) -> None:
    kept = store(tmp_path, FakeFlow())

    def fail() -> None:
        with kept.writes_afterwards():
            kept.prepared(prompt(5))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert kept._writer.wait(60)
    assert len(state_files(tmp_path)) == 1


def test_close_abandons_a_write_that_takes_too_long(
    tmp_path: Path, disk: SlowDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prompt_cache, "_CLOSE_WAIT_SECONDS", 0.05)
    kept = store(tmp_path, FakeFlow())
    with kept.writes_afterwards():
        kept.prepared(prompt(5))
    assert disk.has_begun.wait(60)
    kept.close()
    assert list(tmp_path.iterdir()) == [], "no partial file"


class FakeDisk:
    """A writer of 20 steps of five seconds each on a virtual clock, of which ``num_growing`` add a byte."""

    def __init__(self, folder: Path, num_growing: int) -> None:
        self.seconds = 0.0
        self.num_waits = 0
        self.num_bytes = num_growing
        self._num_growing = num_growing
        self._path = new_part(folder)

    def start(self) -> None: ...

    def wait(self, timeout_seconds: float | None = None) -> bool:
        self.num_waits += 1
        self.seconds += 5.0
        self._path.write_bytes(bytes(min(self.num_waits, self._num_growing)))
        return self.num_waits > 20


@pytest.mark.parametrize(("num_growing", "num_waits"), [(20, 21), (3, 6)])
def test_finish_writes_waits_while_the_file_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, num_growing: int, num_waits: int
) -> None:
    disk = FakeDisk(tmp_path, num_growing)
    clock = SimpleNamespace(monotonic=lambda: disk.seconds, perf_counter=time.perf_counter, time=time.time)
    monkeypatch.setattr(prompt_cache, "time", clock)
    cache = PromptCache(tmp_path, FakeFlow(), COSYVOICE3, memory_bytes=1, disk_bytes=1, writer=disk)  # type: ignore[arg-type]
    cache.finish_writes(RequestControl())
    assert disk.num_waits == num_waits


def test_waiting_for_a_write_can_be_cancelled(tmp_path: Path) -> None:
    control = RequestControl()
    control.cancel()
    disk = FakeDisk(tmp_path, 20)
    cache = PromptCache(tmp_path, FakeFlow(), COSYVOICE3, memory_bytes=1, disk_bytes=1, writer=disk)  # type: ignore[arg-type]
    with pytest.raises(Cancelled):
        cache.finish_writes(control)
    assert disk.num_waits == 1


def test_new_voices_are_held_until_they_are_written(tmp_path: Path) -> None:
    kept = store(tmp_path, FakeFlow(), memory=1)
    held = []
    with kept.writes_afterwards():
        held += [weakref.ref(kept.prepared(prompt(tokens)).flow_state) for tokens in (1, 2, 3)]
        assert held[-1]() is not None
    assert kept._writer.wait(60)
    assert [state() is None for state in held] == [True, True, False]
    assert len(state_files(tmp_path)) == 3


def test_a_cache_for_another_flow_writes_after_the_first_one(tmp_path: Path, disk: SlowDisk) -> None:
    first = store(tmp_path, FakeFlow("first"))
    with first.writes_afterwards():
        first.prepared(prompt(5))
    second = first.for_flow(FakeFlow("second"))  # type: ignore[arg-type]
    assert disk.has_begun.wait(60)
    disk.may_finish.set()
    prepare_and_close(second, prompt(5))
    assert len(state_files(tmp_path)) == 2


def test_a_gpu_voice_is_synchronized_before_another_stream_uses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished: list[str] = []
    monkeypatch.setattr(prompt_cache, "synchronize", finished.append)
    on_card = PromptCache(tmp_path, FakeFlow(), COSYVOICE3, memory_bytes=1 << 20, disk_bytes=0, device="cuda:1")  # type: ignore[arg-type]
    on_card.prepared(prompt(5))
    assert finished == ["cuda:1"]
    on_card.prepared(prompt(5))
    on_card.for_flow(FakeFlow("another")).prepared(prompt(5))  # type: ignore[arg-type]
    assert finished == ["cuda:1", "cuda:1"]


def test_the_key_depends_on_clip_and_front_end_but_not_on_the_transcript(tmp_path: Path) -> None:
    clip = tmp_path / "a.wav"
    clip.write_bytes(b"one")
    key = prompt_key(VoiceReference(clip, transcript="x"), "front")
    assert key == prompt_key(VoiceReference(clip, transcript="y", name="n"), "front")
    assert key != prompt_key(VoiceReference(clip), "another front end")
    clip.write_bytes(b"two")
    assert key != prompt_key(VoiceReference(clip), "front")


def test_a_clip_is_read_again_only_if_its_file_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clip, read = tmp_path / "clip.wav", list[Path]()
    require = prompt_cache.require_regular_file
    monkeypatch.setattr(prompt_cache, "require_regular_file", lambda path: (read.append(path), require(path))[1])
    clip.write_bytes(b"one")
    prompt_key(VoiceReference(clip), "front")
    prompt_key(VoiceReference(clip), "front")
    assert len(read) == 2  # it may be written again without a new time
    os.utime(clip, (1, 1))
    read.clear()
    keys = [prompt_key(VoiceReference(clip), "front") for _ in range(3)]
    assert len(set(keys)) == len(read) == 1
    clip.with_name("new.wav").write_bytes(b"two")
    clip.with_name("new.wav").replace(clip)
    os.utime(clip, (1, 1))
    assert prompt_key(VoiceReference(clip), "front") != keys[0]
    clip.unlink()
    with pytest.raises(UnreadableClip):
        prompt_key(VoiceReference(clip), "front")


@pytest.mark.timeout(60)
def test_a_second_new_voice_does_not_wait_for_the_disk() -> None:
    writer, begun, may_end, written = BackgroundWriter(), threading.Event(), threading.Event(), list[str]()

    def write_slowly() -> None:
        begun.set()
        may_end.wait()
        written.append("first")

    writer.hold(write_slowly, 1)
    writer.start()
    begun.wait()
    writer.hold(lambda: written.append("second"), 1)
    assert not writer.wait(0.0)
    may_end.set()
    assert writer.wait()
    assert written == ["first"], "the request of the second voice has not ended"
    begun.clear()
    may_end.clear()
    writer.hold(write_slowly, 1)  # starts the second one
    writer.start()
    begun.wait()
    writer.hold(lambda: written.append("fourth"), 1)
    writer.start()  # while the third one is written
    may_end.set()
    assert writer.wait()
    assert written == ["first", "second", "first", "fourth"]
