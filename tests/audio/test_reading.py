"""Reading audio files, and errors for unusable ones."""

from __future__ import annotations

import os
import sys
import tracemalloc
from pathlib import Path

import av
import numpy as np
import pytest
import soundfile

from studio.audio import files
from studio.audio.files import read_audio
from studio.audio.resampling import resample_steeply
from studio.errors import BrokenClip, ClipTooLong, UnreadableClip
from studio.system.installation import media_hint
from studio.voices.clip_intake import validate_clip

RATE = 24_000


def tone(seconds: float = 1.0, hertz: float = 440.0, rate: int = RATE) -> np.ndarray:
    return (0.4 * np.sin(2 * np.pi * hertz * np.arange(int(seconds * rate)) / rate)).astype(np.float32)


def write_silent_film(path: Path) -> None:
    """Write a video without an audio track."""
    with av.open(str(path), "w") as container:
        picture = container.add_stream("mpeg4", rate=5)
        picture.width = picture.height = 32
        image = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
        container.mux(picture.encode(image))
        container.mux(picture.encode())


def write_media(path: Path, codec: str, sound: np.ndarray, rate: int, *, extra_video: bool = False) -> None:
    """Write a video or audio file with PyAV; ``sound`` (channels, n)."""
    with av.open(str(path), "w") as container:
        track = container.add_stream(codec, rate=rate)
        track.layout = "stereo" if len(sound) == 2 else "mono"
        picture = container.add_stream("mpeg4", rate=5) if extra_video else None
        if picture is not None:
            picture.width = picture.height = 32
            picture.pix_fmt = "yuv420p"
            for _ in range(5):
                image = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
                container.mux(picture.encode(image))
            container.mux(picture.encode())
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(sound), format="fltp", layout=track.layout.name)
        frame.rate = rate
        to_codec = av.AudioResampler(format=track.format, layout=track.layout, rate=rate, frame_size=track.frame_size)
        for part in [*to_codec.resample(frame), *to_codec.resample(None)]:
            container.mux(track.encode(part))
        container.mux(track.encode())


@pytest.mark.parametrize("suffix", ["wav", "flac", "ogg", "mp3"])
def test_usual_formats_are_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"clip.{suffix}"
    soundfile.write(path, tone(), RATE)
    waveform = read_audio(path)
    assert waveform.sample_rate == RATE
    assert len(waveform.samples) == RATE
    np.testing.assert_allclose(waveform.samples[2000:-2000], tone()[2000:-2000], atol=0.03)


