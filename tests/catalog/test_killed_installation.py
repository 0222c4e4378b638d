"""A program that is killed while it downloads has lost nothing but the moment."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from hub_server import Fault

from studio.catalog.checking import check_model
from studio.catalog.installed import installed_models

_CHILD = """
import sys
from small_model import small_files, small_model
from studio.catalog.installation import Installation
from studio.catalog.known import SourceKind
from studio.catalog.sources import open_source
Installation(small_model(small_files()), open_source(SourceKind.HUGGING_FACE, sys.argv[1])).run()
"""


def test_an_installation_that_was_killed_goes_on(place: Any, monkeypatch: Any) -> None:
    place.hub.faults["llm.pt"] = [Fault(bytes_per_second=60_000)]
    fakes = Path(__file__).parent.parent / "fakes"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(fakes), str(fakes.parent.parent)])}
    child = subprocess.Popen([sys.executable, "-c", _CHILD, place.hub.url], env=environment)
    end = time.monotonic() + 60
    while place.hub.served_bytes.get("llm.pt", 0) < 40_000 and time.monotonic() < end:
        time.sleep(0.01)
    assert place.model.name not in installed_models()
    child.kill()
    child.wait()
    place.hub.served_bytes.clear()
    place.installation().run()
    assert "flow.pt" not in place.hub.served_bytes  # it was complete
    assert check_model(place.model.name).is_sound
