"""Style presets by the names that scripts use for them."""

from __future__ import annotations

from functools import cache

from studio import paths
from studio.project.lines import LineStyle
from studio.text.styles import STYLES_FILE, Preset, load_styles

_GENERATIONS = ("cosyvoice3", "cosyvoice2")
# Names besides those of the presets.
_OTHER_STYLE_NAMES = {
    "emotion.happy": "happily happiness joy joyful cheerful 高兴 快乐 愉快 喜悦",
    "emotion.sad": "sadly sadness 悲伤 难过 悲痛",
    "emotion.angry": "angrily anger mad furious 愤怒 发怒 恼怒",
    "emotion.surprised": "surprise astonished 吃惊 惊奇 震惊",
    "emotion.fear": "afraid scared fear 害怕 惊恐",
}


def style_named(words: str) -> LineStyle:
    """Return the style preset whose id or label is ``words``, or else ``words`` as an instruction."""
    wanted = _bare(words)
    family = _families().get(wanted)
    if family is not None:
        return LineStyle(preset=family)
    return LineStyle(instruct=words.strip()) if wanted else LineStyle()


@cache
def _families() -> dict[str, str]:
    """Return preset families by all their names; the newest generation takes precedence, bundled models come last."""
    found: dict[str, str] = {}
    lists = [load_styles(generation) for generation in _GENERATIONS]
    lists += [load_styles("", file.parent) for file in sorted(paths.resources().glob(f"models/*/{STYLES_FILE}"))]
    for preset in (preset for styles in lists for preset in styles.presets):
        for name in _names(preset):
            found.setdefault(name, preset.family)
    for family, names in _OTHER_STYLE_NAMES.items():
        for name in names.split(" "):
            found.setdefault(name, family)
    return found


def _names(preset: Preset) -> tuple[str, ...]:
    names = (preset.id, preset.family, preset.label_en, preset.label_zh, preset.instruction)
    return tuple(map(_bare, names))


def _bare(words: str) -> str:
    return words.strip(" .。!！").casefold()
