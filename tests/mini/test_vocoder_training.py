"""The trained vocoder is the shipped one, and its teachers tell the truth."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from fakes import fake_corpus

from studio.model.config import Precision
from studio.model.vocoder import load_vocoder
from studio.model.vocoder.network import CausalHiFT
from training.corpus.store import Corpus
from training.corpus.utterance import SAMPLE_RATE
from training.trainers import f0, vocoder
from training.trainers.crops import CropReader, Crops, training_indices
from training.trainers.discriminator import Discriminator, deceiving_loss, feature_distance, judging_loss
from training.trainers.options import TrainingFailed, TrainingOptions
from training.trainers.phase_teaching import PhaseTrack, SineHeads, measured_track, predicted_track
from training.trainers.spectral_loss import SpectralDistance
from training.trainers.vocoder_envelope import begin_with_envelope, fit_envelope, log_magnitudes
from training.trainers.vocoder_sizes import vocoder_config
from training.trainers.vocoder_start import start
from training.trainers.vocoder_weights import official_tensors


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return fake_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture
def options(tmp_path: Path) -> TrainingOptions:
    fake_corpus(tmp_path / "corpus")
    return TrainingOptions(corpus=tmp_path / "corpus", work=tmp_path / "work", minutes=0.03)


def small_network() -> CausalHiFT:
    network = CausalHiFT(vocoder_config(base_channels=16, f0_channels=8))
    start(network, torch.Generator().manual_seed(0))
    return network


@pytest.mark.slow
def test_a_crop_is_a_piece_of_the_utterance_with_its_surroundings(corpus: Corpus) -> None:
    indices = training_indices(corpus)[:1]
    index = int(indices[0])
    utterance = SimpleNamespace(mel=corpus.mel(index), samples=corpus.samples(index), f0_hz=corpus.f0_hz(index))
    random = np.random.default_rng(0)
    num_frames = len(utterance.mel)
    seen_starts, ends = set(), 0
    for _ in range(60):
        crops = CropReader(corpus, indices, 20).draw(random, 1)
        distances = [
            float(np.abs(utterance.mel[i : i + 20] - crops.mel[0, :, :20].numpy().T).max())
            for i in range(num_frames - 19)
        ]
        first = int(np.argmin(distances))
        assert distances[first] < 1e-4
        seen_starts.add(first)
        assert torch.equal(crops.sound[0], torch.from_numpy(utterance.samples[480 * first : 480 * (first + 20)]))
        padded = np.pad(utterance.samples, (480, 1920))
        assert torch.equal(crops.samples[0], torch.from_numpy(padded[480 * first : 480 * (first + 23)]))
        beyond = np.pad(utterance.mel, ((0, 4), (0, 0)))[first + 20 : first + 24]
        torch.testing.assert_close(crops.mel[0, :, 20:].T, torch.from_numpy(beyond), atol=1e-4, rtol=0)
        assert torch.equal(crops.f0_hz[0], torch.from_numpy(np.pad(utterance.f0_hz, (0, 1))[first : first + 21]))
        ends += first + 20 == num_frames
    assert len(seen_starts) > 5
    assert ends


@pytest.mark.slow
def test_part_of_the_mels_are_seen_through_noise(options: TrainingOptions) -> None:
    f0.train(replace(options, settings={"channels": "8", "batch": "2", "frames": "20"}))
    lesson = vocoder.VocoderLesson(options, vocoder.VocoderSettings(base_channels=16, speckled_share=0.5))
    random = np.random.default_rng(0)
    mel = np.zeros((50, 80), np.float32)
    spreads = np.array([float(lesson._speckle(mel, random).std()) for _ in range(100)])
    assert 30 < (spreads == 0.0).sum() < 70
    assert 0.4 < spreads.max() < 0.55


def tone_crops(hertz: float, phase: float, num_frames: int = 12) -> Crops:
    """A tone whose phase at the first frame's beginning is ``phase``."""
    times = (np.arange((num_frames + 3) * 480) - 480 + 0.5) / SAMPLE_RATE
    samples = 0.3 * np.cos(2 * math.pi * hertz * times + phase)
    return Crops(
        torch.zeros(1, 80, num_frames + 4),
        torch.full((1, num_frames + 1), hertz * 1.01),  # praat is never quite right
        torch.from_numpy(samples[None]).float(),
    )


