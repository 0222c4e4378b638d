"""Measures the official implementation: one line of JSON in, one out.

    python official_side.py --official CosyVoice --matcha Matcha-TTS --model FOLDER --generation cosyvoice3 ...

A separate program with its own Python that imports only ``material`` of this project. The official package is imported
from the given checkouts. Its hop is reset before every request, as it would grow otherwise, and its sampled tokens are
replaced by predetermined ones: random weights never end an utterance.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

# Remove this file's folder: its modules may shadow packages.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from measurements.gpu.material import Material, official_cuts

_CLASSES = {"cosyvoice2": "CosyVoice2", "cosyvoice3": "CosyVoice3"}
# Imported by the package for training or reading files, and not used here.
_NOT_NEEDED = (
    "torchaudio",
    "torchaudio.compliance.kaldi",
    "torchaudio.transforms",
    "pyworld",
    "modelscope",
    "pyarrow.parquet",
)
Answer = dict[str, Any]


class OfficialSide:
    """The same measures as ``our_side.OurSide``. Every answer contains ``seconds``."""

    def __init__(self, asked: argparse.Namespace) -> None:
        _stand_in_for_what_is_missing()
        sys.path[:0] = [str(asked.official), str(asked.matcha)]
        self._torch: Any = importlib.import_module("torch")
        self._torch.backends.cuda.matmul.allow_tf32 = False
        self._torch.backends.cudnn.allow_tf32 = False
        if asked.threads:
            self._torch.set_num_threads(asked.threads)
        package = importlib.import_module("cosyvoice.cli.cosyvoice")
        loaded = getattr(package, _CLASSES[asked.generation])(str(asked.model), fp16=asked.fp16)
        self._sample_rate: int = loaded.sample_rate
        self._model: Any = loaded.model
        self._material = Material(asked.speech_tokens, json.loads(asked.instruction))
        self._plain = (self._model.llm.inference, self._model.llm.sampling)

    def warm(self) -> Answer:
        """Warm up with two requests, as the comparison specifies."""
        for _ in range(2):
            list(self._spoken(25, 30))
        return {"seconds": 0.0}

    def first_audio(self, prompt: int, count: int) -> Answer:
        speech = self._spoken(prompt, count)
        seconds, _ = next(speech)
        speech.close()
        return {"seconds": seconds}

    def stream(self, prompt: int, count: int) -> Answer:
        marks = list(self._spoken(prompt, count))
        audio_seconds = sum(samples for _, samples in marks) / self._sample_rate
        return {"seconds": marks[-1][0] / audio_seconds, "audio_seconds": audio_seconds}

    def lines(self, number: int, prompt: int, count: int) -> Answer:
        """Synthesise whole lines one by one. Return seconds per second of audio."""
        started, samples = time.perf_counter(), 0
        for _ in range(number):
            samples += sum(made for _, made in self._spoken(prompt, count, is_streaming=False))
        return {"seconds": (time.perf_counter() - started) * self._sample_rate / samples}

    def llm_decode(self, prompt: int, count: int) -> Answer:
        """Return the seconds per token, without the first."""
        asked = {name: value.to(self._model.device) for name, value in self._request(prompt, count).items()}
        with self._decided(count), self._precision():
            made = self._model.llm.inference(
                text=asked["text"], text_len=self._length(asked["text"]),
                prompt_text=asked["prompt_text"], prompt_text_len=self._length(asked["prompt_text"]),
                prompt_speech_token=asked["llm_prompt_speech_token"],
                prompt_speech_token_len=self._length(asked["llm_prompt_speech_token"]),
                embedding=asked["llm_embedding"],
            )  # fmt: skip
            marks = [time.perf_counter() for _ in made]
        return {"seconds": (marks[-1] - marks[0]) / (len(marks) - 1)}

    def first_chunk_flow(self, prompt: int) -> Answer:
        first = next(official_cuts(prompt, 10_000))
        return {"seconds": self._flow(prompt, first.known, first.known, is_last=False)}

    def stream_flow(self, prompt: int, count: int) -> Answer:
        """Run the flow in the official schedule, whose last call has no streaming mask."""
        cuts = official_cuts(prompt, count)
        return {"seconds": sum(self._flow(prompt, count, cut.known, is_last=cut.is_last) for cut in cuts)}

    def _flow(self, prompt: int, count: int, known: int, *, is_last: bool) -> float:
        asked = {name: value.to(self._model.device) for name, value in self._request(prompt, count).items()}
        token = self._torch.tensor([self._material.speech_tokens(count)[:known]], dtype=self._torch.int32)
        token, voice = token.to(self._model.device), asked["flow_prompt_speech_token"]
        self._synchronize()
        started = time.perf_counter()
        with self._torch.no_grad(), self._precision():
            self._model.flow.inference(
                token=token, token_len=self._length(token), prompt_token=voice, prompt_token_len=self._length(voice),
                prompt_feat=asked["prompt_speech_feat"], prompt_feat_len=self._length(asked["prompt_speech_feat"]),
                embedding=asked["flow_embedding"], streaming=not is_last, finalize=is_last,
            )  # fmt: skip
        self._synchronize()
        return time.perf_counter() - started

    def _spoken(
        self, prompt: int, count: int, *, is_streaming: bool = True
    ) -> Generator[tuple[float, int], None, None]:
        """Yield (seconds since the request, number of samples) for each chunk."""
        model = self._model
        model.token_hop_len = 25
        request, before = self._request(prompt, count), set(threading.enumerate())
        with self._decided(count) as end_now:
            self._synchronize()
            started = time.perf_counter()
            try:
                for made in model.tts(stream=is_streaming, **request):
                    yield time.perf_counter() - started, made["tts_speech"].shape[1]
            finally:
                end_now.set()
                for thread in set(threading.enumerate()) - before:
                    thread.join()
                for left in (model.tts_speech_token_dict, model.llm_end_dict, model.hift_cache_dict):
                    left.clear()

    def _request(self, prompt: int, count: int) -> dict[str, Any]:
        voice, torch = self._material.voice(prompt), self._torch
        tokens = torch.tensor([voice.tokens], dtype=torch.int32)
        embedding = torch.from_numpy(voice.embedding)[None]
        return {
            "text": torch.tensor([self._material.text(count)], dtype=torch.int32),
            "prompt_text": torch.tensor([self._material.prompt_text(prompt)], dtype=torch.int32),
            "llm_prompt_speech_token": tokens,
            "flow_prompt_speech_token": tokens,
            "prompt_speech_feat": torch.from_numpy(voice.mel)[None],
            "llm_embedding": embedding,
            "flow_embedding": embedding,
        }

    @contextlib.contextmanager
    def _decided(self, count: int) -> Iterator[threading.Event]:
        """Yield exactly ``count`` predetermined tokens.

        Sampling runs as well, so that its time counts. Setting the event ends the tokens early.
        """
        llm, (inference, sampling) = self._model.llm, self._plain
        tokens, ends, end = self._material.speech_tokens(count), threading.Event(), self._model.llm.stop_token_ids[0]

        def decided(scores: Any, decoded: list[int], *rest: Any) -> int:
            sampling(scores, decoded, *rest)
            return int(end) if ends.is_set() else tokens[len(decoded)]

        ratio = (count + 0.01) / len(self._material.text(count))
        llm.sampling = decided
        llm.inference = functools.partial(inference, max_token_text_ratio=ratio, min_token_text_ratio=ratio)
        try:
            yield ends
        finally:
            llm.inference, llm.sampling = inference, sampling

    def _length(self, sequence: Any) -> Any:
        return self._torch.tensor([sequence.shape[1]], dtype=self._torch.int32, device=self._model.device)

    def _precision(self) -> Any:
        return self._torch.autocast(self._model.device.type, enabled=self._model.fp16)

    def _synchronize(self) -> None:
        if self._torch.cuda.is_available():
            self._torch.cuda.synchronize()


def _stand_in_for_what_is_missing() -> None:
    for name in _NOT_NEEDED:
        try:
            importlib.import_module(name)
        except (ImportError, OSError):
            sys.modules[name] = MagicMock(__spec__=ModuleSpec(name, None))  # required by transformers


def _answered(side: OfficialSide, line: str) -> Answer:
    order = json.loads(line)
    try:
        measure: Callable[..., Answer] = getattr(side, order["measure"])
        return measure(**order["arguments"])
    except Exception as error:  # noqa: BLE001 - reported; the next measure may succeed
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {error}"[:500]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--official", "--matcha", "--model"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--generation", choices=tuple(_CLASSES), required=True)
    parser.add_argument("--speech-tokens", type=int, required=True)
    parser.add_argument("--instruction", required=True)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--fp16", action="store_true")
    asked = parser.parse_args()
    # Answers use a duplicate of standard output; prints of libraries go to standard error.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    side = OfficialSide(asked)
    print(json.dumps({"ready": True, "torch": side._torch.__version__}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(_answered(side, line)), file=answers, flush=True)


if __name__ == "__main__":
    main()
