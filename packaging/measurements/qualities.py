"""Measure the qualities of a model: distance, cost, understood words and likeness, all from the same speech tokens.

    python3 packaging/measure.py qualities --work FOLDER [--takes 24] [--precisions float32,bfloat16] [--json FILE]
    python3 packaging/measure.py qualities --work FOLDER --model FOLDER --precisions none --takes 60

The first table compares numbers of solver steps and precisions with the exact float32 flow: mel-cepstral distance, and
CPU time of the flow on one thread. ``--precisions none`` omits it. The second table lists the qualities as the program
chooses them, with 95 % intervals for the difference in word error rate from exact takes. FOLDER keeps the cache. It
needs the packages of ``packaging/mini/requirements.txt``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from studio.model.stages import FloatArray, FlowDecoder, FlowPrompt
    from studio.pipeline.request import SynthesisReport, SynthesisRequest
    from studio.pipeline.synthesizer import Synthesizer
    from studio.text.arriving import ArrivingText

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # busy waiting of threads would count as CPU time
    os.environ.setdefault(_name, "1")

_ENCODER_RATE = 16_000
_RESAMPLES = 10_000
_VOICES = ("Ada", "Angus", "Linda", "Max", "Miles")
_ARRIVING = "arriving"
MAX_ERROR_RATE_OVER_WHOLE = 0.05


@dataclass(frozen=True, slots=True)
class Spoken:
    """One sentence in one quality."""

    request: SynthesisRequest
    report: SynthesisReport = field(repr=False)
    samples: FloatArray = field(repr=False)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for the cache")
    parser.add_argument("--model", type=Path, metavar="FOLDER", help="an English model (default: studio-mini)")
    parser.add_argument(
        "--takes",
        type=int,
        default=24,
        help="number of takes of each quality (default 24, one of each sentence up to 60)",
    )
    parser.add_argument("--precisions", default="float32", help="precisions of the flow (default float32), or none")
    parser.add_argument("--json", type=Path, help="file for the results in JSON")
    parsed = parser.parse_args(arguments)
    os.environ["TIMBRE_CACHE"] = str(parsed.work / "cache")
    precisions = [] if parsed.precisions == "none" else parsed.precisions.split(",")
    result = _measure(parsed.model, parsed.takes, precisions)
    print(json.dumps(result, indent=1))
    if parsed.json:
        parsed.json.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    arriving = [row for row in result["qualities"] if row["quality"] == _ARRIVING]
    return int(any(row["word_error_rate_over_exact"] > MAX_ERROR_RATE_OVER_WHOLE for row in arriving))


def _measure(model: Path | None, num_takes: int, precisions: Sequence[str]) -> dict[str, Any]:
    from studio.model.options import Quality  # noqa: PLC0415
    from studio.paths import resources  # noqa: PLC0415
    from studio.pipeline.loading import load_synthesizer  # noqa: PLC0415
    from studio.pipeline.request import EngineOptions, KnownTokens, SynthesisRequest, VoiceReference  # noqa: PLC0415
    from training.corpus.texts import test_sentences  # noqa: PLC0415 - after the environment is set

    folder = model or resources() / "models" / "studio-mini"
    synthesizer = load_synthesizer(folder, EngineOptions(num_threads=1, engines="plain"))
    sentences = test_sentences("en")
    clips = [resources() / "voices" / f"{name}.wav" for name in _VOICES]
    voices = [VoiceReference(clip, clip.with_suffix(".txt").read_text("utf-8").strip()) for clip in clips]
    exact = []
    for take in range(num_takes):
        again, sentence = divmod(take, len(sentences))
        # A sentence that is spoken again has another voice.
        request = SynthesisRequest(sentences[sentence], voices[(take + again) % len(voices)], seed=take)
        exact.append(_speak(synthesizer, request))
    known = [
        replace(
            each.request,
            known_tokens=tuple(KnownTokens(part.spoken_text, part.speech_tokens) for part in each.report.evidence),
        )
        for each in exact
    ]
    spoken = {Quality.EXACT.value: exact} | {
        quality.value: [_speak(synthesizer, replace(request, quality=quality)) for request in known]
        for quality in (Quality.FAST, Quality.DRAFT)
    }
    if synthesizer.description.interleaves_text:
        spoken[_ARRIVING] = [speak_arriving(synthesizer, each.request) for each in exact]
    return {
        "steps": list(_steps(synthesizer, exact, precisions)),
        "qualities": [{"quality": name, **_judged(synthesizer, takes, exact)} for name, takes in spoken.items()],
    }


def speak_arriving(synthesizer: Synthesizer, request: SynthesisRequest) -> Spoken:
    """Speak a sentence as text that arrives word by word. The samples do not depend on when the words arrive."""
    from studio.text.segmentation import IncrementalText  # noqa: PLC0415 - after the environment is set

    text = IncrementalText(interleaves=True)
    words = re.findall(r"\S+\s*", request.text)
    [part] = [part for word in words for part in text.feed(word)] + text.finish()
    return replace(_speak(synthesizer, replace(request, text=part.text), part.arriving), request=request)


def _speak(synthesizer: Synthesizer, request: SynthesisRequest, text: ArrivingText | None = None) -> Spoken:
    import numpy as np  # noqa: PLC0415 - after the environment is set

    from studio.pipeline.request import RequestControl  # noqa: PLC0415

    chunks, samples = synthesizer.stream(request, control=RequestControl(), text=text), []
    while True:
        try:
            samples.append(next(chunks).samples)
        except StopIteration as end:
            return Spoken(request, end.value, np.concatenate(samples))


def _steps(synthesizer: Synthesizer, exact: Sequence[Spoken], precisions: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the distance and the CPU time of each number of steps and precision."""
    from studio.model.config import REDUCED_STEPS, Precision  # noqa: PLC0415 - after the environment is set
    from studio.model.mel_distance import mel_distance_db  # noqa: PLC0415

    inputs = [(_prompt(synthesizer, each), _tokens(each)) for each in exact] if precisions else []
    wanted: list[FloatArray] = []
    exact_seconds = 0.0
    for precision in precisions:
        flow = synthesizer.checkpoint.load_flow(Precision(precision), "cpu")
        for num_steps in (synthesizer.checkpoint.flow.solver.num_steps, *reversed(REDUCED_STEPS)):
            reduced = flow.with_steps(num_steps)
            assert reduced is not None
            mels, seconds = _decoded(reduced, inputs)
            if not wanted:
                wanted, exact_seconds = mels, seconds
            distances = [mel_distance_db(one, other) for one, other in zip(wanted, mels, strict=True)]
            yield {
                "precision": precision,
                "num_steps": num_steps,
                "distance_db": round(sum(distances) / len(distances), 3),
                "largest_distance_db": round(max(distances), 3),
                "relative_cpu_seconds": round(seconds / exact_seconds, 3),
            }


