"""Bodies of requests and answers. Names are those of OpenAI's API where it defines them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from studio.audio.time_stretch import FASTEST_SPEED, SLOWEST_SPEED

LONGEST_INPUT = 20_000  # characters, some 25 minutes of speech
_LONGEST_NAME = 200
FormatName = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]
Name = Annotated[str, StringConstraints(max_length=_LONGEST_NAME)]
Speed = Annotated[float, Field(ge=SLOWEST_SPEED, le=FASTEST_SPEED)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
SampleRate = Annotated[int, Field(ge=8_000, le=48_000)]


class VoiceId(BaseModel):
    id: Name


class SpeechOptionsBody(BaseModel):
    """Options of synthesis that do not depend on when the text arrives."""

    model: Name = Field("", description="The served model. OpenAI's names, such as tts-1, also mean the served model.")
    voice: Name | VoiceId = Field("", description="Name of a voice; empty for the default voice.")
    instructions: str | None = Field(
        None, max_length=2_000, description="How to speak: an instruction, or the name of a style of the model."
    )
    preset: Name | None = Field(None, description="Id of a style, such as emotion.happy.")
    speed: Speed = 1.0
    seed: Seed = Field(0, description="The same seed and text give the same audio.")
    sample_rate: SampleRate | None = Field(None, description="In hertz; by default the sample rate of the model.")


class SpeechBody(SpeechOptionsBody):
    """A text to synthesize."""

    input: str = Field(min_length=1, max_length=LONGEST_INPUT)
    response_format: FormatName = "mp3"
    stream_format: Literal["audio", "sse"] = "audio"


class VoiceInfo(BaseModel):
    id: str
    name: str
    language: str | None
    transcript: str | None
    seconds: float
    is_bundled: bool


class VoiceList(BaseModel):
    object: Literal["list"] = "list"
    voices: list[VoiceInfo]


class AddedVoice(BaseModel):
    voice: VoiceInfo
    warnings: list[str]


class RemovedVoice(BaseModel):
    id: str
    object: Literal["audio.voice"] = "audio.voice"
    deleted: bool = True


class StyleInfo(BaseModel):
    id: str
    name: str
    name_zh: str
    instruction: str


class TagInfo(BaseModel):
    tag: str
    name: str
    name_zh: str


class StyleList(BaseModel):
    styles: list[StyleInfo]
    tags: list[TagInfo]


class ModelInfo(BaseModel):
    id: str
    name: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "timbre-studio"


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelInfo]
    models: list[ModelInfo] = Field(description="The same list, under the name that Open WebUI reads.")
