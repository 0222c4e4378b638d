"""The language of the window: English in the source, others from ``resources/translations``."""

from __future__ import annotations

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from studio import paths

_installed: list[QTranslator] = []


def QT_TRANSLATE_NOOP(context: str, text: str) -> str:  # noqa: N802, ARG001 - the name Qt's tool looks for
    """``text`` as it is, to be translated later. (Qt's own is typed as any object.)"""
    return text


def use_language(application: QApplication, locale: QLocale) -> None:
    """For everything made from now on; numbers and dates follow as well."""
    for translator in _installed:
        application.removeTranslator(translator)
    _installed.clear()
    QLocale.setDefault(locale)
    # English has a file too: it knows one line from two lines.
    folder = str(paths.resources() / "translations")
    ours = QTranslator(application)
    if not ours.load(locale, "studio", "_", folder):
        locale = QLocale("en_US")  # whoever's language is missing reads English, buttons included
        ours.load(locale, "studio", "_", folder)
    _install(application, ours)
    qt = QTranslator(application)
    if qt.load(locale, "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        _install(application, qt)


def _install(application: QApplication, translator: QTranslator) -> None:
    application.installTranslator(translator)
    _installed.append(translator)
