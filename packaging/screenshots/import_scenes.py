"""Scenes of the import of scripts: the casting table."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtWidgets import QWidget

from studio.app.importing.cast_dialog import CastDialog
from studio.app.window import MainWindow
from studio.project.casting import VoiceNames, roles_of, with_suggestions
from studio.project.lines import Line, new_id

_SCENES = {
    "en": (
        ("Mira", "The harbour is quiet tonight."),
        ("Tom", "Too quiet, if you ask me."),
        ("Mira", "Listen to that bell. It rings every quarter of an hour, and nobody has seen who rings it."),
        ("Bandit", "Stand and deliver!"),
        ("Mira", "Run!"),
        ("Old Captain", "Nobody runs on my ship."),
    ),
    "zh_CN": (
        ("小美", "今晚的港口真安静。"),
        ("阿强", "要我说，太安静了。"),
        ("小美", "你听那钟声。每一刻钟响一次，可谁也没见过敲钟的人。"),
        ("强盗", "站住，把钱交出来！"),
        ("小美", "快跑！"),
        ("老船长", "在我的船上，谁也不许跑。"),
    ),
}


def import_scenes(
    window: MainWindow, language: str, wait_for: Callable[[Callable[[], object]], None]
) -> Iterator[tuple[str, QWidget]]:
    """Yield the pages with their names."""
    session = window.session
    lines = [Line(id=new_id(), text=text, character=name) for name, text in _SCENES[language]]
    wait_for(lambda: window.voices.voices)
    names = VoiceNames(voice.name for voice in window.voices.voices)
    roles = with_suggestions(roles_of(lines, {}, names), {role.key for role in roles_of(lines, {}, names)}, names)
    styles = session.styles.styles
    player = session.voice_sources().make_player(window)
    dialog = CastDialog(roles, window.voices.voices, session.styles, player, window)
    dialog.style_boxes[1].setCurrentIndex(min(1, len(styles)))
    dialog.show()
    yield "cast", dialog
