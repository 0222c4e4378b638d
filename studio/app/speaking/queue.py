"""Lines waiting to be spoken: a failure does not stop the next.

One after the other, or several at once where the engine gains by that; what is to be heard waits for none of those.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.app.bridge import WorkerBridge
from studio.app.script.live_states import LiveState, LiveStates
from studio.app.script.project_editor import ProjectEditor
from studio.app.speaking.take_making import FindVoice, Pace, TakeMaking
from studio.errors import InternalError, OutOfMemory, StudioError, WorkerDied
from studio.project.lines import LineState
from studio.project.takes import Take
from studio.settings import KEEPS_LEADING_SILENCE
from studio.settings_file import Settings

_log = logging.getLogger(__name__)

_LARGEST_DRAWN_SEED = 2**31


class OrderState(Enum):
    WAITING = "waiting"
    SPEAKING = "speaking"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_over(self) -> bool:
        return self in (OrderState.DONE, OrderState.FAILED, OrderState.CANCELLED)


@dataclass(slots=True, eq=False)
class Order:
    """One take that was asked for. ``text`` is the line's at that moment, for the list.

    ``source``: a recording that is to be said in the line's voice, instead of its text. ``is_urgent``: somebody
    waits to hear it. ``had_company``: others were at work meanwhile; ``is_alone``: none must be, for beside
    others it failed for what may have been another's fault.
    """

    line_id: str
    text: str
    seed: int
    number: int = field(default_factory=itertools.count(1).__next__)
    state: OrderState = OrderState.WAITING
    stage: str = ""
    share: float = 0.0
    error: StudioError | None = None
    take: Take | None = None
    making: TakeMaking | None = None
    source: Path | None = None
    is_urgent: bool = False
    had_company: bool = False
    is_alone: bool = False


class SpeakQueue(QObject):
    """Orders in the order they are worked on. Belongs to the thread of the window."""

    orders_added = Signal(list, int)  # Orders, and where the first of them stands among all
    order_changed = Signal(object)  # Order
    orders_removed = Signal(list)
    making_started = Signal(object)  # TakeMaking: whoever wants to hear or see it connects now
    order_ended = Signal(object)
    became_idle = Signal()

    def __init__(
        self,
        bridge: WorkerBridge,
        editor: ProjectEditor,
        live_states: LiveStates,
        find_voice: FindVoice,
        parent: QObject | None = None,
        *,
        settings: Settings,
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._editor = editor
        self._live_states = live_states
        self._find_voice = find_voice
        self._settings = settings
        self._orders: list[Order] = []
        self._of_line: dict[str, list[Order]] = {}
        self._at_work: set[asyncio.Task[None]] = set()
        self._is_paused = False
        self.pace = Pace()
        bridge.engine_changed.connect(self._go_on)  # only a model that is loaded says how many it speaks at once

    @property
    def orders(self) -> tuple[Order, ...]:
        return tuple(self._orders)

    @property
    def current(self) -> Order | None:
        """What is being spoken; of several, what somebody waits for, else the first."""
        return min(self.speaking, key=lambda order: not order.is_urgent, default=None)

    @property
    def speaking(self) -> tuple[Order, ...]:
        return tuple(order for order in self._orders if order.state is OrderState.SPEAKING)

    @property
    def waiting(self) -> tuple[Order, ...]:
        return tuple(order for order in self._orders if order.state is OrderState.WAITING)

    @property
    def is_paused(self) -> bool:
        return self._is_paused

    def order_of(self, line_id: str) -> Order | None:
        """The line's order that is at work, else the next that waits."""
        ours = [order for order in self._of_line.get(line_id, ()) if not order.state.is_over]
        return next((order for order in ours if order.state is OrderState.SPEAKING), ours[0] if ours else None)

    @property
    def remaining_seconds(self) -> float | None:
        """Of work; None while the pace is not known."""
        rest = 0.0
        for order in self._orders:
            if order.state.is_over:
                continue
            seconds = self.pace.work_seconds(order.text)
            if seconds is None:
                return None
            rest += seconds * (1 - order.share)
        return rest / max(1, len(self._at_work))  # the pace of each is that of a line in company

    def speak(self, line_ids: Iterable[str], *, num_takes: int = 1, goes_first: bool = False) -> list[Order]:
        """Asks for ``num_takes`` of each line, with seeds of their own where the line has none."""
        added: list[Order] = []
        for line_id in line_ids:
            line = self._editor.project.line(line_id)
            for index in range(num_takes):
                seed = secrets.randbelow(_LARGEST_DRAWN_SEED) if line.seed is None or index else line.seed
                added.append(Order(line_id, line.text, seed, is_urgent=goes_first and not added))
        return self._add(added, goes_first=goes_first)

    def convert(self, line_id: str, source: Path) -> Order:
        """Asks for a take of ``line_id`` that says what is said in the recording ``source``."""
        text = self._editor.project.line(line_id).text
        order = Order(line_id, text, secrets.randbelow(_LARGEST_DRAWN_SEED), source=source, is_urgent=True)
        return self._add([order], goes_first=True)[0]

    def _add(self, added: list[Order], *, goes_first: bool) -> list[Order]:
        place = _place_in(self._orders, goes_first=goes_first)
        self._orders[place:place] = added
        lines = {order.line_id: list[Order]() for order in added}
        for order in added:
            lines[order.line_id].append(order)
        for line_id, ours in lines.items():
            of_line = self._of_line.setdefault(line_id, [])
            place_of_ours = _place_in(of_line, goes_first=goes_first)
            of_line[place_of_ours:place_of_ours] = ours
            self._show_line(line_id)
        self.orders_added.emit(added, place)
        self._go_on()
        return added

    def retry(self, order: Order) -> None:
        """Asks again for what failed or was cancelled."""
        if order.state.is_over:
            self.remove(order)
            if not self._editor.project.has_line(order.line_id):
                return
            if order.source is not None:
                self.convert(order.line_id, order.source)
            else:
                self.speak([order.line_id])

    def cancel(self, order: Order) -> None:
        """Takes it back; what was already spoken of it stays as a take."""
        if order.state is OrderState.WAITING:
            self._end(order, OrderState.CANCELLED)
        elif order.making is not None:
            order.making.stop()

    def cancel_all(self) -> None:
        for order in list(self._orders):
            if not order.state.is_over:
                self.cancel(order)

    def cancel_waiting(self) -> None:
        for order in self.waiting:
            self.cancel(order)

    def remove(self, order: Order) -> None:
        """From the list, once it is over."""
        if order.state.is_over and order in self._orders:
            self._take_away([order])

    def clear_finished(self) -> None:
        self._take_away([order for order in self._orders if order.state.is_over])

    def _take_away(self, orders: list[Order]) -> None:
        gone = set(orders)
        self._orders = [order for order in self._orders if order not in gone]
        self.orders_removed.emit(orders)
        for line_id in {order.line_id for order in orders}:
            left = [order for order in self._of_line.pop(line_id, ()) if order not in gone]
            if left:
                self._of_line[line_id] = left
            self._show_line(line_id)

    def set_paused(self, is_paused: bool) -> None:
        """What is at work is finished first."""
        self._is_paused = is_paused
        self._go_on()

    def forget_project(self) -> None:
        """Before another project takes the place of this one."""
        self.cancel_all()
        self.clear_finished()
        self._live_states.clear()

    async def finished(self) -> None:
        """Until nothing is at work any more."""
        while self._at_work:
            await asyncio.wait(self._at_work)

    def _go_on(self) -> None:
        for order in self.waiting:
            if self._is_paused:
                return
            if order.state is not OrderState.WAITING:  # taken back when another was
                continue
            if not self._editor.project.has_line(order.line_id):
                self._end(order, OrderState.CANCELLED)
            elif self._has_room_for(order):
                self._begin(order)
            else:
                return

    def _begin(self, order: Order) -> None:
        line = self._editor.project.line(order.line_id)
        making = TakeMaking(
            line,
            order.seed,
            self.pace,
            source=order.source,
            in_batch=not order.is_urgent,
            keeps_leading_silence=self._settings[KEEPS_LEADING_SILENCE],
        )
        order.making, order.state = making, OrderState.SPEAKING
        if self._at_work:
            for each in self.speaking:
                each.had_company = True
        speaking = self._bridge.run(self._speak(order, making))
        self._at_work.add(speaking)
        speaking.add_done_callback(self._on_spoken)

    def _has_room_for(self, order: Order) -> bool:
        if order.is_alone or any(each.is_alone for each in self.speaking):
            return not self._at_work
        num_at_once = self._bridge.lines_at_once
        return not self._at_work or (num_at_once > 1 and (order.is_urgent or len(self._at_work) < num_at_once))

    def _on_spoken(self, speaking: asyncio.Task[None]) -> None:
        self._at_work.discard(speaking)
        self._go_on()
        if not self._at_work:
            self.became_idle.emit()

    async def _speak(self, order: Order, making: TakeMaking) -> None:
        making.progressed.connect(lambda stage, share: self._on_progress(order, stage, share))
        self._show(order)
        self.making_started.emit(making)
        try:
            order.take = await making.make(self._bridge, self._editor, self._find_voice)
        except StudioError as error:
            may_be_anothers_fault = order.had_company and isinstance(error, WorkerDied | OutOfMemory)
            if may_be_anothers_fault and not making.is_stopped:
                self._wait_alone(order)
            else:
                order.error = error
                self._end(order, OrderState.FAILED)
        except Exception as error:  # noqa: BLE001 - the end of a task: the order reports it
            _log.exception("unexpected error in a line")
            order.error = InternalError(
                "Something unexpected happened: {reason}.", remedy="The log tab has the rest.", reason=error
            )
            self._end(order, OrderState.FAILED)
        else:
            # Taken back by the person; or broken off: another model was chosen, or the line is gone.
            is_whole = order.take is not None and order.take.is_complete
            self._end(order, OrderState.DONE if is_whole and not making.is_stopped else OrderState.CANCELLED)

    def _wait_alone(self, order: Order) -> None:
        order.state, order.share = OrderState.WAITING, 0.0
        order.had_company, order.is_alone = False, True
        self._show(order)

    def _end(self, order: Order, state: OrderState) -> None:
        order.state, order.share = state, 1.0 if state is OrderState.DONE else order.share
        self._show(order)
        self.order_ended.emit(order)
        if order.making is not None:
            order.making.forget_sound()  # of a long script it would fill the memory

    def _on_progress(self, order: Order, stage: str, share: float) -> None:
        order.stage, order.share = stage, share if stage == "speech" else 0.0
        self._show(order)

    def _show(self, order: Order) -> None:
        self._show_line(order.line_id)
        self.order_changed.emit(order)

    def _show_line(self, line_id: str) -> None:
        """A line that is at work says so; its last failure is shown until it is asked for again."""
        ours = self._of_line.get(line_id)
        at_work = self.order_of(line_id)
        if at_work is not None:
            state = LineState.SPEAKING if at_work.state is OrderState.SPEAKING else LineState.QUEUED
            self._live_states.set(line_id, LiveState(state, at_work.share))
        elif ours and ours[-1].state is OrderState.FAILED:
            self._live_states.set(line_id, LiveState(LineState.FAILED, error=ours[-1].error))
        else:
            self._live_states.set(line_id, None)


def _place_in(orders: list[Order], *, goes_first: bool) -> int:
    """Where further ones belong: after all, or before those that wait."""
    waiting = (place for place, order in enumerate(orders) if order.state is OrderState.WAITING)
    return next(waiting, len(orders)) if goes_first else len(orders)
