"""Training batches of the flow: pieces that begin with a prompt.

A piece joins utterances of one speaker, so that a prompt in one style is often followed by another style, such as
whispering. Its first part is the prompt: its mel is given, and its tokens contain errors, because at inference they
come from the tokenizer network. The rest has the tokens that a language model generates, or those of a recording for
voice conversion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch

from training.corpus.store import Corpus
from training.corpus.styles import HEIGHT_STYLES
from training.corpus.tokens import TokenScheme
from training.corpus.utterance import MEL_BINS, FloatArray, IntArray
from training.trainers.options import TrainingFailed
from training.trainers.speaker_embeddings import SpeakerEmbeddings

FRAMES_PER_TOKEN = 2
LOOK_AHEAD_TOKENS = 3

_NO_PROMPT_SHARE = 0.1
_WHOLE_UTTERANCE_SHARE = 0.5  # share of prompts that end where an utterance ends, if possible
_MAX_PROMPT_SHARE = 0.7
_MID_UTTERANCE_SHARE = 0.5  # a clip may begin anywhere
_DOUBTFUL_SHARE = 0.6
_GENERATED_SHARE = 0.9
_HEIGHT_SHARE = 0.25  # share of raised or lowered voices after a prompt, if the speaker has them
_WEIGHT_OF_SIZE = 0.7
_MAX_WRONG_TOKENS = 0.35
_FAR_PITCH_SHARE = 0.2


class FlowBatch(NamedTuple):
    """``tokens`` (rows, n + following), ``mel`` (rows, 2n, 80), ``embedding`` (rows, 192), ``prompt_frames`` (rows,)."""

    tokens: torch.Tensor
    num_following: int
    mel: torch.Tensor
    embedding: torch.Tensor
    prompt_frames: torch.Tensor

    def to(self, device: torch.device) -> FlowBatch:
        return FlowBatch(
            self.tokens.to(device),
            self.num_following,
            self.mel.to(device),
            self.embedding.to(device),
            self.prompt_frames.to(device),
        )


class Piece(NamedTuple):
    tokens: IntArray
    mel: FloatArray
    embedding: FloatArray
    num_prompt_tokens: int


class Source(NamedTuple):
    """One speaker's utterances: possible starts of a piece, raised and lowered voices, and possible prompts.

    No piece starts with a raised or lowered voice. After a low prompt it would be unknown whether the speaker's voice
    is always low, and the flow would learn to raise every low voice.
    """

    utterances: npt.NDArray[np.int64]
    firsts: npt.NDArray[np.int64]
    heights: npt.NDArray[np.int64]
    prompts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, corpus: Corpus, utterances: npt.NDArray[np.int64], embedded: npt.NDArray[np.int64]) -> Source:
        is_height = np.array([corpus.entry(number).style in HEIGHT_STYLES for number in utterances.tolist()], bool)
        return cls(utterances, utterances[~is_height], utterances[is_height], np.intersect1d(utterances, embedded))


@dataclass(frozen=True, slots=True, eq=False)
class FlowPieces:
    """Draws pieces.

    Speakers with more utterances are drawn more often, but less than in proportion, because cloning requires variety.
    ``shares`` add up to one.
    """

    corpus: Corpus
    embeddings: SpeakerEmbeddings
    sources: list[Source]
    shares: npt.NDArray[np.float64]

    @classmethod
    def of(cls, corpus: Corpus, indices: npt.NDArray[np.int64], embeddings: SpeakerEmbeddings) -> FlowPieces:
        """Skip speakers without a prompt among ``indices``. Raise ``TrainingFailed`` if no speaker is left."""
        sources = [
            Source.of(corpus, numbers, embeddings.indices[name])
            for name, numbers in corpus.by_speaker(indices).items()
            if name in embeddings.indices
        ]
        sources = [source for source in sources if len(source.prompts)]
        if not sources:
            raise TrainingFailed("No speaker has an utterance that could be a prompt. Make more speech first.")
        weights = np.array([len(source.utterances) for source in sources], dtype=np.float64) ** _WEIGHT_OF_SIZE
        return cls(corpus, embeddings, sources, weights / weights.sum())

    def batch(
        self, num_rows: int, num_tokens: int, random: np.random.Generator, *, embedding_noise: float = 0.0
    ) -> FlowBatch:
        """Draw rows of ``num_tokens`` and look-ahead, which is sometimes missing as at the end of an utterance."""
        num_following = LOOK_AHEAD_TOKENS if random.random() < 0.85 else 0
        pieces = [self._piece(num_tokens, num_following, random) for _ in range(num_rows)]
        mel = np.stack([piece.mel for piece in pieces])
        embedding = np.stack([piece.embedding for piece in pieces])
        embedding += (embedding_noise * random.standard_normal(embedding.shape)).astype(np.float32)
        prompt_frames = [FRAMES_PER_TOKEN * piece.num_prompt_tokens for piece in pieces]
        return FlowBatch(
            tokens=torch.from_numpy(np.stack([piece.tokens for piece in pieces]).astype(np.int64)),
            num_following=num_following,
            mel=torch.from_numpy(mel),
            embedding=torch.from_numpy(embedding),
            prompt_frames=torch.tensor(prompt_frames),
        )

    def _piece(self, num_tokens: int, num_following: int, random: np.random.Generator) -> Piece:
        source = self.sources[int(random.choice(len(self.sources), p=self.shares))]
        first, others, heights = self._first_utterance(source, random), source.utterances, source.heights
        # In half of all cases the embedding is from the prompt, otherwise from another utterance of the speaker.
        embedding_index = first
        if first not in self.embeddings.of_index or random.random() < 0.5:
            embedding_index = self.embeddings.draw_index(self.corpus.entry(first).speaker.name, random)
        length = self.corpus.entry(first).num_tokens
        start = int(random.integers(length // 2)) if random.random() < _MID_UTTERANCE_SHARE and length > 1 else 0
        wanted = num_tokens + num_following
        used, mels = [first], [self.corpus.mel(first, from_token=start)]
        heard = [self.corpus.heard_tokens(first, from_token=start)]
        first_end = len(heard[0])
        missing = wanted - first_end
        while missing > 0:
            is_height = len(heights) > 0 and random.random() < _HEIGHT_SHARE
            used.append(int(random.choice(heights if is_height else others)))
            heard.append(self.corpus.heard_tokens(used[-1], num_tokens=missing))
            mels.append(self.corpus.mel(used[-1], num_tokens=missing))
            missing -= len(heard[-1])
        all_tokens = np.concatenate(heard)[:wanted]
        num_prompt_tokens = _prompt_tokens(num_tokens, first_end, random)
        if random.random() < _GENERATED_SHARE:
            generated = [self.corpus.tokens(first, from_token=start), *map(self.corpus.tokens, used[1:])]
            all_tokens[num_prompt_tokens:] = np.concatenate(generated)[num_prompt_tokens:wanted]
        if random.random() < _DOUBTFUL_SHARE:
            all_tokens = _doubtful(all_tokens, num_prompt_tokens, self.corpus.table.scheme, random)
        mel = np.concatenate(mels)[: FRAMES_PER_TOKEN * num_tokens]
        assert mel.shape == (FRAMES_PER_TOKEN * num_tokens, MEL_BINS)
        return Piece(all_tokens, mel, self.embeddings.of_index[embedding_index], num_prompt_tokens)

    @staticmethod
    def _first_utterance(source: Source, random: np.random.Generator) -> int:
        """Draw an utterance; in half of all cases, one that is suitable as a prompt."""
        return int(random.choice(source.prompts if random.random() < 0.5 else source.firsts))


def _prompt_tokens(num_tokens: int, first_end: int, random: np.random.Generator) -> int:
    if random.random() < _NO_PROMPT_SHARE:
        return 0
    longest = int(_MAX_PROMPT_SHARE * num_tokens)
    if first_end <= longest and random.random() < _WHOLE_UTTERANCE_SHARE:
        return first_end
    return int(random.integers(longest + 1))


def _doubtful(tokens: IntArray, num_prompt_tokens: int, scheme: TokenScheme, random: np.random.Generator) -> IntArray:
    """Change some prompt tokens to a neighbour, another pitch or another sound, like errors of the tokenizer network."""
    tokens = tokens.copy()
    share = random.uniform(0.0, _MAX_WRONG_TOKENS)
    for place in np.flatnonzero(random.random(num_prompt_tokens) < share).tolist():
        kind = random.random()
        if kind < 0.4:
            tokens[place] = tokens[min(max(place + int(random.choice((-1, 1))), 0), len(tokens) - 1)]
        elif kind < 0.7:
            tokens[place] = tokens[place] % scheme.sounds + scheme.sounds * _near_pitch(tokens[place], scheme, random)
        else:
            other = int(tokens[int(random.integers(len(tokens)))])
            tokens[place] = other % scheme.sounds + scheme.sounds * (tokens[place] // scheme.sounds)
    return tokens


def _near_pitch(token: int, scheme: TokenScheme, random: np.random.Generator) -> int:
    """Return usually a pitch up to two levels away, sometimes any pitch."""
    if random.random() < _FAR_PITCH_SHARE:
        return int(random.integers(scheme.pitches))
    pitch = int(token) // scheme.sounds + scheme.slopes * int(random.integers(-2, 3))
    return min(max(pitch, 0), scheme.pitches - 1)
