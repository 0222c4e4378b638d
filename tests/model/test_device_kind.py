"""Device kinds and their constants."""

from __future__ import annotations

import pytest
import torch

from studio.model.device_kind import DeviceKind


@pytest.mark.parametrize("kind", list(DeviceKind))
def test_every_kind_is_a_torch_device_type_with_traits(kind: DeviceKind) -> None:
    assert torch.device(kind.value).type == kind.value
    assert kind.traits.reserved_bytes > 0
    assert 0 < kind.traits.voice_memory_share + kind.traits.line_memory_share < 0.95, "the rest is for everything else"
    assert kind.traits.reduced_precisions
