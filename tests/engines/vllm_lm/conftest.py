"""Fakes of the vLLM modules that the engine uses."""

from __future__ import annotations

import sys
from types import ModuleType

import fake_vllm_library
import pytest


@pytest.fixture
def fake_library(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    modules = fake_vllm_library.fake_modules()
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return modules