def _decoded(flow: FlowDecoder, inputs: Sequence[tuple[FlowPrompt, tuple[int, ...]]]) -> tuple[list[FloatArray], float]:
    mels: list[FloatArray] = []
    started = time.process_time()
    for prompt, tokens in inputs:
        mels.append(flow.decode_whole(prompt, tokens).numpy(force=True))
    return mels, time.process_time() - started


def _prompt(synthesizer: Synthesizer, spoken: Spoken) -> FlowPrompt:
    from studio.model.stages import FlowPrompt  # noqa: PLC0415 - after the environment is set
    from studio.pipeline.enrolment import build_prompt  # noqa: PLC0415

    prompt = build_prompt(spoken.request.voice, synthesizer.stages.frontend(), "")
    return FlowPrompt(prompt.flow_tokens, prompt.flow_mel, prompt.embedding)


def _tokens(spoken: Spoken) -> tuple[int, ...]:
    return tuple(token for part in spoken.report.evidence for token in part.speech_tokens)


def _judged(synthesizer: Synthesizer, spoken: Sequence[Spoken], exact: Sequence[Spoken]) -> dict[str, Any]:
    """Return what a recogniser understands, the likeness to the clips, and the chosen solver."""
    from training.judging.english_words import Pocketsphinx, words_of  # noqa: PLC0415 - after the environment is set
    from training.trainers.speech_lm_validation import edit_distance  # noqa: PLC0415

    recognizer, texts = Pocketsphinx(), [each.request.text for each in spoken]
    choices = tuple(dict.fromkeys(texts))
    identified = [recognizer.sentence(each.samples, choices) == choices.index(each.request.text) for each in spoken]
    errors, before = (
        [edit_distance(recognizer.words(each.samples), words_of(each.request.text)) for each in takes]
        for takes in (spoken, exact)
    )
    lengths = [len(words_of(text)) for text in texts]
    found = [_similarity(synthesizer, each) for each in spoken]
    quality = spoken[0].report.quality
    return {
        "num_takes": len(spoken),
        "distance_db_of_gate": round(quality.distortion_db, 3),
        "identified": sum(identified),
        "word_error_rate": round(sum(errors) / sum(lengths), 3),
        "word_error_rate_over_exact": round((sum(errors) - sum(before)) / sum(lengths), 3),
        "interval_over_exact": _interval(
            [one - other for one, other in zip(errors, before, strict=True)], lengths, texts
        ),
        "similarity": round(sum(found) / len(found), 3),
    }


def _interval(differences: Sequence[int], lengths: Sequence[int], texts: Sequence[str]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the ratio of the sums of ``differences`` and ``lengths``, resampling sentences."""
    import numpy as np  # noqa: PLC0415 - after the environment is set

    sentences = sorted(set(texts))
    sums = np.zeros((len(sentences), 2))
    for text, difference, length in zip(texts, differences, lengths, strict=True):
        sums[sentences.index(text)] += difference, length
    drawn = np.random.default_rng(0).integers(0, len(sentences), (_RESAMPLES, len(sentences)))
    totals = sums[drawn].sum(axis=1)
    low, high = np.quantile(totals[:, 0] / totals[:, 1], (0.025, 0.975))
    return round(float(low), 3), round(float(high), 3)


def _similarity(synthesizer: Synthesizer, spoken: Spoken) -> float:
    """Return the cosine of the speaker embeddings of the speech and of the clip, by the encoder of the model."""
    import numpy as np  # noqa: PLC0415 - after the environment is set

    from studio.audio.files import read_audio  # noqa: PLC0415
    from studio.audio.waveform import Waveform  # noqa: PLC0415
    from studio.voices.features import kaldi_fbank  # noqa: PLC0415

    encoder = synthesizer.stages.frontend().speaker_encoder
    speech = Waveform(spoken.samples, spoken.report.sample_rate)
    sounds = (speech, read_audio(spoken.request.voice.clip))
    one, other = (encoder.embed(kaldi_fbank(sound.resampled(_ENCODER_RATE))) for sound in sounds)
    return float(np.dot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other)))
