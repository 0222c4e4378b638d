"""Training of the speech language model, which generates speech tokens from text and prompt.

It learns from the corpus, and from readings beside it (``train.py corpus --readings --corpus readings``), which are made
faster: small corpora are learned by heart, and then rare words are wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from studio.model.config import SpeechLMConfig
from studio.text.respellings import RESPELLINGS_FILE
from studio.text.tokenizer import TextTokenizer
from training.corpus.store import Corpus
from training.corpus.tokens import TABLE_FILE, TokenTable
from training.shipping.instructions import Instruction, read_instructions
from training.shipping.respellings import VOCABULARY_FOLDER
from training.shipping.text_vocabulary import has_text_vocabulary, open_text_vocabulary, write_text_vocabulary
from training.trainers.bfloat16 import prefers_bfloat16
from training.trainers.checkpoints import load_facts, load_weights
from training.trainers.crops import open_corpus
from training.trainers.loop import Trainer, begin
from training.trainers.optimizers import adam_and_muon
from training.trainers.options import READINGS_FOLDER, TrainingFailed, TrainingOptions
from training.trainers.reading_guide import ReadingGuide
from training.trainers.speech_lm_lines import SpokenLine, read_lines
from training.trainers.speech_lm_network import FactoredSpeechLM, SequenceBatch, speech_lm_config
from training.trainers.speech_lm_sequences import SequenceMaker, SequenceSettings, batches_of_like_length, collate
from training.trainers.speech_lm_validation import Speaking, Trial, zero_shot_trials

STAGE = "speech_lm"
_TOKENS_PER_SECOND = 25.0
_POOL = 256  # sequences drawn before they are sorted into batches


@dataclass(frozen=True, slots=True)
class Settings:
    """``positions`` is the size of a batch including padding; on a GPU, batches are ``gpu_factor`` times as large.

    They grow from ``first_positions``, because a few sentences suffice for the first gradients.
    """

    hidden_size: int = 256
    num_layers: int = 8
    num_heads: int = 4
    num_kv_heads: int = 4
    intermediate_size: int = 768
    first_positions: int = 1024
    positions: int = 2560
    growing_steps: int = 4000
    gpu_factor: int = 8
    matrix_rate: float = 0.02
    adam_rate: float = 0.003
    weight_decay: float = 0.05
    cool_down_share: float = 0.3
    short_steps: int = 600  # first single utterances, from which reading is learned faster
    guided_steps: int = 12_000  # with decreasing weight; with 2,000, words were repeated and lost
    guided_layer: int = 2
    bfloat16: bool = True
    num_trials: int = 12
    minutes_between_validations: float = 30.0


def train(options: TrainingOptions) -> dict[str, float]:
    """Raises ``TrainingFailed``."""
    settings = options.with_settings(Settings())
    begin(options)
    corpus = open_corpus(options)
    table, lines = corpus.table, read_all_lines(options)
    learned = _learned(lines)
    if not learned:
        raise TrainingFailed("The corpus contains no training lines yet. Extend it first.")
    tokenizer = _text_vocabulary(options, learned)
    network = FactoredSpeechLM(
        speech_lm_config(
            tokenizer.num_tokens,
            hidden_size=settings.hidden_size,
            num_layers=settings.num_layers,
            num_heads=settings.num_heads,
            num_kv_heads=settings.num_kv_heads,
            intermediate_size=settings.intermediate_size,
        ),
        table,
    )
    network.letters_in.spell(tokenizer)
    network.to(options.device)
    instructions = read_instructions()
    optimizers = adam_and_muon(STAGE, network, settings, matrices_in="backbone.layers")
    trainer = Trainer(
        STAGE,
        options,
        networks={"speech_lm": network},
        optimizers=optimizers,
        averaged=("speech_lm",),
        average_decay=0.998,
        facts={
            "num_text_rows": tokenizer.num_tokens,
            "hidden_size": settings.hidden_size,
            "num_layers": settings.num_layers,
            "num_heads": settings.num_heads,
            "num_kv_heads": settings.num_kv_heads,
            "intermediate_size": settings.intermediate_size,
        },
        warm_up_steps=100,
        cool_down_share=settings.cool_down_share,
        validate=_validation(network, lines, table, tokenizer, instructions, settings=settings),
        minutes_between_validations=settings.minutes_between_validations,
    )
    sequences = SequenceSettings()

    def make_sequences() -> SequenceMaker:
        own = _learned(read_all_lines(options))
        return SequenceMaker(own, table.scheme, tokenizer, instructions, settings=sequences, random=trainer.random)

    batches = _batches(make_sequences, trainer, settings, table)
    guide = ReadingGuide(network.backbone, layer=min(settings.guided_layer, settings.num_layers - 1))
    is_bfloat16 = settings.bfloat16 and prefers_bfloat16(trainer.device)
    for _ in trainer.steps():
        batch = next(batches).to(trainer.device)
        with torch.autocast(trainer.device.type, torch.bfloat16, enabled=is_bfloat16):
            hidden = network.hidden(batch)
        each, is_pair_right, is_pitch_right = network.losses(hidden.float(), batch)
        loss = (each * batch.weights).sum() / batch.weights.sum()
        pull = 1.0 - trainer.step / max(1, settings.guided_steps)
        if pull > 0.0:
            astray = guide.loss(batch.reading)
            trainer.note(astray=astray)
            loss = loss + pull * astray
        else:
            guide.close()
        trainer.descend(loss, *optimizers, largest_gradient=1.0)
        trainer.note(
            heard_seconds=len(each) / _TOKENS_PER_SECOND,
            loss=(each.detach() * batch.weights).sum() / batch.weights.sum(),
            pair_accuracy=is_pair_right.float().mean(),
            pitch_accuracy=is_pitch_right.float().mean(),
        )
    return trainer.finish()


def _text_vocabulary(options: TrainingOptions, lines: list[SpokenLine]) -> TextTokenizer:
    """Return the vocabulary of the work folder, learned from ``lines`` if it is new."""
    folder = options.work / VOCABULARY_FOLDER
    if not (folder / RESPELLINGS_FILE).is_file():
        raise TrainingFailed(f"{folder} has no pronunciations of words. Write them first: train.py words")
    if not has_text_vocabulary(folder):
        instructions = [sentence for each in read_instructions().values() for sentence in each.sentences]
        write_text_vocabulary(folder, sorted({line.spoken for line in lines}), instructions)
    return open_text_vocabulary(folder)


def _batches(
    make_sequences: Callable[[], SequenceMaker], trainer: Trainer, settings: Settings, table: TokenTable
) -> Iterator[SequenceBatch]:
    """Yield batches without end. A corpus that is still being created is read again when it has grown."""
    factor = settings.gpu_factor if trainer.device.type == "cuda" else 1
    growth = settings.positions - settings.first_positions
    num_shards, maker = _num_shards(trainer.options), make_sequences()
    while True:
        if _num_shards(trainer.options) != num_shards:
            num_shards, maker = _num_shards(trainer.options), make_sequences()
        is_short = trainer.step < settings.short_steps
        grown = min(1.0, trainer.step / max(1, settings.growing_steps))
        most = factor * int(settings.first_positions + grown * growth)
        pool = [maker.draw(is_short=is_short) for _ in range(_POOL)]
        for batch in batches_of_like_length(pool, most, trainer.random):
            yield collate(batch, table.scheme)


def read_all_lines(options: TrainingOptions) -> list[SpokenLine]:
    """Return the lines of the corpus and of the readings beside it."""
    corpus = open_corpus(options)
    folder = _readings(options)
    readings = read_lines(Corpus.open(folder, corpus.table)) if any(folder.glob("shard-*.json")) else []
    return read_lines(corpus) + readings


def _readings(options: TrainingOptions) -> Path:
    return options.corpus.parent / READINGS_FOLDER


def _learned(lines: list[SpokenLine]) -> list[SpokenLine]:
    return [line for line in lines if line.split == "train" and line.speaker.split == "train"]


def _num_shards(options: TrainingOptions) -> int:
    return sum(1 for folder in (options.corpus, _readings(options)) for _ in folder.glob("shard-*.json"))


def _validation(
    network: FactoredSpeechLM,
    lines: list[SpokenLine],
    table: TokenTable,
    tokenizer: TextTokenizer,
    instructions: dict[str, Instruction],
    *,
    settings: Settings,
) -> Callable[[], dict[str, float]]:
    """Loss on fixed sequences, and generated speech after prompts of training voices and of unseen ones."""
    random = np.random.default_rng(1)
    held_out = [line for line in lines if line.split == "validation"]
    known = [line for line in held_out if line.speaker.split == "train"]
    unseen = [line for line in held_out if line.speaker.split == "validation"]
    sets: dict[str, list[Trial]] = {
        f"{language}{name}": zero_shot_trials(
            [line for line in each if line.language == language], tokenizer, settings.num_trials // 2, random
        )
        for name, each in (("", known), ("_unseen", unseen))
        for language in ("en", "zh")
    }
    still = SequenceSettings(corrupted_speech=0.0, divided_share=0.0)
    maker = (
        SequenceMaker(known, table.scheme, tokenizer, instructions, settings=still, random=random) if known else None
    )
    fixed = [maker.draw() for _ in range(64)] if maker else []
    batches = (
        [collate(batch, table.scheme) for batch in batches_of_like_length(fixed, settings.positions, random)]
        if fixed
        else []
    )
    texts = sorted({line.spoken for line in known if line.language == "en"})[: settings.num_trials // 4]
    styles = {line.style for line in lines}

    def validate() -> dict[str, float]:
        device = network.marks_in.device
        sums = np.zeros(4)
        for cpu_batch in batches:
            batch = cpu_batch.to(device)
            each, is_pair_right, is_pitch_right = network.losses(network.hidden(batch), batch)
            parts = (each, is_pair_right.float(), is_pitch_right.float(), torch.ones_like(each))
            sums += [float((part * batch.weights).sum()) for part in parts]
        names = ("loss", "pair_accuracy", "pitch_accuracy")
        values = dict(zip(names, (sums[:3] / max(sums[3], 1.0)).tolist(), strict=True))
        speaking = Speaking(network.shipped(), table)
        for name, trials in sets.items():
            if trials:
                values |= {f"{name}_{measure}": value for measure, value in speaking.measure(trials).items()}
                values[f"{name}_arriving_phone_error_rate"] = speaking.measure_arriving(trials)
        spoken_styles = {style: each for style, each in instructions.items() if style in styles}
        return values | (speaking.measure_styles(texts, spoken_styles, tokenizer) if texts else {})

    return validate


def load_network(checkpoint: Path) -> FactoredSpeechLM:
    """Return the trained network with averaged weights. Raise ``TrainingFailed`` if it does not exist."""
    sizes = {name: int(value) for name, value in load_facts(checkpoint).items()}
    network = FactoredSpeechLM(speech_lm_config(**sizes), TokenTable.read(checkpoint.with_name(TABLE_FILE)))
    network.load_state_dict(load_weights(checkpoint, STAGE))
    return network.eval()


def official_speech_lm(checkpoint: Path) -> tuple[SpeechLMConfig, dict[str, torch.Tensor]]:
    """Return the sizes for yaml and ``config.json``, and the tensors of ``llm.pt`` in float32.

    Raise ``TrainingFailed`` if there is no checkpoint.
    """
    network = load_network(checkpoint).shipped()
    return network.config, dict(network.state_dict())
