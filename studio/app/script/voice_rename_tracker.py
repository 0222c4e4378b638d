"""Updates the voices of lines when voices are added, renamed or removed."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject

from studio.app.script.project_editor import ProjectEditor
from studio.project.changes import EditLines
from studio.project.voice_keys import VoiceKeys, keys_of
from studio.voices.voice import Voice, name_key


class VoiceRenameTracker(QObject):
    """Its changes are not undo steps: they follow edits of the voices, and their undo."""

    def __init__(self, editor: ProjectEditor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self._known: tuple[str, ...] | None = None
        self._keys: VoiceKeys = {}
        editor.project_replaced.connect(self._assign_default_voice)
        editor.project_replaced.connect(self._update_keys)

    def on_voices_changed(self, voices: Sequence[Voice]) -> None:
        """Update the voice keys; assign a new voice to all empty lines."""
        names = tuple(voice.name for voice in voices)
        if (keys := keys_of(voices)) != self._keys:
            self._keys = keys
            self._update_keys()
        new = [name for name in names if self._known is not None and name not in self._known]
        self._known = names
        if new:
            blank = [line.id for line in self._editor.project.lines if not line.text.strip() and not line.chosen_take]
            self._assign(blank, new[-1])
        self._assign_default_voice()

    def on_renamed(self, before: str, after: str) -> None:
        renamed = name_key(before)
        key = self._keys.get(renamed)
        if key is not None:  # the library is read later; until then no take becomes outdated
            self._keys = {**self._keys, name_key(after): key}
            self._update_keys()
        self._assign([line.id for line in self._editor.project.lines if name_key(line.voice or "") == renamed], after)

    def _update_keys(self) -> None:
        """Update the voice keys: takes are outdated if the clip or transcript of their voice changes."""
        self._editor.project.voice_keys = self._keys
        self._editor.all_lines_changed()

    def _assign_default_voice(self) -> None:
        """Assign the first voice if no line has one."""
        lines = self._editor.project.lines
        if self._known and all(line.voice is None for line in lines):
            self._assign([line.id for line in lines], self._known[0])

    def _assign(self, line_ids: list[str], name: str) -> None:
        if line_ids:
            self._editor.apply(EditLines({line_id: {"voice": name} for line_id in line_ids}))
