"""The speakers of a ``spk2info.pt`` are read without PyTorch, and a hostile file is a sentence."""

from __future__ import annotations

import os
import pickle
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import noise_models
import numpy as np
import pytest
import torch

from studio.errors import BadVoiceFile
from studio.voices.speaker_file import read_speakers

GENERATOR = torch.Generator().manual_seed(0)


def embedding(*shape: int) -> torch.Tensor:
    return torch.randn(*(shape or (1, 192)), generator=GENERATOR)


def write(path: Path, entries: Any) -> Path:
    torch.save(entries, path)
    return path


def test_speakers_have_the_values_that_torch_reads() -> None:
    path = noise_models.V1 / "spk2info.pt"
    wanted = torch.load(path, weights_only=True)
    speakers = read_speakers(path)
    assert list(speakers) == list(wanted)
    for name, values in speakers.items():
        assert np.array_equal(values, wanted[name]["embedding"][0].numpy())


@pytest.mark.slow
def test_torch_is_not_imported() -> None:
    code = (
        "import sys, pathlib; from studio.voices.speaker_file import read_speakers;"
        f"assert read_speakers(pathlib.Path({str(noise_models.V1 / 'spk2info.pt')!r}));"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[2])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64])
def test_other_number_types_views_and_flat_embeddings_are_read(tmp_path: Path, dtype: torch.dtype) -> None:
    table = embedding(3, 192).to(dtype)
    entries = OrderedDict(a={"embedding": table[1:2]}, b={"embedding": table[2]})
    speakers = read_speakers(write(tmp_path / "spk2info.pt", entries))
    assert np.array_equal(speakers["a"], table[1].float().numpy())
    assert np.array_equal(speakers["b"], table[2].float().numpy())


def test_voices_with_prompt_features_are_not_speakers() -> None:
    assert read_speakers(noise_models.V2 / "spk2info.pt") == {}


class RunsCode:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("ran",)


@pytest.mark.parametrize(
    "entries",
    [
        {"a": {"embedding": embedding(1, 191)}},
        {"a": {"embedding": embedding(192, 1)}},
        {"a": {"embedding": torch.full((1, 192), float("nan"))}},
        {"a": {"embedding": torch.zeros(1).expand(1, 192)}},
        ["no", "names"],
    ],
    ids=["too short", "a column", "nan", "one repeated number", "a list"],
)
def test_damaged_speakers_are_a_sentence(tmp_path: Path, entries: Any) -> None:
    with pytest.raises(BadVoiceFile, match=r"The speakers in spk2info\.pt cannot be read"):
        read_speakers(write(tmp_path / "spk2info.pt", entries))


def test_code_in_the_file_does_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "spk2info.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps({"a": RunsCode()}))
    with pytest.raises(BadVoiceFile):
        read_speakers(path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("size", [0, 100, 1500])
def test_a_truncated_file_is_a_sentence(tmp_path: Path, size: int) -> None:
    path = tmp_path / "spk2info.pt"
    path.write_bytes((noise_models.V1 / "spk2info.pt").read_bytes()[:size])
    with pytest.raises(BadVoiceFile):
        read_speakers(path)


def test_a_storage_shorter_than_its_tensor_is_a_sentence(tmp_path: Path) -> None:
    source, path = noise_models.V1 / "spk2info.pt", tmp_path / "spk2info.pt"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, content[:100] if "/data/" in name else content)
    with pytest.raises(BadVoiceFile):
        read_speakers(path)


@pytest.mark.slow
def write_pickle(path: Path, content: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02" + content)
    return path


@pytest.mark.parametrize("index", [1 << 20, 1 << 24])
def test_memory_does_not_follow_the_index_of_a_memo(tmp_path: Path, index: int) -> None:
    """16 bytes are cleared for each index up to the largest if the memo is an array: 4 GB for these 139 bytes."""
    path = write_pickle(tmp_path / "spk2info.pt", b"}r" + struct.pack("<I", index) + b".")
    tracemalloc.start()
    try:
        assert read_speakers(path) == {}
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_key_that_takes_for_ever_to_hash_is_refused(tmp_path: Path) -> None:
    nested = b")q\x00" + b"h\x00\x86q\x00" * 60  # a tuple of the tuple before it, twice
    with pytest.raises(BadVoiceFile):
        read_speakers(write_pickle(tmp_path / "spk2info.pt", b"}" + nested + b"K\x01s."))


def test_compressed_numbers_are_refused(tmp_path: Path) -> None:
    """A hundred kilobytes could expand to a hundred megabytes for each speaker."""
    source, path = noise_models.V1 / "spk2info.pt", tmp_path / "spk2info.pt"
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, bytes(100 << 20) if "/data/" in name else old.read(name))
    assert path.stat().st_size < 1 << 20
    with pytest.raises(BadVoiceFile):
        read_speakers(path)


def test_speakers_of_one_table_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = embedding(50, 192)
    path = write(tmp_path / "spk2info.pt", {f"S{row}": {"embedding": table[row : row + 1]} for row in range(50)})
    names: list[str] = []
    real = zipfile.ZipFile.read
    monkeypatch.setattr(
        zipfile.ZipFile, "read", lambda archive, name, *given: names.append(name) or real(archive, name, *given)
    )
    assert len(read_speakers(path)) == 50
    assert sum("/data/" in name for name in names) == 1
