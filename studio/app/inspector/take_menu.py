"""Context menu of a take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from studio.app.actions import Actions
from studio.app.inspector.takes_controller import TakesController
from studio.app.theme.icons import icon
from studio.project.takes import Take

if TYPE_CHECKING:
    from studio.app.dialogs import Dialogs

_MAX_REMOVED_SHOWN = 20


def take_menu(
    takes: TakesController,
    take_id: str | None,
    dialogs: Dialogs,
    actions: Actions,
    window: QWidget,
    *,
    selected: Sequence[str] = (),
) -> QMenu:
    """Return the menu of the take, if any, of the ``selected`` takes and of the removed takes of the current line."""
    translate = QCoreApplication.translate
    menu = QMenu(window)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    take = None if take_id is None else takes.take(take_id)
    if take is not None:
        _add_take(menu, takes, take, dialogs)
        menu.addSeparator()
    menu.addAction(actions["speak.final"])
    menu.addAction(actions["play.accept"])
    menu.addAction(actions["play.best"])
    menu.addAction(actions["play.compare_takes"])
    join = menu.addAction(icon("merge"), translate("Takes", "Join two takes…"))
    join.setToolTip(translate("Takes", "Select two takes to join the start of one to the end of the other"))
    pair = _pair_to_join(takes, selected)
    join.setEnabled(len(pair) == 2)
    join.triggered.connect(lambda: dialogs.join_takes(takes, pair))
    removed = menu.addMenu(icon("undo"), translate("Takes", "Restore removed take"))
    removed.setEnabled(bool(takes.removed_takes))
    for each in takes.removed_takes[:_MAX_REMOVED_SHOWN]:
        words = translate("Takes", "Take {number}, {seconds:.1f} s")
        text = words.format(number=each.number, seconds=each.audio_seconds)
        removed.addAction(text).triggered.connect(lambda _=False, wanted=each: takes.restore(wanted))
    return menu


def _pair_to_join(takes: TakesController, selected: Sequence[str]) -> list[str]:
    """Return the two selected takes, or the only two takes of the line; otherwise fewer or more."""
    return list(selected) if len(selected) > 1 else [take.id for take in takes.takes]


def _add_take(menu: QMenu, takes: TakesController, take: Take, dialogs: Dialogs) -> None:
    translate = QCoreApplication.translate
    is_chosen = takes.chosen is not None and takes.chosen.id == take.id
    menu.addAction(icon("play"), translate("Takes", "Play or stop")).triggered.connect(
        lambda: takes.toggle_play(take.id)
    )
    choose = menu.addAction(icon("state-ready"), translate("Takes", "Use this take"))
    choose.setEnabled(not is_chosen)
    choose.triggered.connect(lambda: takes.choose(take.id))
    keep = menu.addAction(icon("keep"), translate("Takes", "Keep"))
    keep.setCheckable(True)
    keep.setChecked(take.is_kept)
    keep.triggered.connect(lambda is_kept: takes.set_kept(take.id, is_kept=is_kept))
    menu.addAction(icon("split"), translate("Takes", "Edit take…")).triggered.connect(
        lambda: dialogs.edit_take(takes, take.id)
    )
    menu.addAction(translate("Takes", "Cut silence…")).triggered.connect(lambda: dialogs.cut_silence(takes, [take.id]))
    menu.addSeparator()
    menu.addAction(icon("export"), translate("Takes", "Export this take…")).triggered.connect(
        lambda: dialogs.take_files.choose_file(take)
    )
    menu.addAction(icon("duplicate"), translate("Takes", "Copy seed")).triggered.connect(
        lambda: QGuiApplication.clipboard().setText(str(take.seed))
    )
    menu.addSeparator()
    menu.addAction(icon("remove"), translate("Takes", "Remove")).triggered.connect(lambda: takes.remove(take.id))
