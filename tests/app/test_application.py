"""Files opened by the system while the program runs, as on macOS."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_PROGRAM = """
from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent
from studio.app.main import make_application
application, taken = make_application(), []
application.sendEvent(application, QFileOpenEvent("/x/first.timbre"))
print(len(taken))
application.hand_files_to(taken.append)
application.sendEvent(application, QFileOpenEvent("/x/second.voice"))
application.sendEvent(application, QFileOpenEvent(QUrl("https://example.com/x")))
print(*(path.name for path in taken))
"""


@pytest.mark.slow
def test_files_are_kept_until_the_window_is_ready() -> None:
    """Runs in a separate process, because this one already has an application."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["0", "first.timbre second.voice"]
