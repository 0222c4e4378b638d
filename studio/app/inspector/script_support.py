"""Whether a model can read what is written, by what the catalogue says of its languages.

A model that cannot does not fail: it speaks, and no words are in it.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QCoreApplication

from studio.app.translation import QT_TRANSLATE_NOOP

_TAG = re.compile(r"\[[^\]]*\]|<[^>]*>")  # of the style, not of the language
# Which languages are written so. Letters beside these are of languages that no model knows.
_WRITINGS: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = (
    (re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"), frozenset({"zh", "yue", "ja"})),
    (re.compile(r"[\u3040-\u30ff]"), frozenset({"ja"})),
    (re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"), frozenset({"ko"})),
    (re.compile(r"[\u0400-\u052f]"), frozenset({"ru"})),
    (re.compile(r"[\u0590-\u08ff\u0900-\u0e7f]"), frozenset()),
)
_NOBODY_CAN = QT_TRANSLATE_NOOP(
    "KnownWriting", "{model} knows {languages} only: what is written otherwise becomes sounds without words."
)
_OTHERS_CAN = QT_TRANSLATE_NOOP(
    "KnownWriting",
    "{model} knows {languages} only: what is written otherwise becomes sounds without words. "
    "Other models (menu File) know more languages.",
)


def is_script_supported(languages: frozenset[str], text: str) -> bool:
    written = _TAG.sub(" ", text)
    return all(languages & known or not letters.search(written) for letters, known in _WRITINGS)


def unsupported_script_hint(model_name: str, text: str) -> str:
    """What a person should know before the line is spoken; empty where all is well, or nothing known of the model."""
    from studio.app.models.model_text import language_text  # noqa: PLC0415 - after the first paint
    from studio.catalog.known import known_models  # noqa: PLC0415

    models = known_models()
    known = models.get(model_name)
    if known is None or is_script_supported(frozenset(known.languages), text):
        return ""
    others_can = any(is_script_supported(frozenset(other.languages), text) for other in models.values())
    words = QCoreApplication.translate("KnownWriting", _OTHERS_CAN if others_can else _NOBODY_CAN)
    return words.format(model=model_name, languages=language_text(known))