@pytest.mark.parametrize("hertz", [90.0, 187.0, 330.0])
def test_the_measured_phase_is_that_of_the_sound(hertz: float) -> None:
    crops = tone_crops(hertz, phase=0.7)
    track = measured_track(crops, crops.f0_hz)
    times = torch.arange(1, 14) * 480 / SAMPLE_RATE
    error = track.at_ends[0] - (2 * math.pi * hertz * times + 0.7)
    wrapped = torch.remainder(error + math.pi, 2 * math.pi) - math.pi
    assert wrapped.abs().max() < 0.05
    torch.testing.assert_close(track.steps[0], torch.full((13,), 2 * math.pi * hertz * 0.02), atol=0.05, rtol=0)


def test_a_track_between_its_frames() -> None:
    track = PhaseTrack(torch.tensor([[1.0]]), torch.tensor([[4.0, 8.0]]))
    assert track.at_ends.tolist() == [[5.0, 13.0]]
    assert track.between(2).tolist() == [[2.0, 4.0, 7.0, 11.0]]


def test_the_source_begins_as_the_phase_itself() -> None:
    network = small_network()
    f0_hz = torch.full((1, 60), 133.0)
    track = predicted_track(f0_hz, torch.tensor([[0.4]]))
    phases = vocoder.harmonic_phases(track, 9).repeat_interleave(480, dim=-1)
    with torch.no_grad():
        source = network.m_source(f0_hz, phases, torch.zeros(60 * 480, 9))
    wrapped = torch.remainder(track.at_ends + math.pi, 2 * math.pi) - math.pi
    inner = wrapped.abs() < 2.4  # away from the saw tooth's edge
    ripple = (source[:, ::480].atanh() - 0.3 * wrapped)[inner]
    assert ripple.abs().max() < 0.08


def test_training_makes_sound_as_the_shipped_network_does() -> None:
    network = small_network().requires_grad_(False)
    torch.nn.init.constant_(network.f0_predictor.classifier.bias, 150.0)
    mel = torch.randn(1, 80, 30, generator=torch.Generator().manual_seed(1)) - 6.0
    noise = torch.rand(30 * 480, 9, generator=torch.Generator().manual_seed(2))
    whole, f0_hz = network(mel, noise)
    predicted = f0.predict(network.f0_predictor, mel)
    assert torch.allclose(predicted, f0_hz[:, :27], atol=1e-3)
    track = predicted_track(predicted, torch.zeros(1, 1))
    made = vocoder.decode(network, mel, predicted, track, noise[: 27 * 480])
    assert 26 * 480 - 64 <= made.shape[-1] <= 26 * 480
    torch.testing.assert_close(made, whole[:, : made.shape[-1]], atol=2e-3, rtol=0)


