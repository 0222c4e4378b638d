"""The voices that ship with the program: mixtures of the teacher's voices, which read a fifth of the corpus.

An earlier training left them out, and the model then lost words of some of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from training.corpus.voices import Mixture, Split, VoiceRecipe

_WEIGHT = 12  # about a fifth of the lines in training
# How voices read the other language, by gender and accent.
_MANNERS: dict[tuple[str, str], Mixture] = {
    ("f", "us"): {"af_heart": 0.5, "af_bella": 0.5},
    ("f", "gb"): {"bf_emma": 1.0},
    ("f", "zh"): {"zf_xiaoxiao": 0.5, "zf_xiaobei": 0.5},
    ("m", "us"): {"am_fenrir": 0.5, "am_michael": 0.5},
    ("m", "gb"): {"bm_fable": 0.5, "bm_george": 0.5},
    ("m", "zh"): {"zm_yunxi": 0.5, "zm_yunjian": 0.5},
}


@dataclass(frozen=True, slots=True)
class PromptVoice:
    """A bundled voice: its name and description for the user, its mixture, and its sentence."""

    name: str
    description: str
    language: str
    accent: str
    timbre: Mixture
    manner: Mixture
    sentence: int
    pitch: float = 1.0

    @property
    def recipe(self) -> VoiceRecipe:
        gender = next(iter(self.timbre))[1]
        english = self.manner if self.language == "en" else _MANNERS[gender, self.accent]
        mandarin = self.manner if self.language == "zh" else _MANNERS[gender, "zh"]
        return VoiceRecipe(
            self.name,
            gender,
            self.accent,
            Split.TRAIN,
            self.timbre,
            english,
            mandarin,
            self.pitch,
            rate=1.0,
            weight=_WEIGHT,
        )


# The names of the earlier voices are kept, because projects refer to them.
PROMPT_VOICES = (
    PromptVoice(
        "Ada", "A bright woman's voice, American.", "en", "us",
        {"af_heart": 0.5, "af_nova": 0.3, "bf_emma": 0.2}, {"af_heart": 0.6, "af_bella": 0.4}, 0,
    ),
    PromptVoice(
        "Angus", "A light man's voice, British.", "en", "gb",
        {"bm_fable": 0.5, "am_echo": 0.3, "bm_daniel": 0.2}, {"bm_fable": 0.6, "bm_george": 0.4}, 1, 1.06,
    ),
    PromptVoice(
        "Miles", "A deep man's voice, American.", "en", "us",
        {"am_onyx": 0.4, "am_fenrir": 0.35, "pm_alex": 0.25}, {"am_fenrir": 0.5, "am_michael": 0.5}, 2, 0.94,
    ),
    PromptVoice(
        "Linda", "A warm woman's voice, British.", "en", "gb",
        {"bf_isabella": 0.5, "af_sarah": 0.3, "ff_siwis": 0.2}, {"bf_emma": 0.7, "bf_isabella": 0.3}, 3, 0.95,
    ),
    PromptVoice(
        "Max", "A lively man's voice, American.", "en", "us",
        {"am_liam": 0.4, "am_michael": 0.35, "em_alex": 0.25}, {"am_michael": 0.7, "am_eric": 0.3}, 4,
    ),
    PromptVoice(
        "Lan", "A clear woman's voice, Mandarin.", "zh", "us",
        {"zf_xiaoxiao": 0.5, "zf_xiaobei": 0.3, "af_aoede": 0.2}, {"zf_xiaoxiao": 0.6, "zf_xiaobei": 0.4}, 0,
    ),
    PromptVoice(
        "Mei", "A soft woman's voice, Mandarin.", "zh", "us",
        {"zf_xiaoni": 0.5, "jf_alpha": 0.3, "zf_xiaoxiao": 0.2}, {"zf_xiaoni": 0.6, "zf_xiaoxiao": 0.4}, 1, 0.96,
    ),
    PromptVoice(
        "Bo", "A calm man's voice, Mandarin.", "zh", "us",
        {"zm_yunjian": 0.5, "am_fenrir": 0.3, "zm_yunxi": 0.2}, {"zm_yunjian": 0.6, "zm_yunxi": 0.4}, 2, 0.95,
    ),
    PromptVoice(
        "Jun", "A young man's voice, Mandarin.", "zh", "us",
        {"zm_yunxi": 0.5, "zm_yunxia": 0.3, "jm_kumo": 0.2}, {"zm_yunxi": 0.7, "zm_yunxia": 0.3}, 3, 1.05,
    ),
)  # fmt: skip
