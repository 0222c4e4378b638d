"""Languages that a model has not learned. It does not fail on such text, but speaks it unintelligibly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from studio.catalog.known import Ability, KnownModel, known_models
from studio.errors import UnsupportedLanguage
from studio.messages import Message, message
from studio.text.language import unsupported_language

_LANGUAGE_NAMES = {
    "zh": message("Chinese"),
    "en": message("English"),
    "ja": message("Japanese"),
    "ko": message("Korean"),
    "de": message("German"),
    "es": message("Spanish"),
    "fr": message("French"),
    "it": message("Italian"),
    "ru": message("Russian"),
    "yue": message("Cantonese"),
}


def unlearned_language(model_name: str, text: str) -> str | None:
    """Return the code of the language of ``text`` if the model has not learned it. Unknown models are not restricted."""
    return unlearned_languages(model_name, (text,))[0]


def unlearned_languages(model_name: str, texts: Iterable[str]) -> list[str | None]:
    """Return ``unlearned_language`` of each text."""
    known = known_models().get(model_name)
    return [None if known is None else unsupported_language(text, known.languages) for text in texts]


def language_error(model_name: str) -> UnsupportedLanguage:
    """Return the error of text in a language that the known model ``model_name`` has not learned."""
    return UnsupportedLanguage(
        "{model} speaks {languages} only.",
        remedy="Speech in another language is unintelligible. Use a model that supports it, or speak the line anyway.",
        model=model_name,
        languages=language_names(known_models()[model_name].languages),
    )


def language_names(codes: Sequence[str]) -> Message:
    """Return the names of languages as a list."""
    first = _LANGUAGE_NAMES.get(codes[0], Message(codes[0]))
    if len(codes) == 1:
        return first
    return message("{first}, {rest}", first=first, rest=language_names(codes[1:]))


def models_speaking(languages: Iterable[str]) -> tuple[KnownModel, ...]:
    """Return the models that this version can run, clone voices, and speak all ``languages``, best first."""
    wanted = set(languages)
    return tuple(
        model
        for model in known_models().values()
        if model.is_supported and Ability.CLONE in model.abilities and wanted <= set(model.languages)
    )