def test_sine_heads_can_be_satisfied_and_are_asked_only_where_voiced() -> None:
    network = small_network()
    heads = SineHeads(network)
    track = predicted_track(torch.full((2, 11), 120.0), torch.zeros(2, 1))
    is_voiced = torch.ones(2, 10, dtype=torch.bool)
    for index, per_frame in ((0, 5), (3, 15)):
        head = heads.heads[index // 3]
        assert isinstance(head, torch.nn.Conv1d)
        count = head.out_channels // 2
        angles = track.between(per_frame)[:, None, : 10 * per_frame] * torch.arange(1, count + 1)[:, None]
        truth = torch.cat((angles.cos(), angles.sin()), dim=1)
        made = torch.zeros(2, head.in_channels, 10 * per_frame)
        width = min(made.shape[1], truth.shape[1])
        made[:, :width] = truth[:, :width]
        with torch.no_grad():
            head.weight.zero_()
            head.weight[:width, :width, 0] = torch.eye(width)
            head.bias.zero_()
        for parallel in range(3):
            heads._made[index + parallel] = made
    with torch.no_grad():
        distance = float(heads.distance(track, is_voiced))
    assert distance == pytest.approx((1.0 - 4 / 4 + 1.0 - 4 / 12) / 2, abs=0.05)  # stage 1 has but four channels here


def test_heads_leave_the_first_channels_alone() -> None:
    network = small_network()
    heads = SineHeads(network, first_channel=2)
    track = predicted_track(torch.full((1, 5), 120.0), torch.zeros(1, 1))
    is_voiced = torch.ones(1, 4, dtype=torch.bool)
    distances = []
    for disturbance in (0.0, 100.0):
        for index, (per_frame, width) in {0: (5, 8), 3: (15, 4)}.items():
            made = torch.zeros(1, width, 4 * per_frame)
            made[:, :2] = disturbance
            heads._made |= {index + parallel: made for parallel in range(3)}
        with torch.no_grad():
            distances.append(float(heads.distance(track, is_voiced)))
    assert distances[0] == distances[1]


@pytest.mark.slow
def test_an_untrained_vocoder_has_the_envelope_of_what_it_is_to_say(corpus: Corpus) -> None:
    """Its magnitudes lie much nearer to the true ones than their mean does, in the stack as it ships."""
    network = CausalHiFT(vocoder_config(base_channels=128, f0_channels=8))
    start(network, torch.Generator().manual_seed(0))
    reader = CropReader(corpus, training_indices(corpus), 20)
    begin_with_envelope(network, fit_envelope(reader.draw(np.random.default_rng(0), 120), network))
    crops = reader.draw(np.random.default_rng(1), 20)
    asked: list[torch.Tensor] = []
    network.conv_post.register_forward_hook(lambda _layer, _inputs, output: asked.append(output))
    noise = torch.rand(21 * 480, 9, generator=torch.Generator().manual_seed(2))
    f0_hz = torch.zeros(20, 21)
    with torch.no_grad():
        vocoder.decode(network, crops.mel, f0_hz, predicted_track(f0_hz, torch.zeros(20, 1)), noise)
    made = asked[0][:, :33, 1:].unflatten(-1, (-1, 30)).mean(-1)
    true = log_magnitudes(crops.sound, network.config).mean(-1)[..., : made.shape[-1]]
    about_mean = (true - true.mean(dim=(0, 2), keepdim=True)).square().mean()
    assert float((made - true).square().mean()) < 0.25 * float(about_mean)


@pytest.mark.slow
def test_a_snake_is_kept_from_standing_still(options: TrainingOptions) -> None:
    f0.train(replace(options, settings={"channels": "8", "batch": "2", "frames": "20"}))
    lesson = vocoder.VocoderLesson(options, vocoder.VocoderSettings(base_channels=16))
    with torch.no_grad():
        lesson._snakes[0].fill_(-1.0)
    lesson._keep_snakes_alive()
    assert float(lesson._snakes[0].detach().min()) > 0.05


def test_distances_of_equal_sounds_are_nothing_and_grow_with_noise() -> None:
    distance = SpectralDistance()
    generator = torch.Generator().manual_seed(0)
    sound = 0.1 * torch.randn(2, 9600, generator=generator)
    noise = torch.randn(2, 9600, generator=generator)
    is_voiced = torch.ones(2, 20, dtype=torch.bool)
    measures = (distance.magnitudes, distance.mels, lambda one, other: distance.waves(one, other, is_voiced))
    for measure in measures:
        assert float(measure(sound, sound)) < 1e-3
        near, far = (float(measure(sound + level * noise, sound)) for level in (0.01, 0.1))
        assert 0 < near < far
    flipped = float(distance.waves(-sound, sound, is_voiced))
    assert flipped == pytest.approx(2.0, abs=0.05)
    assert float(distance.magnitudes(-sound, sound)) < 1e-3
    assert float(distance.waves(noise, sound, ~is_voiced)) == 0.0


@pytest.mark.slow
def test_judges_learn_to_tell_noise_from_a_tone() -> None:
    torch.manual_seed(0)
    judges = Discriminator(4)
    generator = torch.Generator().manual_seed(0)
    tone = 0.1 * torch.sin(torch.arange(4800) * 0.1).repeat(2, 1)
    noise = 0.1 * torch.randn(2, 4800, generator=generator)
    optimizer = torch.optim.AdamW(judges.parameters(), lr=3e-3)
    first = None
    for _ in range(25):
        loss = judging_loss(judges(tone), judges(noise))
        first = first or float(loss.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        of_tone, of_noise = judges(tone), judges(noise)
        assert float(judging_loss(of_tone, of_noise)) < 0.5 * first
        assert float(deceiving_loss(of_tone)) < float(deceiving_loss(of_noise))
        assert float(feature_distance(of_tone, of_tone)) == 0.0
        assert float(feature_distance(of_tone, of_noise)) > 0.3


def test_pitch_is_compared_where_both_are_voiced() -> None:
    true = torch.tensor([100.0, 100.0, 100.0, 0.0, 0.0, 200.0])
    heard = torch.tensor([100.0, 130.0, 0.0, 0.0, 90.0, 200.0 * 2 ** (10 / 1200)])
    errors = f0.errors_between(heard, true)
    assert errors["gross"] == pytest.approx(1 / 3)
    assert errors["voicing"] == pytest.approx(2 / 6)
    assert errors["cents"] == pytest.approx(5.0, abs=0.01)


@pytest.mark.slow
def test_from_nothing_to_a_vocoder_the_program_loads(options: TrainingOptions, tmp_path: Path) -> None:
    """Both stages, the adversarial part included; then the program's own loader, and tuning with mels of the flow."""
    with pytest.raises(TrainingFailed, match="Train f0 first"):
        vocoder.train(options)
    values = f0.train(replace(options, settings={"channels": "8", "batch": "2", "frames": "20"}))
    assert set(values) == {"gross", "voicing", "cents"}
    settings = {"base_channels": "16", "batch": "2", "frames": "20", "judge_channels": "2", "adversarial_from": "0.3"}
    values = vocoder.train(replace(options, settings=settings))
    assert all(math.isfinite(value) for value in values.values())
    network = vocoder.load_trained(options.work)
    folder = tmp_path / "model"
    folder.mkdir()
    torch.save(official_tensors(network), folder / "hift.pt")
    loaded = load_vocoder(folder / "hift.pt", network.config, Precision.FLOAT32, "cpu")
    mel = torch.randn(80, 12, generator=torch.Generator().manual_seed(1)) - 6.0
    noise = loaded.noise(0)
    with torch.no_grad():
        expected, _ = network(mel[None], noise.columns(0, 12 * 480))
    torch.testing.assert_close(loaded.synthesize_whole(mel, noise), expected[0], atol=5e-3, rtol=0)
    tuned = {**settings, "begin_with": "vocoder", "flow_share": "0.5", "adversarial_from": "0"}
    with pytest.raises(TrainingFailed, match="no mels of the flow"):
        vocoder.train(replace(options, name="vocoder_tuned", settings=tuned))
    (options.work / "flow_mels").mkdir()
    corpus = Corpus.open(options.corpus)
    for index in training_indices(corpus)[:3].tolist():
        np.save(options.work / "flow_mels" / f"{index}.npy", corpus.mel(index) + 0.1)
    values = vocoder.train(replace(options, name="vocoder_tuned", settings={**tuned, "rate": "0"}))
    assert all(math.isfinite(value) for value in values.values())
    torch.testing.assert_close(
        vocoder.load_trained(options.work, "vocoder_tuned").ups[1].weight, network.ups[1].weight, atol=2e-2, rtol=0
    )
    published = {**settings, "begin_with": str(folder / "hift.pt"), "rate": "0"}
    vocoder.train(replace(options, name="vocoder_published", settings=published))
    torch.testing.assert_close(
        vocoder.load_trained(options.work, "vocoder_published").ups[1].weight, network.ups[1].weight, atol=1e-5, rtol=0
    )


def test_convolutions_as_images_have_the_gradients_of_plain_ones() -> None:
    plain = torch.nn.Conv1d(8, 8, 5, dilation=3)
    image = torch.nn.Conv1d(8, 8, 5, dilation=3)
    image.load_state_dict(plain.state_dict())
    block = SimpleNamespace(convs1=[image], convs2=[])
    vocoder.ImageConvolution.replace(SimpleNamespace(resblocks=[block], source_resblocks=[]))  # type: ignore[arg-type]
    x = torch.randn(2, 8, 40, generator=torch.Generator().manual_seed(2))
    wanted, found = plain(x), image(x)
    assert found.dtype is torch.float32
    torch.testing.assert_close(found, wanted, rtol=0.02, atol=0.02)
    for convolution in (plain, image):
        convolution(x).square().sum().backward()
    for name, parameter in image.named_parameters():
        exact = plain.get_parameter(name).grad
        assert parameter.grad is not None
        assert exact is not None
        assert (parameter.grad - exact).norm() < 0.02 * exact.norm()
