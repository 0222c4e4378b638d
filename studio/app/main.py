"""Entry point of the GUI: shows the window, then starts the worker and other slow work."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import sys
from collections.abc import Container
from pathlib import Path

import qasync
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox

import studio
from studio.app.application import Application, ExceptionHook, after_first_paint, gui_thread_collection
from studio.app.background import end_background_threads
from studio.app.documents import new_project
from studio.app.error_text import format_error
from studio.app.log_panel import LogHandler
from studio.app.services import Services
from studio.app.session import Session
from studio.app.theme.appearance import Appearance, apply_theme
from studio.app.translation import chosen_locale, use_language
from studio.app.widgets.copy_report import CopyReportButton
from studio.app.window_manager import WindowManager
from studio.errors import StudioError
from studio.health.log_file import note_shown, write_log
from studio.settings import COLOUR_SCHEME
from studio.settings_store import Settings


def run_app(file: str | None = None, *, services: Services | None = None) -> int:
    """Show the window, open ``file`` if given, and return the exit status once it is closed."""
    application = make_application()
    log = LogHandler()
    logging.getLogger("studio").addHandler(log)
    logging.getLogger("studio").setLevel(logging.INFO)
    write_log("window")
    settings = Settings()
    apply_appearance(application, settings)
    loop = qasync.QEventLoop(application)
    asyncio.set_event_loop(loop)
    services = services or Services()
    with loop, contextlib.ExitStack() as ending:
        ending.callback(end_background_threads)
        try:
            project = new_project(services.drafts, settings)
        except StudioError as error:  # without a folder for drafts, edits could be lost
            show_fatal_error(error)
            return error.exit_status
        session = Session(project, settings, services)
        windows = WindowManager(session, log)
        follow_colour_scheme(application, settings)
        closed = loop.create_future()
        windows.closed.connect(lambda: closed.done() or closed.set_result(None))

        def start_working() -> None:
            windows.start_working(Path(file).absolute() if file else None)
            for complaint in settings.complaints:
                session.failed.emit(complaint)
            if isinstance(application, Application):
                application.hand_files_to(windows.open_file)

        after_first_paint(windows.window, lambda: windows.import_parts(start_working))
        windows.window.show()
        unexpected = ExceptionHook()
        unexpected.failed.connect(session.failed)
        loop.set_exception_handler(unexpected.on_loop_error)
        gc.freeze()  # the first collection would stall the window for all objects created so far
        with unexpected.caught(), gui_thread_collection():
            loop.run_until_complete(closed)
    return 0


def show_fatal_error(error: StudioError) -> None:
    """Show an error without a main window."""
    note_shown(error)
    box = QMessageBox(QMessageBox.Icon.Critical, "Timbre Studio", format_error(error), QMessageBox.StandardButton.Ok)
    CopyReportButton(box).join(box, error)
    box.exec()


def make_application() -> QApplication:
    existing = QApplication.instance()
    if isinstance(existing, QApplication):
        return existing
    QApplication.setApplicationName("timbre-studio")
    QApplication.setApplicationDisplayName("Timbre Studio")
    QApplication.setApplicationVersion(studio.__version__)
    QApplication.setDesktopFileName("timbre-studio")
    application = Application(sys.argv[:1])
    application.setQuitOnLastWindowClosed(False)
    return application


def follow_colour_scheme(application: QApplication, settings: Settings) -> None:
    """Apply the colour scheme as soon as the user chooses another one, or the system switches to another one."""

    def apply(changed: Container[object]) -> None:
        if COLOUR_SCHEME in changed:
            apply_theme(application, Appearance(settings[COLOUR_SCHEME]))

    settings.watch(apply)
    QGuiApplication.styleHints().colorSchemeChanged.connect(lambda _: apply((COLOUR_SCHEME,)))


def apply_appearance(application: QApplication, settings: Settings) -> None:
    use_language(application, chosen_locale(settings))
    apply_theme(application, Appearance(settings[COLOUR_SCHEME]))
