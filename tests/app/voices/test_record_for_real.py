"""Recording a voice through a real sound server: countdown, recording, clip editor, voice card."""

from __future__ import annotations

from pathlib import Path

import pytest
from virtual_sound_server import needs_sound_server, sound_server, speech_like

pytestmark = [pytest.mark.sound, needs_sound_server]

RECORD_A_VOICE = """
import sys, time
from pathlib import Path
from PySide6.QtGui import QUndoStack
from PySide6.QtWidgets import QApplication
from studio.app.voices.clip_editor_dialog import ClipEditorDialog
from studio.app.voices.panel import VoicesPanel
from studio.app.voices.voice_edits import VoiceEdits
from studio.app.voices.recorder_dialog import RecorderDialog
from studio.app.voices.recording_session import SessionState
from studio.voices.library import VoiceLibrary

application = QApplication([])

def until(is_so):
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        application.processEvents()
        time.sleep(0.005)

panel = VoicesPanel(VoiceEdits(VoiceLibrary(Path(sys.argv[1]), built_in=Path(sys.argv[1])), QUndoStack()))
panel.show()
panel.voice_importer.record()
(recorder,) = panel.findChildren(RecorderDialog)
until(lambda: recorder._session.has_microphone)
recorder._record.click()
until(lambda: recorder._session.state is SessionState.RECORDING)
print("recording", flush=True)
until(recorder._use.isEnabled)
recorder._use.click()
until(lambda: any(dialog._create.isEnabled() for dialog in panel.findChildren(ClipEditorDialog)))
(editor,) = panel.findChildren(ClipEditorDialog)
editor._form.name.setText("Spoken")
editor.accept()
until(lambda: panel.voices)
(voice,) = panel.voices
print(voice.name, round(voice.clip_seconds, 1), voice.quality.value)
"""


@pytest.mark.slow
def test_a_microphone_recording_becomes_a_voice(tmp_path: Path) -> None:
    with sound_server(tmp_path) as server:
        server.environment["QT_QPA_PLATFORM"] = "offscreen"
        window = server.start(RECORD_A_VOICE, str(tmp_path / "voices"))
        assert window.stdout is not None
        assert window.stdout.readline() == "recording\n"
        server.play(speech_like(5.0))
        output, errors = window.communicate(timeout=120)
    name, seconds, quality = output.split()
    assert (name, quality) == ("Spoken", "good"), errors
    assert 4.8 < float(seconds) < 5.6
