"""Filter for long silences in CosyVoice3."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from safetensors.torch import load_file

from studio.pipeline.evidence import filter_silent_tokens


@pytest.mark.reference
def test_the_recorded_tokens(reference: Path) -> None:
    golden = reference / "cosyvoice3" / "golden"
    arrays = load_file(golden / "e2e.safetensors")
    silent = json.loads((golden / "e2e.json").read_text("utf-8"))["silent_tokens"]
    kept = list(filter_silent_tokens(arrays["silent/in"].flatten().tolist(), silent))
    assert kept == arrays["silent/out"].flatten().tolist()


def test_each_run_is_shortened_to_five() -> None:
    tokens = [9, *[1, 2] * 4, 9, *[2] * 5, 9]
    assert list(filter_silent_tokens(tokens, {1, 2})) == [9, 1, 2, 1, 2, 1, 9, *[2] * 5, 9]


def test_tokens_are_filtered_one_at_a_time() -> None:
    asked = []
    tokens = filter_silent_tokens((asked.append(token) or token for token in range(5)), {1})
    assert (next(tokens), asked) == (0, [0])
