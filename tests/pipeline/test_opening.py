"""How much of the machine a model takes when it is opened."""

from __future__ import annotations

from types import SimpleNamespace

import psutil
import pytest
import torch

from studio.pipeline.opening import _voice_memory_bytes


def test_voices_have_a_share_of_the_memory_they_lie_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small card in a computer with much memory is not filled with voices."""
    free = {torch.device("cuda", 1): 4 << 30}
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free[device], 8 << 30))
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=10 << 30))
    assert _voice_memory_bytes(torch.device("cuda:1")) == 1 << 30
    assert _voice_memory_bytes(torch.device("cpu")) == 4 << 30
