"""Whether a model supports the script of a text, by its languages in the catalogue.

A model does not fail on an unsupported script: it produces unintelligible speech.
"""

from __future__ import annotations

import re

from PySide6.QtCore import QCoreApplication

from studio.app.translation import QT_TRANSLATE_NOOP

_TAG = re.compile(r"\[[^\]]*\]|<[^>]*>")  # style tags, which are not in the language of the text
# Scripts and the languages that use them. Scripts without a language are supported by no model.
_SCRIPTS: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = (
    (re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]"), frozenset({"zh", "yue", "ja"})),
    (re.compile(r"[\u3040-\u30ff]"), frozenset({"ja"})),
    (re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]"), frozenset({"ko"})),
    (re.compile(r"[\u0400-\u052f]"), frozenset({"ru"})),
    (re.compile(r"[\u0590-\u08ff\u0900-\u0e7f]"), frozenset()),
)
_UNSUPPORTED = QT_TRANSLATE_NOOP(
    "KnownWriting", "{model} supports {languages} only. Text in other languages becomes unintelligible."
)
_SUPPORTED_BY_OTHERS = QT_TRANSLATE_NOOP(
    "KnownWriting",
    "{model} supports {languages} only. Text in other languages becomes unintelligible. "
    "Other models support more languages (File menu).",
)


def is_script_supported(languages: frozenset[str], text: str) -> bool:
    written = _TAG.sub(" ", text)
    return all(languages & known or not letters.search(written) for letters, known in _SCRIPTS)


def unsupported_script_hint(model_name: str, text: str) -> str:
    """Return a warning if the model does not support the script of ``text``; empty for unknown models."""
    from studio.app.models.model_text import language_text  # noqa: PLC0415 - after the first paint
    from studio.catalog.known import known_models  # noqa: PLC0415

    models = known_models()
    known = models.get(model_name)
    if known is None or is_script_supported(frozenset(known.languages), text):
        return ""
    is_supported_by_others = any(is_script_supported(frozenset(other.languages), text) for other in models.values())
    words = QCoreApplication.translate("KnownWriting", _SUPPORTED_BY_OTHERS if is_supported_by_others else _UNSUPPORTED)
    return words.format(model=model_name, languages=language_text(known))
