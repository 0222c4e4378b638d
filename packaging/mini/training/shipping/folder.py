"""Creation of the bundled model folder, in the official layout of Fun-CosyVoice3, from the checkpoints.

The program does not treat it specially: sizes are read from its yaml and its ``config.json``.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

import torch

from measurements.random_models.official_settings import qwen_json, settings_yaml
from measurements.random_models.reference_sizes import CheckpointPlan, preceding_flow
from measurements.random_models.tensor_shapes import TIED_HEAD, TIED_TABLE
from studio.model.config import PromptMelConfig, VocoderConfig
from studio.model.generations import COSYVOICE3
from studio.take_checks.recognizers.choice import MODEL_RECOGNIZER_FILE, MODEL_SOUNDS_FILE
from training.corpus.phones import LABELS
from training.corpus.styles import DELIVERY_OF_STYLE
from training.corpus.tokens import TABLE_FILE
from training.shipping.half_precision import write_halved_onnx, write_halved_tensors
from training.shipping.instructions import BRITISH, write_presets
from training.shipping.respellings import SYLLABLES_FILE, VOCABULARY_FOLDER, labels_of_letters
from training.shipping.text_vocabulary import copy_text_vocabulary, num_base_text_tokens
from training.trainers.flow import official_flow
from training.trainers.options import TrainingFailed
from training.trainers.recognizer_onnx import write_recognizer_onnx, write_rounded_onnx
from training.trainers.sound_recognizer import load_network
from training.trainers.speech_lm import official_speech_lm
from training.trainers.vocoder import load_trained
from training.trainers.vocoder_weights import official_tensors

MAX_BYTES = 64_000_000
_TEXT_FOLDER = "CosyVoice-BlankEN"
_SPEECH_TOKENIZER = COSYVOICE3.speech_tokenizer_file
_SPEAKER_ENCODER = "campplus.onnx"
TUNED_VOCODER = "vocoder_tuned"  # name of the checkpoint that was trained with mels of the flow

Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """The contents of the three weight files in float32, and their configuration."""

    plan: CheckpointPlan
    speech_lm: Tensors
    flow: Tensors
    vocoder: Tensors


def read_trained(work: Path) -> TrainedModel:
    """Return the averaged weights of all stages. Raise ``TrainingFailed`` if a stage has not been trained."""
    speech_lm_config, speech_lm = official_speech_lm(work / "speech_lm.pt")
    flow_config, flow = official_flow(work / "flow.pt")
    network = load_trained(work, TUNED_VOCODER if (work / f"{TUNED_VOCODER}.pt").is_file() else "vocoder")
    vocoder_config: VocoderConfig = network.config
    if vocoder_config.preceding_flow != preceding_flow(flow_config):
        raise TrainingFailed("The vocoder was trained for a flow of other sizes; its constant noise depends on them.")
    plan = CheckpointPlan(
        generation=COSYVOICE3,
        num_base_text_tokens=num_base_text_tokens(work / VOCABULARY_FOLDER),
        speech_lm=speech_lm_config,
        flow=flow_config,
        vocoder=vocoder_config,
        prompt_mel=PromptMelConfig(sample_rate=vocoder_config.sample_rate),
    )
    return TrainedModel(plan, speech_lm, flow, official_tensors(network))


def write_model_folder(work: Path, folder: Path) -> int:
    """Write all files except the model card. Return the number of bytes in ``folder``.

    Raise ``TrainingFailed`` if a stage is missing or the folder is too large to be bundled.
    """
    trained = read_trained(work)
    text_folder = folder / _TEXT_FOLDER
    text_folder.mkdir(parents=True, exist_ok=True)
    (folder / COSYVOICE3.yaml_name).write_text(settings_yaml(trained.plan), "utf-8")
    (text_folder / "config.json").write_text(qwen_json(trained.plan) + "\n", "utf-8")
    (text_folder / "generation_config.json").write_text(_generation_json(trained.plan), "utf-8")
    copy_text_vocabulary(work / VOCABULARY_FOLDER, text_folder)
    # The official file contains the text table twice, with shared storage.
    speech_lm = trained.speech_lm | {TIED_HEAD: trained.speech_lm[TIED_TABLE]}
    write_halved_tensors(folder / "llm.pt", speech_lm)
    write_halved_tensors(folder / "flow.pt", trained.flow)
    write_halved_tensors(folder / "hift.pt", trained.vocoder)
    write_halved_onnx(_existing(work / "tokenizer.onnx"), folder / _SPEECH_TOKENIZER)
    write_halved_onnx(_existing(work / "speaker_encoder.onnx"), folder / _SPEAKER_ENCODER)
    if (work / "recognizer.pt").is_file():  # it is trained with takes of the folder without it
        _write_recognizer(work, folder)
    shutil.copyfile(_existing(work / TABLE_FILE), folder / TABLE_FILE)  # the meaning of the speech tokens
    write_presets(folder, {*DELIVERY_OF_STYLE, BRITISH})
    num_bytes = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    if num_bytes > MAX_BYTES:
        raise TrainingFailed(
            f"{folder} has {num_bytes / 1e6:.1f} MB, but at most {MAX_BYTES / 1e6:.0f} MB are allowed. Train smaller networks."
        )
    return num_bytes


def _write_recognizer(work: Path, folder: Path) -> None:
    network = load_network(work / "recognizer.pt")
    write_recognizer_onnx(network, network.head, work / MODEL_RECOGNIZER_FILE)
    write_rounded_onnx(work / MODEL_RECOGNIZER_FILE, folder / MODEL_RECOGNIZER_FILE)
    content = {
        "languages": ["en", "zh"],
        "sounds": len(LABELS),
        "letters": labels_of_letters(),
        "syllables": json.loads(_existing(work / SYLLABLES_FILE).read_text("utf-8")),
    }
    (folder / MODEL_SOUNDS_FILE).write_text(json.dumps(content, ensure_ascii=False) + "\n", "utf-8")


def _generation_json(plan: CheckpointPlan) -> str:
    end = plan.num_base_text_tokens
    return (
        json.dumps({"bos_token_id": end, "do_sample": False, "eos_token_id": end, "max_new_tokens": 2048}, indent=2)
        + "\n"
    )


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise TrainingFailed(f"{path} does not exist yet. Train {path.stem} first.")
    return path
