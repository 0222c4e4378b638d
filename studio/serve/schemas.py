"""Bodies of requests and answers. Names follow OpenAI's API where it defines them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, model_validator

from studio.audio.time_stretch import MAX_SPEED, MIN_SPEED
from studio.model.options import Quality
from studio.text.language import Language, tag_named

MAX_INPUT = 20_000  # characters, some 25 minutes of speech
MAX_PAUSE_SECONDS = 300.0  # between pieces of a text that arrives
_MAX_NAME = 200
FormatName = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]
StreamFormat = Literal["audio", "file", "sse", "json"]
Name = Annotated[str, StringConstraints(max_length=_MAX_NAME)]


def _language_tag(value: str) -> str:
    tag = tag_named(value)
    if tag is None:
        raise ValueError(f"language must be one of {', '.join(language.value for language in Language)}")
    return tag


LanguageTag = Annotated[str, StringConstraints(max_length=35), AfterValidator(_language_tag)]
Speed = Annotated[float, Field(ge=MIN_SPEED, le=MAX_SPEED)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]
SampleRate = Annotated[int, Field(ge=8_000, le=48_000)]


class VoiceId(BaseModel):
    id: Name


class SpeechOptionsBody(BaseModel):
    """Options of synthesis that do not depend on when the text arrives. A field that is null counts as absent."""

    model: Name = Field(
        "", description="The served model. Names of models that this program does not know also mean the served model."
    )
    voice: Name | VoiceId = Field(
        "", description="Name of a voice, or of one of OpenAI's voices; empty for the default voice."
    )
    instructions: str | None = Field(
        None,
        max_length=2_000,
        description="How to speak: the name of a style of the model, or an instruction, which is left out if the model "
        "follows only its styles.",
    )
    preset: Name | None = Field(None, description="Id of a style, such as emotion.happy.")
    language: LanguageTag = Field(
        "", description="Language of the text, such as de or en-GB, for numbers and dates; empty: detected."
    )
    speed: Speed = 1.0
    seed: Seed = Field(0, description="The same seed and text give the same audio.")
    quality: Quality | None = Field(
        None,
        description="exact: as released; fast: within 0.6 dB of it in a short test; draft: within 1.6 dB. "
        "Default: the service's quality.",
    )
    sample_rate: SampleRate | None = Field(
        None, description="In hertz; by default the sample rate of the model, and 24000 for pcm over HTTP."
    )
    timestamp_granularities: list[Literal["word"]] = Field(
        default=[],
        max_length=1,
        description="[“word”] adds the time of each word, as in OpenAI's transcriptions. Not for stream_format audio.",
    )
    allow_unsupported_language: bool = Field(
        default=False, description="Speak text in a language that the model has not learned. It is unintelligible."
    )

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, values: Any) -> Any:
        """Clients that serialise all their fields send null for those that are not set."""
        if not isinstance(values, dict):
            return values
        return {name: value for name, value in values.items() if value is not None}


class SpeechBody(SpeechOptionsBody):
    """A text to synthesize."""

    input: str = Field(min_length=1, max_length=MAX_INPUT)
    response_format: FormatName = "mp3"
    stream_format: StreamFormat = Field(
        "audio",
        description="audio: the file, sent while it is synthesised; file: the whole file, with a signed manifest; "
        "sse: events with parts of it; json: one object with the whole file.",
    )


class SpokenWord(BaseModel):
    """Time of a word in the audio, in seconds. In Chinese and Japanese, of a character."""

    word: str
    start: float
    end: float

    def later(self, seconds: float) -> SpokenWord:
        """Return the word ``seconds`` later."""
        return SpokenWord(word=self.word, start=round(self.start + seconds, 3), end=round(self.end + seconds, 3))


class Usage(BaseModel):
    """Number of text tokens and of speech tokens."""

    input_tokens: int
    output_tokens: int
    total_tokens: int


class SpeechEnd(BaseModel):
    """The facts that are known after the last audio."""

    usage: Usage
    quality: Quality = Field(
        Quality.EXACT,
        description="The quality in which it was spoken: exact if the model or its engine supports no other.",
    )
    words: list[SpokenWord] | None = Field(
        default=None,
        description="Only on request. Words that are not found in the speech are left out; null if it cannot be aligned.",
    )


class SpeechDelta(BaseModel):
    """Event of stream_format sse: a part of the audio file."""

    type: Literal["speech.audio.delta"] = "speech.audio.delta"
    audio: str = Field(description="Base64.")


class SpeechDone(SpeechEnd):
    """Last event of stream_format sse."""

    type: Literal["speech.audio.done"] = "speech.audio.done"


class WholeSpeech(SpeechEnd):
    """Answer of stream_format json."""

    audio: str = Field(description="The audio file in Base64.")
    response_format: FormatName
    sample_rate: int


def speech_answers() -> dict[str, Any]:
    """Return the forms of the answer to a speech request, for the description of the API."""
    events = [each.model_json_schema(ref_template="#/components/schemas/{model}") for each in (SpeechDelta, SpeechDone)]
    for schema in events:
        schema.pop("$defs", None)  # ``WholeSpeech`` declares them
    return {
        "description": "The audio, in the requested format and form.",
        "model": WholeSpeech,
        "content": {
            "audio/*": {"schema": {"type": "string", "format": "binary"}},
            "text/event-stream": {"schema": {"anyOf": events}},
        },
    }


class VoiceInfo(BaseModel):
    """A voice, with the fields of OpenAI's custom voices. ``id`` is its name."""

    id: str
    object: Literal["audio.voice"] = "audio.voice"
    type: Literal["audio_sample"] = "audio_sample"
    created_at: int = Field(description="Unix time, or 0 for a bundled voice.")
    name: str
    language: str | None
    transcript: str | None
    seconds: float
    is_bundled: bool


class VoiceList(BaseModel):
    object: Literal["list"] = "list"
    voices: list[VoiceInfo]


class AddedVoice(VoiceInfo):
    voice: VoiceInfo
    warnings: list[str]


class RemovedVoice(BaseModel):
    id: str
    object: Literal["audio.voice.deleted"] = "audio.voice.deleted"
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


class ModelVoice(BaseModel):
    name: str
    language: str | None


class ModelDetails(ModelInfo):
    """A model with its voices, in the form of Speaches."""

    task: Literal["text-to-speech"] = "text-to-speech"
    sample_rate: int | None
    voices: list[ModelVoice]


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelInfo]
    models: list[ModelInfo] = Field(description="The same list, under the name that Open WebUI reads.")
