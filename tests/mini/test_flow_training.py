"""The flow is trained on what it will be asked at inference, and ships as the program's own network."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fakes import SCHEME, fake_corpus, fake_table

from studio.model.flow.layers import Conditions, FullContext
from studio.model.flow.network import EncoderContext, build_network
from studio.model.stages import FlowPrompt
from training.corpus.store import Corpus
from training.corpus.tokens import TABLE_FILE, Register, TokenTable
from training.trainers import flow
from training.trainers.flow import official_flow
from training.trainers.flow_batches import FlowBatch, FlowPieces, _doubtful
from training.trainers.flow_loss import FlowDraw, MaskedContext, flow_loss
from training.trainers.flow_mels import FlowMels, flow_mel
from training.trainers.flow_network import LearningFlow, flow_config
from training.trainers.flow_validation import shipped_decoder
from training.trainers.options import TrainingFailed, TrainingOptions
from training.trainers.speaker_embeddings import SpeakerEmbeddings
from training.trainers.speaker_network import SpeakerNetwork
from training.trainers.speaker_onnx import write_speaker_onnx

TINY = flow_config(size=64, depth=2, feed_forward_ratio=2, look_ahead_channels=32)


@pytest.fixture(scope="module")
def corpus_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    fake_corpus(folder, utterances_per_speaker=12)
    return folder


@pytest.fixture(scope="module")
def corpus(corpus_folder: Path) -> Corpus:
    return Corpus.open(corpus_folder, TokenTable.read(corpus_folder / TABLE_FILE))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("work") / "speaker_encoder.onnx"
    write_speaker_onnx(SpeakerNetwork(16, 24).eval(), path)
    return path


@pytest.fixture(scope="module")
def embeddings(corpus: Corpus, encoder: Path) -> SpeakerEmbeddings:
    return SpeakerEmbeddings.of(corpus, encoder, encoder.parent, most_of_each=6)


@pytest.fixture
def pieces(corpus: Corpus, embeddings: SpeakerEmbeddings) -> FlowPieces:
    return FlowPieces.of(corpus, corpus.indices(split="train", speaker_split="train"), embeddings)


def learning_flow() -> LearningFlow:
    torch.manual_seed(1)
    network = LearningFlow(TINY, fake_table())
    for weight in network.parameters():  # zeros would hide differences
        torch.nn.init.normal_(weight, std=0.1)
    return network.eval()


@pytest.mark.parametrize("chunk_frames", [None, 16])
def test_the_mask_hides_what_attention_chunk_by_chunk_does_not_see(chunk_frames: int | None) -> None:
    estimator = learning_flow().estimator
    random = torch.Generator().manual_seed(0)
    path, mean = torch.randn(2, 2, 40, 80, generator=random)
    conditions = Conditions(mean, torch.zeros(2, 40, 80), torch.zeros(2, 80))
    time = torch.tensor([0.3, 0.8])
    with torch.no_grad():
        masked, expected = (
            estimator(path, time, conditions, context(chunk_frames)) for context in (MaskedContext, FullContext)
        )
    torch.testing.assert_close(masked, expected)


def test_what_ships_is_what_was_trained() -> None:
    trained = learning_flow()
    shipped = build_network(TINY).eval()
    shipped.load_state_dict(trained.official_tensors())
    tokens = torch.randint(SCHEME.sounds * SCHEME.pitches, (2, 28), generator=torch.Generator().manual_seed(0))
    noise = torch.randn(2, 50, 80, generator=torch.Generator().manual_seed(1))
    outputs = []
    for network in (trained, shipped):
        whole = FullContext(50)
        mean = network.mean(network.embed(tokens), 3, EncoderContext(whole, whole))
        conditions = Conditions(mean, 0.1 * noise, network.speaker(noise[:, :, 0].repeat(1, 4)[:, :192]))
        outputs.append(network.estimator(noise, torch.tensor([0.2, 0.7]), conditions, whole))
    torch.testing.assert_close(outputs[0], outputs[1], rtol=1e-4, atol=1e-4)


def test_a_beginner_says_the_average_mel_whatever_it_hears() -> None:
    network = LearningFlow(TINY, fake_table())
    mean_mel = torch.linspace(-9.0, -3.0, 80)
    network.begin(mean_mel)
    noise = torch.zeros(1, 50, 80)
    conditions = Conditions(noise, noise, torch.zeros(1, 80))
    velocity = network.estimator(noise, torch.tensor([0.0]), conditions, FullContext())
    torch.testing.assert_close(velocity[0], mean_mel.expand(50, -1), rtol=0.0, atol=2.0)


@pytest.mark.slow
def test_pieces_hold_matching_tokens_and_mel_of_training_sentences_only(corpus: Corpus, pieces: FlowPieces) -> None:
    known = set()
    for index in corpus.indices(split="train", speaker_split="train").tolist():
        mel = corpus.mel(index).reshape(-1, 160)
        for tokens in (corpus.heard_tokens(index), corpus.tokens(index)):
            known |= {(token, frames.tobytes()) for token, frames in zip(tokens.tolist(), mel, strict=True)}
    random = np.random.default_rng(3)
    for _ in range(8):
        batch = pieces.batch(4, 60, random)
        assert batch.tokens.shape == (4, 60 + batch.num_following)
        assert batch.mel.shape == (4, 120, 80)
        assert batch.embedding.shape == (4, 192)
        assert batch.num_following in (0, 3)
        for tokens, mel, prompt_frames in zip(batch.tokens, batch.mel.numpy(), batch.prompt_frames, strict=True):
            assert prompt_frames % 2 == 0
            assert 0 <= prompt_frames <= 0.7 * 120
            for token in range(int(prompt_frames) // 2, 60):
                assert (int(tokens[token]), mel[2 * token : 2 * token + 2].tobytes()) in known


def test_most_pieces_go_on_in_the_tokens_that_a_language_model_generates(corpus: Corpus, pieces: FlowPieces) -> None:
    batch = pieces.batch(200, 60, np.random.default_rng(0))
    is_target = np.arange(batch.tokens.shape[1]) >= batch.prompt_frames[:, None].numpy() // 2
    registers = np.array([corpus.table.registers_of(row) for row in batch.tokens.numpy()])
    for register in (Register.SOFT, Register.LOUD):
        generated, heard = (is_target & (registers == register)).sum(), (~is_target & (registers == register)).sum()
        assert generated > 5 * heard  # doubtful tokens have any pitch


def test_mels_of_the_flow_keep_the_times_of_their_lines(
    corpus: Corpus, embeddings: SpeakerEmbeddings, tmp_path: Path
) -> None:
    index, prompt = 2, int(next(iter(embeddings.of_index)))
    mel = flow_mel(learning_flow(), corpus, index, prompt, embeddings.of_index[prompt])
    assert mel.shape == corpus.mel(index).shape
    assert np.isfinite(mel).all()
    np.save(tmp_path / f"{index}.npy", mel)
    mels = FlowMels(corpus, tmp_path)
    assert mels.indices.tolist() == [index]
    np.testing.assert_array_equal(mels.mel(index, from_token=3, num_tokens=4), mel[6:14])


def test_prompts_often_end_where_an_utterance_ends(corpus: Corpus, pieces: FlowPieces) -> None:
    random = np.random.default_rng(0)
    frames = torch.cat([pieces.batch(8, 120, random).prompt_frames for _ in range(10)])
    assert (frames == 0).float().mean() == pytest.approx(0.1, abs=0.09)
    assert frames.float().mean() > 20


def test_only_prompt_tokens_are_ever_doubtful() -> None:
    tokens = np.random.default_rng(0).integers(SCHEME.sounds * SCHEME.pitches, size=200).astype(np.int32)
    changed = [_doubtful(tokens, 100, SCHEME, np.random.default_rng(seed)) != tokens for seed in range(20)]
    assert not any(each[100:].any() for each in changed)
    assert 0.05 < np.mean([each[:100].mean() for each in changed]) < 0.3


def test_nobody_with_a_prompt_is_a_sentence(corpus: Corpus, embeddings: SpeakerEmbeddings) -> None:
    whispered = corpus.indices(style="whisper")
    with pytest.raises(TrainingFailed, match="could be a prompt"):
        FlowPieces.of(corpus, whispered, embeddings)


def test_embeddings_are_kept_until_the_encoder_changes(corpus: Corpus, encoder: Path, tmp_path: Path) -> None:
    first = SpeakerEmbeddings.of(corpus, encoder, tmp_path, most_of_each=2)
    written = (tmp_path / "speaker_embeddings.npz").stat().st_mtime_ns
    second = SpeakerEmbeddings.of(corpus, encoder, tmp_path, most_of_each=2)
    assert (tmp_path / "speaker_embeddings.npz").stat().st_mtime_ns == written
    for index, embedding in first.of_index.items():
        np.testing.assert_array_equal(embedding, second.of_index[index])
        assert np.linalg.norm(embedding) == pytest.approx(1.0, abs=1e-5)
    torch.manual_seed(5)
    write_speaker_onnx(SpeakerNetwork(16, 24).eval(), tmp_path / "other.onnx")
    other = SpeakerEmbeddings.of(corpus, tmp_path / "other.onnx", tmp_path, most_of_each=2)
    assert not np.allclose(*(each.of_index[next(iter(first.of_index))] for each in (first, other)))


class RecordingNetwork:
    """Knows the answer, apart from an error of ``mistake`` in the frames ``wrong``; remembers what it was told."""

    def __init__(self, batch: FlowBatch, draw: FlowDraw, wrong: slice) -> None:
        self._answer = batch.mel - (1 - 1e-6) * draw.noise
        self._answer[:, wrong] += 1.0
        self.conditions: Conditions | None = None
        self.path: torch.Tensor | None = None
        self._frames = batch.mel.shape[1]

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        return torch.ones(*tokens.shape, 80)

    def mean(self, embedded: torch.Tensor, num_following: int, context: EncoderContext) -> torch.Tensor:
        return torch.ones(len(embedded), self._frames, 80)

    def speaker(self, embedding: torch.Tensor) -> torch.Tensor:
        return torch.ones(len(embedding), 80)

    def estimator(
        self, x: torch.Tensor, time: torch.Tensor, conditions: Conditions, context: FullContext
    ) -> torch.Tensor:
        self.path, self.conditions = x, conditions
        return self._answer


def small_batch() -> tuple[FlowBatch, FlowDraw]:
    generator = torch.Generator().manual_seed(0)
    batch = FlowBatch(
        tokens=torch.zeros(2, 13, dtype=torch.long),
        num_following=3,
        mel=torch.randn(2, 20, 80, generator=generator) - 5.0,
        embedding=torch.randn(2, 192, generator=generator),
        prompt_frames=torch.tensor([8, 8]),
    )
    draw = FlowDraw(torch.randn(2, 20, 80, generator=generator), torch.tensor([0.0, 0.25]), torch.tensor([True, False]))
    return batch, draw


def test_the_untold_row_hears_nothing_and_answers_for_its_prompt_frames_too() -> None:
    batch, draw = small_batch()
    network = RecordingNetwork(batch, draw, slice(0, 8))
    loss = flow_loss(network, batch, draw, chunk_frames=50)  # type: ignore[arg-type]
    assert float(loss) == pytest.approx(8 / (12 + 20), rel=1e-5)
    assert network.conditions is not None
    for condition in network.conditions:
        assert condition[0].any()
        assert not condition[1].any()
    assert torch.equal(network.conditions.prompt_mel[0, :8], batch.mel[0, :8])
    assert not network.conditions.prompt_mel[0, 8:].any()
    assert network.path is not None
    torch.testing.assert_close(network.path[0], draw.noise[0])
    torch.testing.assert_close(network.path[1], 0.75 * draw.noise[1] + 0.25 * batch.mel[1], rtol=1e-4, atol=1e-4)


def test_an_exact_velocity_leads_from_noise_to_the_mel() -> None:
    batch, draw = small_batch()
    network = RecordingNetwork(batch, draw, slice(0, 0))
    loss = flow_loss(network, batch, draw, chunk_frames=None)  # type: ignore[arg-type]
    assert float(loss) == pytest.approx(0.0, abs=1e-9)
    arrived = draw.noise + network._answer
    torch.testing.assert_close(arrived, batch.mel, rtol=1e-4, atol=1e-4)


def test_times_are_those_of_the_solver_grid() -> None:
    many = SimpleNamespace(tokens=torch.zeros(4000, 1), mel=torch.zeros(4000, 1, 1))
    times = FlowDraw.of(many, 0.2, torch.Generator().manual_seed(0)).time  # type: ignore[arg-type]
    assert 0.0 <= float(times.min()) <= float(times.max()) <= 1.0
    # Half of the grid's ten steps begin before this time.
    assert float(times.median()) == pytest.approx(1 - math.cos(math.pi / 4), abs=0.01)


@pytest.mark.slow
def test_training_learns_and_leaves_a_flow_the_program_opens(
    corpus_folder: Path, encoder: Path, corpus: Corpus
) -> None:
    work = encoder.parent
    corpus.table.write(work / TABLE_FILE)
    settings = {"size": "64", "depth": "2", "look_ahead_channels": "32", "frames_per_batch": "400"}
    settings |= {"piece_tokens": "50,100", "piece_shares": "0.5,0.5", "validation_targets": "4", "warm_up_steps": "5"}
    options = TrainingOptions(corpus_folder, work, minutes=0.1, settings=settings)
    before = flow.train(TrainingOptions(corpus_folder, work, minutes=0.0, settings=settings, name="flow_at_first"))
    values = flow.train(options)
    assert set(values) == {"loss", "whole_loss", "known", "unknown", "sharpness", "whole_distance"}
    assert values["loss"] < 0.9 * before["loss"]  # few steps on a busy machine
    assert (work / "flow.png").read_bytes().startswith(b"\x89PNG\r\n")
    config, tensors = official_flow(work / "flow.pt")
    network = build_network(config)
    network.load_state_dict(tensors)
    assert config.dit is not None
    assert config.dit.size == 64
    assert json.loads((work / "flow.jsonl").read_text().splitlines()[0])["loss"] > 0


def test_the_validation_decoder_streams_and_decodes_whole() -> None:
    decoder = shipped_decoder(learning_flow(), TINY)
    random = np.random.default_rng(0)
    prompt = FlowPrompt(tuple(range(30)), random.normal(size=(60, 80)).astype(np.float32), np.ones(192, np.float32))
    tokens = tuple(range(100, 140))
    stream = decoder.open_stream(decoder.prepare_prompt(prompt))
    assert stream.decode(tokens, ()).shape == (80, 80)
    assert torch.isfinite(decoder.decode_whole(prompt, tokens)).all()
