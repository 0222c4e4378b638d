"""Interface language: English in the source, others from ``resources/translations``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from studio import paths
from studio.settings import LANGUAGE
from studio.settings_store import Settings

_installed: list[QTranslator] = []


def QT_TRANSLATE_NOOP(context: str, text: str) -> str:  # noqa: N802, ARG001 - the name Qt's tool looks for
    """Return ``text`` unchanged; it is translated where it is shown. Qt's own function returns an untyped object."""
    return text


# Texts of Qt's own widgets, translated here because Qt's translation is missing, unclear or uses other terms.
QT_TRANSLATE_NOOP("QFileDialog", "&Look in:")
QT_TRANSLATE_NOOP("QFileDialog", "Files of &type:")
QT_TRANSLATE_NOOP("QFileSystemModel", "Size")
QT_TRANSLATE_NOOP("QKeySequenceEdit", "Press shortcut")
QT_TRANSLATE_NOOP("QLineEdit", "&Undo")
QT_TRANSLATE_NOOP("QWidgetTextControl", "&Undo")
# Of messages. The extraction does not find templates without letters.
QT_TRANSLATE_NOOP("Errors", "{before}; {after}")
QT_TRANSLATE_NOOP("Errors", "{first}, {rest}")
QT_TRANSLATE_NOOP("Errors", "{file}: {reason}")


def join_phrases(phrases: Iterable[str]) -> str:
    """Join translated phrases with the comma of the interface language."""
    return QCoreApplication.translate("Phrases", ", ").join(phrases)


def with_label(label: str, words: str) -> str:
    """Return ``words`` after their ``label`` and the colon of the interface language."""
    return QCoreApplication.translate("Phrases", "{label}: {words}").format(label=label, words=words)


def join_clauses(parts: Iterable[str]) -> str:
    """Join texts that have no full stop with the one of the interface language."""
    return QCoreApplication.translate("Phrases", ". ").join(parts)


def join_names(names: Iterable[str]) -> str:
    """Join names or numbers with the list separator of the language, “、” in Chinese."""
    return QCoreApplication.translate("Errors", ", ").join(names)


def join_sentences(sentences: Iterable[str]) -> str:
    """Join translated sentences, in English with spaces and in Chinese without."""
    words = QCoreApplication.translate("Phrases", "{before} {after}")
    return reduce(lambda before, after: words.format(before=before, after=after) if before else after, sentences, "")


def chosen_locale(settings: Settings) -> QLocale:
    choice = settings[LANGUAGE]
    return QLocale.system() if choice == "system" else QLocale(choice)


def use_language(application: QApplication, locale: QLocale) -> bool:
    """Use ``locale`` for texts, numbers and dates of all widgets created afterwards; return whether it changed."""
    if locale.language() == QLocale.Language.C:  # the date formats of the C locale are not meant for users
        locale = QLocale("en_US")
    if _installed and locale == QLocale():
        return False
    for translator in _installed:
        application.removeTranslator(translator)
    _installed.clear()
    QLocale.setDefault(locale)
    # English also has a translation file, for its plural forms.
    folder = str(paths.resources() / "translations")
    ours = QTranslator(application)
    if not ours.load(locale, "studio", "_", folder):
        locale = QLocale("en_US")  # no translation: use English, including Qt's own buttons
        ours.load(locale, "studio", "_", folder)
    qt = QTranslator(application)
    if qt.load(locale, "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        _install(application, qt)
    _install(application, ours)  # last, so that it takes precedence over Qt's
    return True


def _install(application: QApplication, translator: QTranslator) -> None:
    application.installTranslator(translator)
    _installed.append(translator)


def duration_text(seconds: float) -> str:
    """Return a duration as ``10 s``, ``12 min`` or ``1 h 2 min``."""
    if seconds < 60:
        return QCoreApplication.translate("Models", "{seconds} s").format(seconds=round(seconds))
    if seconds < 3600:
        return QCoreApplication.translate("Models", "{minutes} min").format(minutes=round(seconds / 60))
    hours, rest = divmod(seconds, 3600)
    words = QCoreApplication.translate("Models", "{hours} h {minutes} min")
    return words.format(hours=int(hours), minutes=int(rest / 60))