@pytest.mark.parametrize(
    ("name", "codec", "rate"),
    [("clip.m4a", "aac", 44_100), ("film.mp4", "aac", 48_000), ("call.webm", "libopus", 48_000)],
)
@pytest.mark.parametrize("num_channels", [1, 2])
def test_media_containers_are_read(tmp_path: Path, name: str, codec: str, rate: int, num_channels: int) -> None:
    sound = np.stack([tone(rate=rate)] * num_channels)
    write_media(tmp_path / name, codec, sound, rate, extra_video=name == "film.mp4")
    waveform = read_audio(tmp_path / name)
    assert waveform.sample_rate == rate
    assert waveform.seconds == pytest.approx(1.0, abs=0.06)
    middle = waveform.samples[rate // 4 : -rate // 4]
    assert np.sqrt(np.mean(middle**2)) == pytest.approx(0.4 / np.sqrt(2), rel=0.05)
    spectrum = np.abs(np.fft.rfft(middle * np.hanning(len(middle))))
    assert spectrum.argmax() * rate / len(middle) == pytest.approx(440, abs=3)


def test_a_broadcast_that_changes_its_channels_and_rate_is_read_whole(tmp_path: Path) -> None:
    parts = {
        "mono": tone(rate=48_000)[None],
        "stereo": np.stack([tone(rate=48_000)] * 2),
        "slow": tone(rate=32_000)[None],
    }
    content = b""
    for name, sound in parts.items():
        write_media(tmp_path / f"{name}.ac3", "ac3", sound, sound.shape[1])
        content += (tmp_path / f"{name}.ac3").read_bytes()
    (tmp_path / "film.ac3").write_bytes(content)
    waveform = read_audio(tmp_path / "film.ac3")
    assert waveform.sample_rate == 48_000
    assert waveform.seconds == pytest.approx(3.0, abs=0.2)
    for start in (24_000, 72_000, 120_000):
        spectrum = np.abs(np.fft.rfft(waveform.samples[start : start + 16_000] * np.hanning(16_000)))
        assert spectrum.argmax() * 3 == pytest.approx(440, abs=6)


def test_channels_are_averaged(tmp_path: Path) -> None:
    stereo = np.stack([tone(), -0.5 * tone()], axis=1)
    soundfile.write(tmp_path / "stereo.wav", stereo, RATE, subtype="FLOAT")
    np.testing.assert_allclose(read_audio(tmp_path / "stereo.wav").samples, 0.25 * tone(), atol=1e-7)


def test_a_long_file_is_read_whole(tmp_path: Path) -> None:
    sound = np.random.default_rng(5).uniform(-1, 1, 600_001).astype(np.float32)
    soundfile.write(tmp_path / "long.wav", sound, 48_000, subtype="FLOAT")
    assert np.array_equal(read_audio(tmp_path / "long.wav").samples, sound)


def test_suffix_does_not_matter(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "clip.wav", tone(), RATE)
    misnamed = (tmp_path / "clip.wav").rename(tmp_path / "说话 clip.MP4")
    assert read_audio(misnamed).seconds == 1.0


def test_reading_stops_when_the_clip_is_too_long(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "clip.wav", tone(31.0), RATE)
    assert read_audio(tmp_path / "clip.wav", longest_seconds=31.0).seconds == 31.0
    with pytest.raises(ClipTooLong, match=r"clip\.wav is longer than 30 s"):
        read_audio(tmp_path / "clip.wav", longest_seconds=30.0)


def test_missing_files_folders_and_devices_have_different_errors(tmp_path: Path) -> None:
    with pytest.raises(UnreadableClip, match="There is no file"):
        read_audio(tmp_path / "none.wav")
    with pytest.raises(UnreadableClip, match="is a folder"):
        read_audio(tmp_path)
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe.wav")
        with pytest.raises(UnreadableClip, match="not an ordinary file"):
            read_audio(tmp_path / "pipe.wav")


def test_files_without_permission_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # From Python 3.14 on, a path that is too long is one that does not exist.
    with pytest.raises(UnreadableClip, match=r"cannot be opened|There is no file"):
        read_audio(tmp_path / ("long" * 100))
    soundfile.write(tmp_path / "clip.wav", tone(), RATE)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UnreadableClip, match="No permission to read"):
        read_audio(tmp_path / "clip.wav")


@pytest.mark.parametrize("content", [b"", b"hello " * 1000, bytes(5000), np.random.default_rng(2).bytes(20_000)])
@pytest.mark.parametrize("name", ["clip.wav", "clip.mp3", "clip.m4a"])
def test_files_without_audio_are_reported(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UnreadableClip, match=rf"{name} is not a readable audio file") as caught:
        read_audio(tmp_path / name)
    assert caught.value.code == "unreadable-clip"
    assert "WAV, FLAC or MP3" in str(caught.value.remedy)


@pytest.mark.parametrize("suffix", ["wav", "flac"])
def test_truncated_files_are_reported(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"clip.{suffix}"
    soundfile.write(path, np.random.default_rng(1).normal(0, 0.1, RATE), RATE)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(UnreadableClip, match="truncated or damaged"):
        read_audio(path)


def test_a_wav_without_a_length_in_its_header_is_read(tmp_path: Path) -> None:
    path = tmp_path / "clip.wav"
    soundfile.write(path, tone(), RATE)
    content = bytearray(path.read_bytes())
    length_at = content.index(b"data") + 4
    content[length_at : length_at + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(content)
    assert read_audio(path).seconds == 1.0


def test_an_empty_recording_is_reported(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "clip.wav", np.zeros(0, np.float32), RATE)
    with pytest.raises(UnreadableClip, match=r"clip\.wav contains no audio"):
        read_audio(tmp_path / "clip.wav")


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_invalid_samples_are_reported(tmp_path: Path, number: float) -> None:
    sound = tone()
    sound[100] = number
    soundfile.write(tmp_path / "clip.wav", sound, RATE, subtype="FLOAT")
    with pytest.raises(BrokenClip, match="NaN or infinity"):
        read_audio(tmp_path / "clip.wav")


def test_a_video_without_audio_is_reported(tmp_path: Path) -> None:
    write_silent_film(tmp_path / "film.mp4")
    with pytest.raises(UnreadableClip, match=r"film\.mp4 contains no audio"):
        read_audio(tmp_path / "film.mp4")


@pytest.mark.skipif(sys.platform != "linux", reason="asks for the tools of Linux")
def test_without_a_decoder_the_remedy_fits_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_media(tmp_path / "clip.m4a", "aac", tone()[None], RATE)
    (tmp_path / "clip.wav").write_bytes(b"no sound")
    monkeypatch.setitem(sys.modules, "av", None)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "dnf").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tools))
    with pytest.raises(
        UnreadableClip, match=r"Reading \.m4a files such as clip\.m4a needs ffmpeg, which is not"
    ) as caught:
        read_audio(tmp_path / "clip.m4a")
    assert str(caught.value.remedy) == f"{media_hint()} Or save the audio as WAV, FLAC or MP3."
    assert "Install ffmpeg: sudo dnf install ffmpeg-free. Alternatively: " in str(caught.value.remedy)
    with pytest.raises(UnreadableClip, match="is not a readable audio file"):
        read_audio(tmp_path / "clip.wav")


