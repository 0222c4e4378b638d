"""The list of what is to be spoken: of a line that failed it has the report."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget
from window_bench import Bench

from studio.app.speaking.queue import Order, OrderState
from studio.app.speaking.queue_panel import QueuePanel
from studio.errors import NoSpeechMade, VoiceNotFound


def test_a_line_that_failed_has_its_report(bench: Bench, report_of: Callable[[QWidget], str]) -> None:
    queue = bench.session.queue
    panel = QueuePanel(queue)
    panel.show()
    done = Order("a", "Good morning.", 1, state=OrderState.DONE)
    silent = Order("b", "Good night.", 1, state=OrderState.FAILED, error=NoSpeechMade("Nothing was said."))
    strange = Order("c", "Good day.", 1, state=OrderState.FAILED, error=VoiceNotFound("There is no voice."))
    for order in (done, silent, strange):
        queue._orders.append(order)
        queue.order_added.emit(order)
    panel._list.setCurrentItem(panel._items[done])
    assert panel._copy.isHidden()
    panel._list.setCurrentItem(panel._items[silent])
    assert report_of(panel).startswith("error: no-speech-made\n")
    queue.order_changed.emit(silent)
    assert panel._copy.text() == "Copied"  # as long as it is the same one
    panel._list.setCurrentItem(panel._items[strange])
    assert report_of(panel).startswith("error: voice-not-found\n")
    panel.close()
