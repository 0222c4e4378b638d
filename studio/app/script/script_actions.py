"""Connections of the actions that edit and show the script."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction

from studio.app.actions import Actions
from studio.app.script.script_page import ScriptPage
from studio.app.script.script_view import ScriptView
from studio.project.lines import Heading
from studio.settings import SCRIPT_IS_COMPACT
from studio.settings_store import Settings


def connect_script_actions(actions: Actions, script: ScriptPage) -> None:
    actions["edit.new_line"].triggered.connect(script.new_line)
    actions["edit.paste_lines"].triggered.connect(script.paste_lines)
    actions["edit.duplicate"].triggered.connect(script.duplicate)
    actions["edit.remove"].triggered.connect(script.remove)
    actions["edit.split"].triggered.connect(script.split)
    actions["edit.merge"].triggered.connect(script.merge)
    actions["edit.move_up"].triggered.connect(lambda: script.move_lines(-1))
    actions["edit.move_down"].triggered.connect(lambda: script.move_lines(1))
    actions["edit.lock"].triggered.connect(script.toggle_lock)
    for name, slot in (
        ("edit.cut", script.cut),
        ("edit.copy", script.copy),
        ("edit.paste", script.paste),
        ("edit.select_all", script.view.selectAll),
    ):
        # Lists and text fields of the window use the same keys.
        actions[name].setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        script.window().removeAction(actions[name])
        script.view.addAction(actions[name])
        actions[name].triggered.connect(slot)
    actions["edit.chapter"].triggered.connect(lambda: script.toggle_heading(Heading.CHAPTER))
    actions["edit.scene"].triggered.connect(lambda: script.toggle_heading(Heading.SCENE))
    actions["edit.note"].triggered.connect(script.toggle_spoken)
    actions["edit.spoken"].triggered.connect(script.make_spoken_text)
    actions["edit.filter"].triggered.connect(script.toggle_filter)
    actions["edit.next_failed"].triggered.connect(script.navigation.next_failed)
    actions["edit.next_check"].triggered.connect(lambda: script.navigation.next_to_review(1))
    actions["edit.previous_check"].triggered.connect(lambda: script.navigation.next_to_review(-1))
    actions["edit.review"].triggered.connect(script.toggle_review)
    actions["edit.select_chapter"].triggered.connect(script.navigation.select_chapter)
    actions["view.outline"].triggered.connect(script.navigation.open_outline)
    actions["view.next_section"].triggered.connect(lambda: script.navigation.next_section(1))
    actions["view.previous_section"].triggered.connect(lambda: script.navigation.next_section(-1))
    actions["edit.find"].triggered.connect(lambda: script.find_bar.open(replaces=False))
    actions["edit.replace"].triggered.connect(lambda: script.find_bar.open(replaces=True))


def remember_compact_table(action: QAction, view: ScriptView, settings: Settings) -> None:
    """Show the compact table as in the last session, and remember the user's choice."""

    def show(is_compact: bool) -> None:
        settings[SCRIPT_IS_COMPACT] = is_compact
        view.set_compact(is_compact=is_compact)

    action.setChecked(settings[SCRIPT_IS_COMPACT])
    action.toggled.connect(show)
    view.set_compact(is_compact=action.isChecked())