@pytest.mark.parametrize(("platform", "command"), [("win32", "winget install"), ("darwin", "brew install")])
def test_the_packaged_app_does_not_suggest_pip(monkeypatch: pytest.MonkeyPatch, platform: str, command: str) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    assert command in str(media_hint())
    assert "pip install" not in str(media_hint())


@pytest.mark.parametrize("rate", [8_000, 44_100, 48_000, 96_000, 192_000])
def test_usual_sample_rates_are_kept_sample_for_sample(tmp_path: Path, rate: int) -> None:
    sound = np.random.default_rng(5).uniform(-1, 1, (700_001, 2)).astype(np.float32)
    soundfile.write(tmp_path / "clip.wav", sound, rate, subtype="FLOAT")
    read = read_audio(tmp_path / "clip.wav")
    assert read.sample_rate == rate
    assert np.array_equal(read.samples, sound.mean(axis=1, dtype=np.float32))


def test_a_higher_sample_rate_is_resampled_while_it_is_read(tmp_path: Path) -> None:
    rate = 655_350
    sound = np.sin(2 * np.pi * 440 * np.arange(5 * rate) / rate).astype(np.float32)
    soundfile.write(tmp_path / "clip.flac", sound, rate, subtype="PCM_24")
    whole = resample_steeply(soundfile.read(tmp_path / "clip.flac", dtype="float32")[0], rate, 192_000)
    tracemalloc.start()
    read = read_audio(tmp_path / "clip.flac")
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert read.sample_rate == 192_000
    np.testing.assert_allclose(read.samples, whole[: len(read.samples)], atol=1e-6)
    assert abs(len(read.samples) - len(whole)) <= 1
    assert peak_bytes < 2.5 * read.samples.nbytes + (16 << 20)


@pytest.mark.slow
def test_a_highly_compressed_file_needs_little_memory(tmp_path: Path) -> None:
    """Two minutes of silence at the highest rate of FLAC: 300 MB of samples in a few hundred kilobytes."""
    with soundfile.SoundFile(tmp_path / "clip.flac", "w", 655_350, 1, "PCM_16") as file:
        for _ in range(120):
            file.write(np.zeros(655_350, np.int16))
    tracemalloc.start()
    with pytest.raises(ClipTooLong, match="longer than 60 s"):
        validate_clip(tmp_path / "clip.flac")
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 80 << 20


def test_many_channels_need_no_larger_blocks(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "clip.wav", np.zeros((400_000, 32), np.int16), 48_000)
    tracemalloc.start()
    read_audio(tmp_path / "clip.wav")
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak_bytes < 16 << 20
    soundfile.write(tmp_path / "clip.wav", np.zeros((10, 65), np.int16), 48_000)
    with pytest.raises(UnreadableClip, match="65 channels"):
        read_audio(tmp_path / "clip.wav")


def test_an_invalid_sample_rate_is_reported(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "clip.wav", tone(), 2_000_000_000)
    with pytest.raises(UnreadableClip, match="sample rate of 2000000000 Hz"):
        read_audio(tmp_path / "clip.wav")


def test_too_many_samples_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MAX_SAMPLES", 2 * RATE)
    soundfile.write(tmp_path / "clip.wav", tone(3.0), RATE)
    with pytest.raises(ClipTooLong, match="longer than 2 s"):
        read_audio(tmp_path / "clip.wav")


def test_the_metadata_option_is_not_passed_to_pyav_19(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_media(tmp_path / "clip.m4a", "aac", tone()[None], RATE)
    really_open = av.open
    monkeypatch.setattr(av, "__version__", "19.0.2")
    monkeypatch.setattr(av, "open", lambda file, *, options: really_open(file, options=options))
    assert read_audio(tmp_path / "clip.m4a").sample_rate == RATE
