"""Conversion of a line to a synthesis request, and to the parameters of its take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from studio import __version__
from studio.errors import UnusableSetting
from studio.model.options import Quality
from studio.pipeline.request import (
    ConversionRequest,
    EngineDescription,
    KnownTokens,
    Mode,
    SentenceEvidence,
    SynthesisRequest,
    VoiceReference,
)
from studio.project.dictionary import PronunciationDictionary
from studio.project.fingerprint import fingerprint
from studio.project.lines import Line, LineStyle
from studio.project.takes import Take, TakeParameters
from studio.settings import DATE_ORDER, DAY_FIRST, EMOJI, NAMED_EMOJI
from studio.settings_store import Settings
from studio.text.language import ReadingRules, tag_of_line
from studio.text.styles import Styles

# Generations whose models were trained on the phones of ``studio.text.tags.PHONES``.
GENERATIONS_WITH_PHONES = frozenset({"cosyvoice3"})
_RECORDED_LIBRARIES = ("torch", "onnxruntime", "numpy", "soxr", "num2words")


def request_text(line: Line, dictionary: PronunciationDictionary, generation: str) -> str:
    """Return the text of ``line`` with the dictionary applied. ``generation`` is ``EngineDescription.generation``."""
    return dictionary.compile(line.text, speaks_phones=generation in GENERATIONS_WITH_PHONES).strip()


def reading_rules(settings: Settings) -> ReadingRules:
    return ReadingRules(settings[DATE_ORDER] == DAY_FIRST, settings[EMOJI] == NAMED_EMOJI)


def language_tag(line: Line, script_language: str, rules: ReadingRules) -> str:
    """Return the tag of the language in which ``line`` is read."""
    return tag_of_line(line.text, tag=line.language, script=script_language, rules=rules)


def supported_style(style: LineStyle, styles: Styles) -> LineStyle:
    """Return ``style``, or the default style if the model with ``styles`` lacks its preset or instruction."""
    lacks_preset = style.preset and styles.find(style.preset) is None
    lacks_instruction = style.instruct and not styles.understands(style.instruct)
    return LineStyle() if lacks_preset or lacks_instruction else style


def synthesis_request(
    line: Line,
    dictionary: PronunciationDictionary,
    *,
    voice: VoiceReference,
    generation: str,
    seed: int,
    is_played: bool = True,
    keeps_leading_silence: bool = False,
    styles: Styles | None = None,
    quality: Quality = Quality.EXACT,
    language: str = "",
) -> SynthesisRequest:
    """Return the request for ``line``. ``seed`` is the seed of the line or, if it has none, a random one.

    Lines without their own quality get ``quality``. If ``is_played``, the audio is played during synthesis. If the
    model's ``styles`` are known and lack the style of the line, the line is spoken in the default style.
    ``language`` is the result of ``language_tag``.
    """
    style = line.style if styles is None else supported_style(line.style, styles)
    return SynthesisRequest(
        text=request_text(line, dictionary, generation),
        voice=voice,
        instruct=style.instruct or None,
        preset=style.preset or None,
        speed=line.speed,
        seed=seed,
        sampling=line.sampling,
        is_played=is_played,
        trims_leading_silence=not keeps_leading_silence,
        quality=line.quality or quality,
        language=language,
    )


def has_reading(evidence: Sequence[SentenceEvidence]) -> bool:
    """Return whether ``evidence`` contains the speech tokens of a whole take. A take made of parts has none."""
    return bool(evidence) and all(sentence.speech_tokens for sentence in evidence)


def final_request(
    draft: Take, evidence: Sequence[SentenceEvidence], *, voice: VoiceReference, keeps_leading_silence: bool = False
) -> SynthesisRequest:
    """Return the request to speak ``draft`` exactly, with the speech tokens in ``evidence``."""
    parameters = draft.parameters
    return SynthesisRequest(
        text=parameters.text,
        language=parameters.language,
        voice=voice,
        instruct=parameters.style.instruct or None,
        preset=parameters.style.preset or None,
        speed=parameters.speed,
        seed=draft.seed,
        sampling=parameters.sampling,
        is_played=False,
        trims_leading_silence=not keeps_leading_silence,
        known_tokens=tuple(KnownTokens(sentence.spoken_text, sentence.speech_tokens) for sentence in evidence),
    )


def recording_request(
    line: Line, dictionary: PronunciationDictionary, *, voice: VoiceReference, generation: str, language: str = ""
) -> SynthesisRequest:
    """Return the request for the speech tokens of a recording of ``line``. See ``synthesis_request``."""
    request = synthesis_request(line, dictionary, voice=voice, generation=generation, seed=0, language=language)
    return replace(request, speed=1.0, is_divided=False)


def repair_request(
    take: Take, known_tokens: tuple[KnownTokens, ...], *, text: str, seed: int, voice: VoiceReference
) -> SynthesisRequest:
    """Return the request to speak only what is replaced in ``known_tokens`` of ``take``, in its quality."""
    kept = final_request(take, (), voice=voice)
    quality, is_divided = take.parameters.quality, not take.is_recording
    return replace(kept, text=text, seed=seed, quality=quality, known_tokens=known_tokens, is_divided=is_divided)


def require_reading(take: Take, evidence: Sequence[SentenceEvidence], engine: EngineDescription) -> None:
    """Raise ``UnusableSetting`` unless the loaded model can keep the reading of ``take``.

    Speech tokens differ between models.
    """
    if engine.weights_key != take.parameters.model_key:
        raise UnusableSetting(
            "The take was spoken with {model}, which is not loaded.",
            remedy="Choose that model, or speak the line again.",
            model=take.parameters.model_name,
        )
    if not has_reading(evidence):
        raise UnusableSetting(
            "The speech tokens of this take are not stored, because it was edited or joined, or is a recording.",
            remedy="Speak the line again.",
        )


def take_parameters(
    line: Line,
    dictionary: PronunciationDictionary,
    request: SynthesisRequest | ConversionRequest,
    *,
    voice_sha256: str,
    voice_key: str,
    engine: EngineDescription,
    draft: Take | None = None,
) -> TakeParameters:
    """Return the parameters needed to repeat ``request``, which was created from ``line`` and ``dictionary``.

    A request to speak ``draft`` exactly was created from an earlier state of the line. For a voice conversion, the text
    is the name of the source file.
    """
    style, omitted = line.style, None
    if isinstance(request, SynthesisRequest):
        style = LineStyle(preset=request.preset, instruct=request.instruct)
        omitted = line.style.preset or line.style.instruct if style != line.style else None
    return TakeParameters(
        text=request.source.name if isinstance(request, ConversionRequest) else request.text,
        language="" if isinstance(request, ConversionRequest) else request.language,
        seed=request.seed,
        line_fingerprint=fingerprint(line, dictionary) if draft is None else draft.parameters.line_fingerprint,
        mode=(Mode.CONVERSION if isinstance(request, ConversionRequest) else request.mode).value,
        voice_name=request.voice.name or line.voice or "",
        voice_sha256=voice_sha256,
        voice_key=voice_key,
        model_name=engine.model_name,
        model_key=engine.weights_key,
        style=style,
        omitted_style=omitted,
        speed=request.speed,
        sampling=None if isinstance(request, ConversionRequest) else request.sampling,
        quality=request.quality,
        engine=dict(engine.stages),
        versions=dict(library_versions()),
    )


@cache
def library_versions() -> Mapping[str, str]:
    """Return the versions of the libraries that affect the audio, without importing them."""
    from importlib import metadata  # noqa: PLC0415 - slow to import; not needed for the first paint

    found = {"timbre-studio": __version__}
    for name in _RECORDED_LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
