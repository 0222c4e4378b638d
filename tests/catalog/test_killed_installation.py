"""An installation that another process runs or that was killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hub_server import Fault

from studio.catalog.checking import check_model, remove_model
from studio.catalog.installed import installed_models
from studio.errors import ModelBusy

_CHILD = """
import sys
from small_model import small_files, small_model
from studio.catalog.installation import Installation
from studio.catalog.known import SourceKind
from studio.catalog.source_order import open_source
Installation(small_model(small_files()), open_source(SourceKind.HUGGING_FACE, sys.argv[1])).run()
"""


def install_in_another_process(place: Any, num_bytes: int) -> subprocess.Popen[bytes]:
    """Start a process that installs the model, and wait until it has received part of the language model."""
    fakes = Path(__file__).parent.parent / "fakes"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(fakes), str(fakes.parent.parent)])}
    child = subprocess.Popen([sys.executable, "-c", _CHILD, place.hub.url], env=environment)
    end = time.monotonic() + 60
    while place.hub.served_bytes.get("llm.pt", 0) < num_bytes and time.monotonic() < end:
        time.sleep(0.01)
    return child


@pytest.mark.slow
def test_a_killed_installation_is_resumed(place: Any) -> None:
    place.hub.faults["llm.pt"] = [Fault(bytes_per_second=60_000)]
    child = install_in_another_process(place, 40_000)
    assert place.model.name not in installed_models()
    child.kill()
    child.wait()
    place.hub.served_bytes.clear()
    place.installation().run()
    assert "flow.pt" not in place.hub.served_bytes  # it was complete
    assert check_model(place.model.name).is_intact


@pytest.mark.slow
def test_a_second_installation_of_the_same_model_raises(place: Any) -> None:
    place.hub.faults["llm.pt"] = [Fault(bytes_per_second=60_000)]
    child = install_in_another_process(place, 40_000)
    try:
        for work in (place.installation().run, lambda: remove_model(place.model.name)):
            with pytest.raises(ModelBusy, match="by another program"):
                work()
        assert place.model.name not in installed_models()
    finally:
        assert child.wait(60) == 0
    assert check_model(place.model.name).is_intact
    wanted = {path for path in place.files if path != "llm.rl.pt"}
    assert place.hub.served_bytes == {path: len(place.files[path]) for path in wanted}  # each byte once
