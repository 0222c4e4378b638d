"""Fifth journey: an expert tries instructions, the blind comparison, engines, diagnostics and shortcuts."""

from __future__ import annotations

from typing import Any

from journey_user import User
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QKeySequenceEdit,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QToolButton,
    QTreeWidget,
)

from studio.app.engines.engines_page import EnginesPage
from studio.app.help_dialogs import DiagnosticsDialog, ShortcutsDialog
from studio.app.inspector.compare_dialog import CompareDialog
from studio.app.script.line_model import Column
from studio.engines.stage import Stage
from studio.project.lines import Line
from studio.project.takes import Take

INSTRUCTION = "Please speak slowly."
NUM_TAKES = 4


async def journey(user: User) -> dict[str, Any]:
    await _instruct(user)
    chosen = await _compare(user)
    engines = await _look_at_engines(user)
    checks = await _diagnose(user)
    await _change_a_shortcut(user)
    return {
        "instruction": _line(user).style.instruct,
        "seeds": [take.seed for take in _takes(user)],
        "instructions_of_takes": [take.parameters.style.instruct for take in _takes(user)],
        "preferred": chosen,
        "engines": engines,
        "checks": checks,
        "is_kept": [take.is_kept for take in _takes(user)],
        "chosen_take": _line(user).chosen_take,
    }


async def _instruct(user: User) -> None:
    view = user.window.script.view
    await user.click(view.viewport(), lambda: view.visualRect(view.model().index(0, Column.TEXT)))
    await user.type("He said nothing for a while. Then he laughed.")
    await user.choose(await user.control(QComboBox, "Style"), "Custom instruction…")
    await user.focused(await user.control(QPlainTextEdit, "Style instruction"))
    await user.type(INSTRUCTION)
    await user.picture("instruction")
    await user.press("ctrl+alt+Return")
    await user.until(lambda: len(_takes(user)) == NUM_TAKES, "there are several takes", seconds=600)
    await user.hears_everything()


async def _compare(user: User) -> str:
    """Choose the second take of the blind comparison. Return its id."""
    await user.press("ctrl+shift+b")
    dialog = await user.dialog(CompareDialog)
    buttons = dialog.findChildren(QPushButton)
    await user.until(
        lambda: any(b.isEnabled() and b.text().startswith("Choose ") for b in buttons), "the takes are read"
    )
    await user.press("b")
    await user.until(lambda: any(b.text() == "Choose B" for b in buttons), "B is the current take")
    await user.picture("blind comparison")
    await user.press("Return")
    await user.until(lambda: "B is take" in dialog.words, "the take is named")
    await user.picture("choice")
    await user.press("Escape")
    await user.back()
    chosen = _line(user).chosen_take
    assert chosen is not None
    return chosen


async def _look_at_engines(user: User) -> dict[str, str]:
    """Read why the language model is not faster. Return the engine of each stage, as shown."""
    await user.choose_in_menu("File", "Engines…")
    page = await user.dialog(EnginesPage)
    await user.until(lambda: Stage.SPEECH_LM in page.cards, "the stages are shown")
    why = await user.control(QToolButton, "Language model: why not faster")
    await user.click(why)
    await user.until(why.isChecked, "the other engines are listed")
    await user.picture("engines")
    texts = {stage.value: [label.text() for label in card.findChildren(QLabel)] for stage, card in page.cards.items()}
    await user.press("Escape")
    await user.back()
    return {stage: " | ".join(found) for stage, found in texts.items()}


async def _diagnose(user: User) -> list[str]:
    await user.choose_in_menu("Help", "Diagnostics…")
    dialog = await user.dialog(DiagnosticsDialog)
    bar, rows = dialog.findChild(QProgressBar), dialog.findChild(QTreeWidget)
    assert bar is not None
    assert rows is not None
    await user.until(lambda: rows.topLevelItemCount() > 0, "the first result is shown")
    await user.picture("first results")
    await user.until(lambda: not bar.isVisible(), "all checks have ended", seconds=600)
    await user.picture("diagnostics")
    found = [rows.topLevelItem(row).text(0) for row in range(rows.topLevelItemCount())]
    await user.press("Escape")
    await user.back()
    return found


async def _change_a_shortcut(user: User) -> None:
    """Assign F9 to "Protect take", and press it."""
    await user.press("ctrl+slash")
    await user.dialog(ShortcutsDialog)
    search = await user.control(QLineEdit, "Search actions and keys")
    await user.click(search)
    await user.focused(search)
    await user.type("Protect take")
    rows = await user.control(QTreeWidget, "Keyboard shortcuts")
    (item,) = [
        each
        for each in rows.findItems("Protect take", Qt.MatchFlag.MatchExactly | Qt.MatchFlag.MatchRecursive)
        if not each.isHidden()
    ]
    await user.click(rows.viewport(), lambda: rows.visualItemRect(item))
    await user.until(lambda: rows.currentItem() is item, "the action is chosen")
    keys = await user.control(QKeySequenceEdit, "New keys")
    await user.click(keys)
    await user.focused(keys)
    await user.press("F9")
    await user.until(lambda: keys.keySequence().toString() == "F9", "the new key is shown")
    await user.picture("shortcut")
    await user.click_button("Assign")
    await user.press("Escape")
    await user.back()
    await user.press("F9")
    await user.until(lambda: any(take.is_kept for take in _takes(user)), "the take is kept")
    await user.picture("kept")


def _line(user: User) -> Line:
    return user.session.editor.project.lines[0]


def _takes(user: User) -> tuple[Take, ...]:
    return tuple(user.session.editor.project.takes_of(_line(user).id))
