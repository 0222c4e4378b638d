"""Imports that wait until they are needed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from studio.worker import deferred_modules
from studio.worker.deferred_modules import TORCH_MODULES, defer_modules

PACKAGE = {
    "__init__.py": "from shelf import back as back\nfrom shelf.front import greet as greet\nfrom shelf import last\n",
    "front/__init__.py": "def greet(): return 'front'\nword = 'hello'\n",
    "front/inner.py": "from shelf.front import word\n",
    "back.py": "import shelf\nwords = ['back', *shelf.last.words]\n",
    "last.py": "import sys\nwords = ['last']\nsys.imported.append(__name__)\n",
}


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, content in PACKAGE.items():
        path = tmp_path / "shelf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "imported", [], raising=False)
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    defer_modules({"shelf.back": (), "shelf.front": ("greet",), "shelf.last": ()})
    yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "shelf"]:
        del sys.modules[name]


@pytest.mark.usefixtures("shelf")
def test_modules_are_imported_when_an_attribute_is_read() -> None:
    import shelf  # type: ignore[import-not-found]

    assert sys.imported == []  # type: ignore[attr-defined]
    assert shelf.back.words == ["back", "last"]
    assert sys.imported == ["shelf.last"]  # type: ignore[attr-defined]
    assert shelf.back is sys.modules["shelf.back"]
    assert not hasattr(shelf.last, "other")


@pytest.mark.usefixtures("shelf")
def test_a_function_that_the_package_has_imported_can_be_called() -> None:
    import shelf

    assert shelf.greet() == "front"


@pytest.mark.usefixtures("shelf")
def test_importing_a_submodule_imports_its_package_first() -> None:
    from shelf.front import inner  # type: ignore[import-not-found]

    assert inner.word == "hello"


USES = (
    "torch.compile(lambda rows: rows.sin(), backend='eager')(torch.ones(2))",
    "torch.func.vmap(torch.sin)(torch.ones(2, 2))",
    "torch.vmap(torch.sin)(torch.ones(2, 2))",
    "torch.empty(3, device='meta').softmax(0)",
    "import torch._prims, torch._refs; torch._refs.add(torch.ones(2), 1)",
    "from torch.utils.data import DataLoader; list(DataLoader([1, 2]))",
    "torch.export.export(torch.nn.Linear(2, 2), (torch.ones(1, 2),))",
    "import torch.distributed.tensor",
    "torch.distributions.Normal(0.0, 1.0).sample()",
    "torch.masked.sum(torch.ones(2), mask=torch.tensor([True, False]))",
    "torch.quantization.QuantStub()(torch.ones(2))",
    "torch.nn.quantized.FloatFunctional().add(torch.ones(2), torch.ones(2))",
    "torch.nn.intrinsic.ConvReLU1d(torch.nn.Conv1d(1, 1, 1), torch.nn.ReLU())(torch.ones(1, 1, 2))",
    "with torch.profiler.profile(): torch.ones(2).sum()",
    "with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH): torch.ones(2).sum()",
    "torch.nn.MultiheadAttention(4, 2)(*torch.ones(3, 1, 1, 4))",
)
# Each use is the first one in its process, a copy of the one that has imported torch.
USE_IN_COPIES = """
import os, sys, traceback
from studio.worker.deferred_modules import TORCH_MODULES, import_torch
import_torch()
import torch
def use(code):
    deferred = [type(sys.modules.get(name)).__name__ == "_DeferredModule" for name in TORCH_MODULES]
    torch.Generator().manual_seed(1)
    exec(code)
    return sum(deferred) >= 7
for code in sys.argv[1:]:
    copy = os.fork()
    if not copy:
        works = False
        try:
            works = use(code)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(not works)
    if os.waitpid(copy, 0)[1]:
        print(code)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied")
def test_torch_works_where_it_needs_the_deferred_modules() -> None:
    result = subprocess.run([sys.executable, "-c", USE_IN_COPIES, *USES], capture_output=True, text=True, check=True)
    assert result.stdout == "", f"failed: {result.stdout}{result.stderr}"


def test_the_installed_torch_is_one_of_the_tested_releases() -> None:
    assert version("torch").startswith(deferred_modules._TESTED_RELEASES)
    assert "torch.export" in TORCH_MODULES


def test_another_release_of_torch_is_imported_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    finders = list(sys.meta_path)
    monkeypatch.setattr(deferred_modules, "version", lambda name: "2.14.0")
    deferred_modules.import_torch()
    assert sys.meta_path == finders


SPEAKING = """
import sys
from pathlib import Path
from studio.worker.deferred_modules import TORCH_MODULES, import_torch
import_torch()
from studio import paths
from studio.pipeline.control import RequestControl
from studio.pipeline.request import EngineOptions, SynthesisRequest, VoiceReference
from studio.worker.model_host import open_accelerated
host = open_accelerated(paths.resources() / "models" / "studio-mini", EngineOptions(flow_precision="float32"))
voice = VoiceReference(paths.resources() / "voices" / "Ada.wav", "", "Ada")
assert sum(chunk.seconds for chunk in host.stream(SynthesisRequest("Hello.", voice), control=RequestControl())) > 0.1
imported = [name for name in TORCH_MODULES if type(sys.modules.get(name)).__name__ == "module"]
print("torch.onnx" in sys.modules, imported)
host.close()
"""


def test_speaking_imports_none_of_them() -> None:
    result = subprocess.run([sys.executable, "-c", SPEAKING], capture_output=True, text=True, check=False)
    assert result.stdout.strip() == "False []", result.stderr
