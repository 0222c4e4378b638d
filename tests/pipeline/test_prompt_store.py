"""Voices are kept in memory and on disk within their limits, and nothing stored is believed unseen."""

from __future__ import annotations

import errno
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
import torch

from studio.model.stages import FlowPrompt, FlowPromptState
from studio.pipeline import prompt_store
from studio.pipeline.prompt_store import PromptStore
from studio.voices.prompt import VoicePrompt

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
    """Counts how often a voice had to be computed."""

    grid_tokens, look_ahead_tokens, frames_per_token = 25, 3, 2

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


def store(folder: Path, flow: FakeFlow, *, memory: int = 1 << 20, disk: int = 1 << 20) -> PromptStore:
    return PromptStore(folder, flow, memory_bytes=memory, disk_bytes=disk)  # type: ignore[arg-type]


def state_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.flow.safetensors"))


def test_a_voice_is_prepared_once_per_memory_and_once_per_disk(tmp_path: Path) -> None:
    flow = FakeFlow()
    first = store(tmp_path, flow)
    assert first.prepared(prompt(5)).flow_state is first.prepared(prompt(5)).flow_state
    restored = store(tmp_path, flow).prepared(prompt(5))
    assert flow.num_prepared == 1
    assert torch.equal(restored.flow_state.tensors()["state"], torch.full((STATE_VALUES,), 5.0))


def test_another_flow_another_state(tmp_path: Path) -> None:
    store(tmp_path, FakeFlow("weights A")).prepared(prompt(5))
    other = FakeFlow("weights B")
    store(tmp_path, other).prepared(prompt(5))
    assert other.num_prepared == 1
    assert len(state_files(tmp_path)) == 2


@pytest.mark.parametrize("content", [b"", b"\x08\0\0\0\0\0\0\0{}......", b"x" * 5000])
def test_a_damaged_state_is_made_again(tmp_path: Path, content: bytes) -> None:
    flow = FakeFlow()
    store(tmp_path, flow).prepared(prompt(5))
    state_files(tmp_path)[0].write_bytes(content)
    store(tmp_path, flow).prepared(prompt(5))
    assert flow.num_prepared == 2
    store(tmp_path, flow).prepared(prompt(5))
    assert flow.num_prepared == 2, "the damaged file was replaced"


def test_a_foreign_state_under_the_right_name_is_made_again(tmp_path: Path) -> None:
    flow = FakeFlow()
    store(tmp_path, flow).prepared(prompt(5))
    prompt_store.save_tensors({"state": torch.zeros(3)}, state_files(tmp_path)[0])
    store(tmp_path, flow).prepared(prompt(5))
    assert flow.num_prepared == 2


def test_features_are_kept_with_their_warnings(tmp_path: Path) -> None:
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


def test_a_voice_that_a_line_still_speaks_with_is_not_made_a_second_time(tmp_path: Path) -> None:
    """Lines side by side in turns with two voices, and room for one: not every line has a state of its own."""
    flow = FakeFlow()
    small = store(tmp_path, flow, memory=4 * STATE_VALUES, disk=0)
    lines = [small.prepared(prompt(tokens)) for tokens in (1, 2, 1, 2, 1)]
    assert flow.num_prepared == 2
    assert small.num_bytes == 4 * STATE_VALUES
    del lines
    small.prepared(prompt(2))
    assert flow.num_prepared == 3, "nobody had it any more"


def test_voices_on_demand_are_held_by_whoever_asked_and_no_longer(tmp_path: Path) -> None:
    """Lines of many voices that stand in a row, and room for one voice."""
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


def test_memory_keeps_the_last_used_voices_within_its_budget(tmp_path: Path) -> None:
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


def test_the_voice_in_use_is_kept_however_large(tmp_path: Path) -> None:
    flow = FakeFlow()
    tiny = store(tmp_path, flow, memory=1, disk=0)
    tiny.prepared(prompt(1))
    tiny.prepared(prompt(1))
    assert flow.num_prepared == 1


def test_the_disk_limit_drops_the_least_recently_used(tmp_path: Path) -> None:
    import os

    flow = FakeFlow()
    room_for_two = 2 * (4 * STATE_VALUES + 200)
    for age, tokens in enumerate((1, 2)):
        store(tmp_path, flow, disk=room_for_two).prepared(prompt(tokens))
        for path in state_files(tmp_path):
            if path.stat().st_mtime > 1000:
                os.utime(path, (age + 1, age + 1))
    store(tmp_path, flow, disk=room_for_two).prepared(prompt(1))
    store(tmp_path, flow, disk=room_for_two).prepared(prompt(3))
    assert len(state_files(tmp_path)) == 2
    assert flow.num_prepared == 3
    store(tmp_path, flow, disk=room_for_two).prepared(prompt(1))
    assert flow.num_prepared == 3, "voice 1 was read after voice 2 was written"


def test_a_limit_of_zero_writes_nothing(tmp_path: Path) -> None:
    store(tmp_path, FakeFlow(), disk=0).prepared(prompt(5))
    assert state_files(tmp_path) == []


def test_a_full_disk_costs_only_time_and_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(_tensors: object, path: str) -> None:
        Path(path).write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(prompt_store, "save_tensors", no_room)
    monkeypatch.setattr(prompt_store, "save_arrays", no_room)
    kept = store(tmp_path, FakeFlow())
    assert kept.features("k" * 64, lambda: prompt(4)).num_tokens == 4
    assert kept.prepared(prompt(4)).prompt.num_tokens == 4
    assert list(tmp_path.iterdir()) == []


def test_a_voice_on_a_card_is_computed_before_a_line_on_another_stream_may_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished: list[str] = []
    monkeypatch.setattr(prompt_store, "finish_for_others", finished.append)
    on_card = PromptStore(tmp_path, FakeFlow(), memory_bytes=1 << 20, disk_bytes=0, device="cuda:1")  # type: ignore[arg-type]
    on_card.prepared(prompt(5))
    assert finished == ["cuda:1"]
    on_card.prepared(prompt(5))
    on_card.for_flow(FakeFlow("another")).prepared(prompt(5))  # type: ignore[arg-type]
    assert finished == ["cuda:1", "cuda:1"]
