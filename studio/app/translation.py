"""The language of the window: English in the source, others from ``resources/translations``."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QLibraryInfo, QLocale, QObject, QTranslator, Signal
from PySide6.QtWidgets import QApplication

from studio import paths

if TYPE_CHECKING:
    from studio.app.retranslation import TextSources

_installed: list[QTranslator] = []
_Part = TypeVar("_Part", bound=QObject)
USER_TEXT_PROPERTY = "holdsUserText"


class Language(QObject):
    """``changed``, with the texts of the language before, once all that is shown has been said anew.

    For texts that are put together from more than words, and for what is no part of a window.
    """

    changed = Signal(object)  # Texts


language = Language()


def QT_TRANSLATE_NOOP(context: str, text: str) -> str:  # noqa: N802, ARG001 - the name Qt's tool looks for
    """``text`` as it is, to be translated later. (Qt's own is typed as any object.)"""
    return text


def mark_user_text(part: _Part) -> _Part:
    """Mark ``part``: its text, or its items, come from the user and stay as they are when the language changes.

    A part that puts such text into sentences sets them again on ``language.changed``.
    """
    part.setProperty(USER_TEXT_PROPERTY, True)
    return part


def use_language(application: QApplication, locale: QLocale) -> None:
    """For the window as it is, all its dialogs, and everything made from now on; numbers and dates follow as well."""
    if locale.language() == QLocale.Language.C:  # a system without any: its dates are for programs
        locale = QLocale("en_US")
    if _installed and locale == QLocale():
        return
    before = _texts_of_now() if _installed and application.topLevelWidgets() else None
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
    if before is not None:
        _retranslate(before)
        language.changed.emit(before)


def _texts_of_now() -> TextSources:
    from studio.app.retranslation import TextSources  # noqa: PLC0415 - the first picture needs none of it

    return TextSources()


def _retranslate(texts: TextSources) -> None:
    from studio.app.retranslation import retranslate  # noqa: PLC0415

    retranslate(texts)


def _install(application: QApplication, translator: QTranslator) -> None:
    application.installTranslator(translator)
    _installed.append(translator)
