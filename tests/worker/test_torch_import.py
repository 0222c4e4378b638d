"""Torch in the worker, without the parts that it does not use."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

from studio.worker import torch_import

# What the stages do with torch, in a process of its own: tests import all of torch.
USE = """
import sys
from studio.worker.torch_import import UNUSED_PARTS, import_torch
import_torch()
import torch
import torch.nn.functional as F
torch.set_num_threads(1)
with torch.device("meta"):
    network = torch.nn.Sequential(torch.nn.Conv1d(2, 2, 3), torch.nn.LayerNorm(4), torch.nn.MultiheadAttention(4, 2))
network.to_empty(device="cpu").load_state_dict({name: torch.ones_like(part) for name, part in network.state_dict().items()})
with torch.inference_mode():
    rows = torch.rand(1, 4, 8, generator=torch.Generator().manual_seed(1))
    F.scaled_dot_product_attention(rows, rows, rows)
    torch.istft(torch.stft(rows[0], 4, window=torch.hann_window(4), return_complex=True), 4, window=torch.hann_window(4))
    F.silu(F.embedding(torch.tensor([1]), rows[0])).to(torch.bfloat16).softmax(-1).multinomial(1)
import studio.worker.server, studio.pipeline.loading
print(len([name for name in UNUSED_PARTS if hasattr(sys.modules[name], "__file__")]), len(sys.modules))
"""


def test_the_stages_work_without_the_parts() -> None:
    result = subprocess.run([sys.executable, "-c", USE], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    num_imported, num_modules = map(int, result.stdout.split())
    assert num_imported == 0
    plain = subprocess.run(
        [sys.executable, "-c", "import sys, torch, studio.worker.server, studio.pipeline.loading; print(len(sys.modules))"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert num_modules < int(plain.stdout) - 150, "what is saved"


def test_the_installed_torch_is_one_of_the_tested_releases() -> None:
    assert version("torch").startswith(torch_import._TESTED_RELEASES)


def test_another_release_of_torch_is_imported_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(sys.modules)
    monkeypatch.setattr(torch_import, "version", lambda name: "2.14.0")
    torch_import.import_torch()
    assert sys.modules == before
