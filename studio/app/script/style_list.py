"""Generation, styles and inline tags of the chosen model, with names in the window's language."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLocale, QObject, Signal

from studio.app.translation import QT_TRANSLATE_NOOP
from studio.errors import StudioError
from studio.project.lines import LineStyle
from studio.text.styles import Preset, Styles, family_of, load_styles, names_of_styles, words_of_id
from studio.text.tags import TagSupport

if TYPE_CHECKING:
    from studio.catalog.known import KnownModel
    from studio.catalog.machine import MachineFacts

_log = logging.getLogger(__name__)

_CONTEXT = "StyleList"
_DIALECT, _ACCENT = "dialect", "accent"
_CATEGORIES = {
    "emotion": QT_TRANSLATE_NOOP("StyleList", "Emotion"),
    "tone": QT_TRANSLATE_NOOP("StyleList", "Tone"),
    "speed": QT_TRANSLATE_NOOP("StyleList", "Pace"),
    "volume": QT_TRANSLATE_NOOP("StyleList", "Volume"),
    "pitch": QT_TRANSLATE_NOOP("StyleList", "Pitch"),
    "voice": QT_TRANSLATE_NOOP("StyleList", "Manner"),
    "role": QT_TRANSLATE_NOOP("StyleList", "Role"),
    "persona": QT_TRANSLATE_NOOP("StyleList", "Character"),
    "dialect": QT_TRANSLATE_NOOP("StyleList", "Dialect"),
    _ACCENT: QT_TRANSLATE_NOOP("StyleList", "Accent"),
    "en": QT_TRANSLATE_NOOP("StyleList", "For English texts"),
}
_OTHER = QT_TRANSLATE_NOOP("StyleList", "Other")


@dataclass(frozen=True, slots=True)
class LocalizedStyle:
    """A style of the loaded model or of another one, named in the window's language."""

    family: str  # stored with a line; corresponding styles of other generations have the same key
    name: str
    category: str
    note: str = ""
    model: str = ""  # name of a model that has the style, if the loaded one does not


@dataclass(frozen=True, slots=True)
class NamedTag:
    """An inline tag, named in the window's language."""

    text: str  # inserted into a line; for a span, the opening and the closing tag
    name: str
    is_experimental: bool = False
    cursor_back: int = 0  # number of characters from the end of ``text`` back to the cursor


