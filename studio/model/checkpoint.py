"""Model folders in the official layout: their settings, and loading of each stage."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studio.errors import BadModelSettings, DamagedModelFile, MissingModelFile
from studio.model.config import (
    AnySpeechLMConfig,
    FlowConfig,
    Precision,
    PromptMelConfig,
    QwenConfig,
    TransformerLMConfig,
    VocoderConfig,
)
from studio.model.flow import CachedFlowDecoder, FlowOptions, NonCausalFlowDecoder, discard_stored
from studio.model.generations import Generation, detect_generation
from studio.model.onnx_networks import EMBEDDING_SIZE, SpeakerEncoder, SpeechCode, SpeechTokenizer
from studio.model.speech_lm import CachedSpeechLM, load_speech_lm
from studio.model.stages import FlowDecoder, Vocoder
from studio.model.vocoder import load_vocoder
from studio.model.weight_files import weight_file
from studio.model.weights import require_file
from studio.storage.disk import require_regular_file
from studio.storage.json_input import read_json
from studio.text.tokenizer import TextTokenizer

_SAMPLED_BYTES = 1 << 16
# Far above any released model, yet low enough to describe such a network in bounded time and memory.
_QWEN_SIZES = {  # key in the file: (field of ``QwenConfig``, largest value)
    "vocab_size": ("vocabulary_size", 1 << 20),
    "hidden_size": ("hidden_size", 1 << 14),
    "intermediate_size": ("intermediate_size", 1 << 17),
    "num_hidden_layers": ("num_layers", 256),
    "num_attention_heads": ("num_heads", 256),
    "num_key_value_heads": ("num_kv_heads", 256),
}
_MAX_POSITIONS = 1 << 18  # the table of rotary positions is precomputed


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model folder whose settings are read and checked. Weights are loaded stage by stage."""

    folder: Path
    generation: Generation
    speech_lm: AnySpeechLMConfig
    flow: FlowConfig
    vocoder: VocoderConfig
    prompt_mel: PromptMelConfig

    def speech_lm_path(self, variant: str | None = None) -> Path:
        """Return the path of ``llm.pt`` or of a variant. "rl" is ``llm.rl.pt``, after reinforcement learning."""
        return weight_file(self.folder, f"llm.{variant}" if variant else "llm")

    @property
    def flow_path(self) -> Path:
        """The path of ``flow.pt``."""
        return weight_file(self.folder, "flow")

    @property
    def vocoder_path(self) -> Path:
        """The path of ``hift.pt``."""
        return weight_file(self.folder, "hift")

    def weight_files(self, variant: str | None = None) -> tuple[Path, Path, Path]:
        """Return the paths of the weights of all stages. Raise ``MissingModelFile``."""
        found = (self.speech_lm_path(variant), self.flow_path, self.vocoder_path)
        for path in found:
            require_file(path)
        return found

    def load_speech_lm(self, precision: Precision, device: str, *, variant: str | None = None) -> CachedSpeechLM[Any]:
        return load_speech_lm(self.speech_lm_path(variant), self.speech_lm, precision, device)

    def load_flow(self, precision: Precision, device: str, *, num_steps: int | None = None) -> FlowDecoder:
        """Load the flow. With ``num_steps``, its output is approximate."""
        if self.flow.length_regulator is not None:
            return NonCausalFlowDecoder.load(self.flow_path, self.flow, precision, device, num_steps=num_steps)
        options = FlowOptions(num_steps=num_steps)
        return CachedFlowDecoder.load(self.flow_path, self.flow, precision, device, options)

    def discard_flow(self, precision: Precision) -> None:
        """Delete the cached weights of a flow in a ``precision`` that is not used."""
        discard_stored(self.flow_path, self.flow, precision)

    def load_vocoder(self, precision: Precision, device: str) -> Vocoder:
        return load_vocoder(self.vocoder_path, self.vocoder, precision, device)

    def load_text_tokenizer(self) -> TextTokenizer:
        if self.generation.text_folder is None:
            return TextTokenizer.whisper()
        return TextTokenizer.from_folder(self.folder / self.generation.text_folder, self.generation.text)

    def load_speech_tokenizer(self, num_threads: int, *, cuda_index: int | None = None) -> SpeechTokenizer:
        path = self.folder / self.generation.speech_tokenizer_file
        code = SpeechCode(self.speech_lm.layout.num_speech_tokens, self.generation.token_rate)
        return SpeechTokenizer(path, num_threads=num_threads, cuda_index=cuda_index, code=code)

    def load_speaker_encoder(self, num_threads: int, *, cuda_index: int | None = None) -> SpeakerEncoder:
        return SpeakerEncoder(self.folder / "campplus.onnx", num_threads=num_threads, cuda_index=cuda_index)

    def weights_key(self, variant: str | None = None) -> str:
        """Return a key for the weights, which does not depend on the location of their folder.

        A torch file ends with checksums of its tensors, so samples of the file are enough.
        """
        digest = hashlib.sha256(f"{self.generation.name}\0{self.front_end_key()}\0".encode())
        for path in self.weight_files(variant):
            digest.update(sampled_digest(path))
        return digest.hexdigest()

    def front_end_key(self) -> str:
        """Return a key for the tokenizer, speaker encoder and mel settings, on which prompt features depend."""
        digest = hashlib.sha256(repr(self.prompt_mel).encode())
        for name in (self.generation.speech_tokenizer_file, "campplus.onnx"):
            digest.update(sampled_digest(self.folder / name))
        return digest.hexdigest()


