"""What the flow makes of training utterances, beside their true pitch: for the pitch predictor to learn from.

A generated mel is a little blurred, its harmonics most of all, and a predictor that knows only true mels reads them
as a voice of average height. Tokens carry the synthesizer's timing, so every generated frame has a true pitch.

Needs ``flow.pt`` in the work folder, and the speaker encoder it was trained with. Runs for ``--minutes``, writes
shards of a corpus to ``flow_mels`` in the work folder, and makes them anew each time: they are one flow's own.
"""

from __future__ import annotations

import dataclasses
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recipe.corpus.store import Corpus, write_shard
from recipe.corpus.tokens import asked_tokens
from recipe.corpus.utterance import FloatArray, LabelArray, Utterance
from recipe.trainers.checkpoints import load_facts
from recipe.trainers.flow import STAGE as FLOW
from recipe.trainers.flow import FlowSettings, load_network
from recipe.trainers.flow_batches import FlowPieces
from recipe.trainers.flow_network import config_of_facts
from recipe.trainers.flow_validation import shipped_decoder
from recipe.trainers.loop import begin
from recipe.trainers.options import TrainingOptions
from recipe.trainers.speaker_embeddings import SpeakerEmbeddings, encoder_path
from studio.model.flow.decoder import CachedFlowDecoder
from studio.model.stages import FlowPrompt

FOLDER = "flow_mels"
_UTTERANCES_A_SHARD = 40
_LONGEST_PROMPT_TOKENS = 125
_LONGEST_TOKENS = 150


@dataclass(frozen=True, slots=True)
class FlowMelSettings:
    height_share: float = 0.4  # raised and lowered voices
    most_utterances: int = 2000


def train(options: TrainingOptions) -> dict[str, float]:
    """How many ``utterances`` were made, and their ``seconds``. Raises ``TrainingFailed`` where no flow is there yet."""
    settings = options.with_settings(FlowMelSettings())
    begin(options)
    corpus = Corpus.open(options.corpus)
    embeddings = SpeakerEmbeddings.of(
        corpus, encoder_path(options), options.work, most_of_each=FlowSettings().embeddings_per_speaker
    )
    pieces = FlowPieces.of(corpus, corpus.indices(split="train", speaker_split="train"), embeddings)
    checkpoint = options.work / f"{FLOW}.pt"
    decoder = shipped_decoder(load_network(checkpoint), config_of_facts(load_facts(checkpoint)))
    folder = options.work / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    random, end = np.random.default_rng(options.seed), time.monotonic() + 60.0 * options.minutes
    shard: list[tuple[Utterance, LabelArray]] = []
    num_made = num_tokens = 0
    while num_made < settings.most_utterances and time.monotonic() < end:
        shard.append(_made(pieces, decoder, settings, random))
        num_made, num_tokens = num_made + 1, num_tokens + len(shard[-1][0].tokens)
        if len(shard) == _UTTERANCES_A_SHARD:
            _write(folder, num_made, shard)
            shard = []
    if shard:
        _write(folder, num_made, shard)
    return {"utterances": float(num_made), "seconds": num_tokens / 25.0}


def _made(
    pieces: FlowPieces, decoder: CachedFlowDecoder, settings: FlowMelSettings, random: np.random.Generator
) -> tuple[Utterance, LabelArray]:
    """A training utterance with the flow's mel in the place of its own, and its labels."""
    corpus, source = pieces.corpus, pieces.sources[int(random.integers(len(pieces.sources)))]
    is_height = len(source.heights) > 0 and random.random() < settings.height_share
    index = int(random.choice(source.heights if is_height else source.firsts))
    prompt = int(random.choice(source.prompts))
    utterance, labels = corpus[index], corpus.labels(index)
    length = min(len(utterance.tokens), _LONGEST_TOKENS)
    told = FlowPrompt(
        speech_tokens=tuple(corpus.tokens(prompt, num_tokens=_LONGEST_PROMPT_TOKENS).tolist()),
        mel=corpus.mel(prompt, num_tokens=_LONGEST_PROMPT_TOKENS),
        embedding=pieces.embeddings.of_index[prompt],
    )
    tokens = asked_tokens(utterance.tokens[:length], utterance.style)
    stream = decoder.open_stream(decoder.prepare_prompt(told))
    mel: FloatArray = stream.decode(tokens.tolist(), ()).t().numpy()
    stream.close()
    made = dataclasses.replace(
        utterance,
        tokens=tokens,
        mel=mel,
        f0_hz=utterance.f0_hz[: 2 * length],
        samples=utterance.samples[: 960 * length],
    )
    return made, labels[: 2 * length]


def _write(folder: Path, number: int, shard: list[tuple[Utterance, LabelArray]]) -> None:
    utterances, labels = zip(*shard, strict=True)
    write_shard(folder, f"shard-{number:05d}", list(utterances), list(labels))
