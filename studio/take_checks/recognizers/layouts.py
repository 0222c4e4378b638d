"""Published file layouts of recognisers. Does not import ONNX Runtime: the list of models needs it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_SENSE_VOICE_LANGUAGES = ("zh", "en", "ja", "ko", "yue")
_PARAKEET_LANGUAGES = (
    "bg", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "hr", "hu", "it", "lt", "lv", "mt", "nl", "pl", "pt",
    "ro", "ru", "sk", "sl", "sv", "uk",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecognizerLayout:
    """Files of one kind of recogniser.

    Attributes:
        name: As ``generation`` in the list of models.
        networks: Alternatives for each network, the preferred first.
        others: Other required files.
        optional: Files that are kept if they are present.
    """

    name: str
    languages: tuple[str, ...]
    networks: tuple[tuple[str, ...], ...]
    others: tuple[str, ...]
    optional: tuple[str, ...] = ()

    def missing_in(self, folder: Path) -> tuple[str, ...]:
        """Return the required files that are missing."""
        missing = [names[0] for names in self.networks if not any((folder / name).is_file() for name in names)]
        return (*missing, *(name for name in self.others if not (folder / name).is_file()))

    def network(self, folder: Path, index: int) -> Path:
        """Return the preferred file of a network that is present."""
        names = self.networks[index]
        return folder / next((name for name in names if (folder / name).is_file()), names[0])

    @property
    def files(self) -> tuple[str, ...]:
        return (*(name for names in self.networks for name in names), *self.others, *self.optional)


SENSE_VOICE = RecognizerLayout(
    name="sense-voice",
    languages=_SENSE_VOICE_LANGUAGES,
    networks=(("model.int8.onnx", "model.onnx"),),
    others=("tokens.txt",),
)
PARAKEET_TDT = RecognizerLayout(
    name="parakeet-tdt",
    languages=_PARAKEET_LANGUAGES,
    networks=(
        ("encoder-model.int8.onnx", "encoder-model.onnx"),
        ("decoder_joint-model.int8.onnx", "decoder_joint-model.onnx"),
    ),
    others=("nemo128.onnx", "vocab.txt"),
    optional=("config.json", "encoder-model.onnx.data"),
)
# In the order of preference for a language: SenseVoice also aligns, and is smaller.
LAYOUTS = (SENSE_VOICE, PARAKEET_TDT)
LAYOUT_OF = {layout.name: layout for layout in LAYOUTS}


def layout_of(folder: Path) -> RecognizerLayout | None:
    """Return the layout of the recogniser in ``folder``, or None if it contains no recogniser's network."""
    for layout in LAYOUTS:
        if any((folder / name).is_file() for names in layout.networks for name in names):
            return layout
    return None