def open_checkpoint(folder: Path) -> Checkpoint:
    """Read and check the settings in the model folder ``folder``.

    Raise ``ModelNotFound``, ``UnknownGeneration``, ``BadModelSettings``, ``MissingModelFile``, ``DamagedModelFile``.
    """
    generation, document = detect_generation(folder)
    root = document.root
    text_folder = folder / (generation.text_folder or "")
    checkpoint = Checkpoint(
        folder=folder,
        generation=generation,
        speech_lm=generation.read_speech_lm(root, lambda: _read_qwen(text_folder / "config.json")),
        flow=generation.read_flow(root),
        vocoder=generation.read_vocoder(root),
        prompt_mel=generation.read_prompt_mel(root),
    )
    _cross_check(checkpoint, document.file_name)
    return checkpoint


def _read_qwen(path: Path) -> QwenConfig:
    if not path.is_file():
        raise MissingModelFile(
            "{folder}/{file} is missing.", remedy="Download the model again.", folder=path.parent.name, file=path.name
        )
    try:
        values = read_json(path)
        config = QwenConfig(
            **{field: values[key] for key, (field, _) in _QWEN_SIZES.items()},
            rope_theta=float(values.get("rope_theta", 1_000_000.0)),
            rms_norm_eps=float(values.get("rms_norm_eps", 1e-6)),
            max_positions=values.get("max_position_embeddings", 32_768),
        )
    except (ValueError, TypeError, AttributeError, OverflowError, OSError) as error:
        raise DamagedModelFile("{file} is not readable.", remedy="Download the model again.", file=path.name) from error
    except KeyError as error:
        raise BadModelSettings(
            "{file} lacks {reason}.", remedy="Download the model again.", file=path.name, reason=error
        ) from error
    if not (
        all(_is_count(getattr(config, field), most) for field, most in _QWEN_SIZES.values())
        and _is_count(config.max_positions, _MAX_POSITIONS)
        and config.hidden_size % (2 * config.num_heads) == 0  # rotary positions rotate pairs of values
        and config.num_heads % config.num_kv_heads == 0
        and config.rope_theta > 0
        and config.rms_norm_eps >= 0
    ):
        raise BadModelSettings(
            "{file} describes an impossible network.", remedy="Download the model again.", file=path.name
        )
    return config


def _is_count(value: object, most: int) -> bool:
    return type(value) is int and 1 <= value <= most


def _cross_check(checkpoint: Checkpoint, file_name: str) -> None:
    speech_lm_tokens = checkpoint.speech_lm.layout.num_speech_tokens
    if speech_lm_tokens != checkpoint.flow.num_speech_tokens:
        raise BadModelSettings(
            "In {file}, language model and flow disagree about the number of speech tokens ({lm_tokens} and {flow_tokens}).",
            remedy="The folder mixes files of different models: download the model again.",
            file=file_name,
            lm_tokens=speech_lm_tokens,
            flow_tokens=checkpoint.flow.num_speech_tokens,
        )
    mel, flow, speech_lm = checkpoint.prompt_mel, checkpoint.flow, checkpoint.speech_lm
    embedding_sizes = {EMBEDDING_SIZE, flow.speaker_embedding_size}
    if isinstance(speech_lm, TransformerLMConfig):
        embedding_sizes.add(speech_lm.speaker_embedding_size)
    fits = mel.mel_bins == flow.mel_bins == checkpoint.vocoder.mel_bins and mel.window_samples >= mel.hop_samples
    if not fits or len(embedding_sizes) > 1:
        raise BadModelSettings(
            "{file} describes an impossible network.", remedy="Download the model again.", file=file_name
        )
    hop = checkpoint.prompt_mel.hop_samples
    factor = checkpoint.vocoder.stft_hop
    for rate in checkpoint.vocoder.upsample_rates:
        factor *= rate
    if hop != factor:
        raise BadModelSettings(
            "In {file}, a mel frame is {hop} samples for the prompt and {factor} for the vocoder.",
            remedy="The folder mixes files of different models: download the model again.",
            file=file_name,
            hop=hop,
            factor=factor,
        )


def sampled_digest(path: Path) -> bytes:
    """Return a digest of the size and both ends of a file, to distinguish releases without reading gigabytes."""
    try:
        require_regular_file(path)
        with path.open("rb") as file:
            head = file.read(_SAMPLED_BYTES)
            size = file.seek(0, 2)
            file.seek(max(0, size - _SAMPLED_BYTES))
            return hashlib.sha256(str(size).encode() + head + file.read(_SAMPLED_BYTES)).digest()
    except OSError as error:
        raise MissingModelFile(
            "{file} is missing from the model folder.", remedy="Download the model again.", file=path.name
        ) from error