class StyleList(QObject):
    """Empty until ``use_model`` is called."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.generation: str | None = None  # None if the model's folder cannot be read
        self._styles: tuple[LocalizedStyle, ...] = ()
        self.other_styles: tuple[LocalizedStyle, ...] = ()  # those that only other models have
        self._tags: tuple[NamedTag, ...] = ()
        self._all: Styles | None = None  # None if the model's folder cannot be read
        self._machine: MachineFacts | None = None  # None until it has been probed
        self._names: dict[str, str] = {}  # names by family, including styles that the loaded model does not support

    @property
    def styles(self) -> tuple[LocalizedStyle, ...]:
        """Styles, grouped by category."""
        return self._styles

    @property
    def listed(self) -> tuple[LocalizedStyle, ...]:
        """All styles in the order of a list: those of the model, then those of other models.

        In a Chinese window, Chinese dialects of other models are before the English accents of the model.
        """
        if QLocale().language() != QLocale.Language.Chinese:
            return self._styles + self.other_styles
        accents = tuple(style for style in self._styles if style.category == _ACCENT)
        dialects = tuple(style for style in self.other_styles if style.category == _DIALECT) if accents else ()
        own, others = _without(self._styles, accents), _without(self.other_styles, dialects)
        return own + dialects + accents + others

    @property
    def names(self) -> Mapping[str, str]:
        """The names of style presets by family, including presets that the model does not have."""
        return dict(self._names)

    @property
    def tags(self) -> tuple[NamedTag, ...]:
        return self._tags

    def use_model(self, folder: Path) -> None:
        """Load the styles and tags of the model's generation. If the folder cannot be read, there are none."""
        from studio.catalog.model_styles import styles_of_model  # noqa: PLC0415 - after the first paint
        from studio.model.generations import detect_generation  # noqa: PLC0415

        try:
            generation, _ = detect_generation(folder)
            styles = styles_of_model(generation.name, folder)
            other_presets = self._presets_of_other_models(styles)
        except StudioError as error:
            _log.info("no styles: %s", error)
            self.generation, self._styles, self.other_styles, self._tags = None, (), (), ()
            self._all = None
            self.changed.emit()
            return
        self.generation, self._all = generation.name, styles
        is_chinese = QLocale().language() == QLocale.Language.Chinese
        self._names = names_of_styles(styles, in_chinese=is_chinese)
        self._styles = self._localized((preset, "") for preset in styles.presets)
        self.other_styles = self._localized(other_presets)
        tags = [NamedTag("[pause 0.5]", self.tr("Pause, in seconds"))]
        for tag in styles.tags:
            closing = f"</{tag.tag[1:]}" if tag.tag.startswith("<") else ""
            name = tag.label_zh if is_chinese else tag.label_en
            tags.append(NamedTag(tag.tag + closing, name, tag.grade is TagSupport.EXPERIMENTAL, len(closing)))
        self._tags = tuple(tags)
        self.changed.emit()

    def use_machine(self, machine: MachineFacts) -> None:
        """Name those other models for styles and instructions that are recommended for ``machine``."""
        before, self._machine = self._other_models(), machine
        if self._all is not None and self._other_models() != before:
            self.other_styles = self._localized(self._presets_of_other_models(self._all))
            self.changed.emit()

    @property
    def follows_instructions(self) -> bool:
        """Whether the model follows instructions in the user's own words."""
        return self._all is None or self._all.follows_instructions

    @property
    def instructable_model(self) -> str:
        """The name of the recommended model that follows instructions in the user's own words."""
        return self._other_models()[0].name

    def _other_models(self) -> list[KnownModel]:
        """Return the models that follow instructions, the recommended one first, then by rank."""
        from studio.app.models.model_text import recommended_model  # noqa: PLC0415 - after the first paint
        from studio.catalog.known import Ability, known_models  # noqa: PLC0415

        models = [
            model
            for model in known_models().values()
            if model.is_supported and model.can_be_downloaded and Ability.INSTRUCT in model.abilities
        ]
        advice = recommended_model(self._machine, models)
        return sorted(models, key=lambda model: advice is None or model is not advice.model)

    def _presets_of_other_models(self, styles: Styles) -> list[tuple[Preset, str]]:
        """Return the presets that are not in ``styles``, each with the name of the first of the models that has it."""
        found: dict[str, tuple[Preset, str]] = {}
        for model in self._other_models():
            for preset in load_styles(model.generation).presets:
                found.setdefault(preset.family, (preset, model.name))
        own = {preset.family for preset in styles.presets}
        return [pair for family, pair in found.items() if family not in own]

    def _localized(self, presets: Iterable[tuple[Preset, str]]) -> tuple[LocalizedStyle, ...]:
        """Return the styles by category. Each preset is paired with the name of its model."""
        order = list(_CATEGORIES)
        named = [
            LocalizedStyle(preset.family, self._names[preset.family], _category_of(preset), preset.note, model)
            for preset, model in presets
        ]
        return tuple(
            sorted(named, key=lambda style: order.index(style.category) if style.category in order else len(order))
        )

    def category_name(self, category: str) -> str:
        return QCoreApplication.translate(_CONTEXT, _CATEGORIES.get(category, _OTHER))

    def categorized_name(self, style: LocalizedStyle) -> str:
        """Return the name of a style after that of its category."""
        return self.tr("{category}: {style}").format(category=self.category_name(style.category), style=style.name)

    def unlearned_sounds(self, text: str) -> tuple[str, ...]:
        """Return the tags of sounds in ``text``, such as ``[laughter]``, that the model has not learned."""
        return self._all.unlearned_sounds(text) if self._all is not None else ()

    def label(self, style: LineStyle) -> str:
        """Return the label of a style; empty for the default style."""
        if style.instruct:
            return f"“{style.instruct}”"
        if not style.preset:
            return ""
        return self._names.get(family_of(style.preset)) or words_of_id(style.preset)

    def supports(self, style: LineStyle) -> bool:
        """Return whether the model has the style, or follows the instruction."""
        if style.instruct:
            return self._all is None or self._all.understands(style.instruct)
        return not style.preset or any(named.family == family_of(style.preset) for named in self._styles)


def _category_of(preset: Preset) -> str:
    """Return the category of a style. Dialects of English, whose instructions are English, are accents."""
    category = preset.family.partition(".")[0]
    return _ACCENT if category == _DIALECT and preset.instruction.isascii() else category


def _without(styles: tuple[LocalizedStyle, ...], left_out: tuple[LocalizedStyle, ...]) -> tuple[LocalizedStyle, ...]:
    return tuple(style for style in styles if style not in left_out)
