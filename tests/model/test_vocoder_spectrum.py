"""The convolutions equal the short-time Fourier transform and its inverse."""

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from studio.model.vocoder.layers import History, analyse, resynthesise

SIZE, HOP = 16, 4
WINDOW = torch.hann_window(SIZE, dtype=torch.float64)


def random_signal(num_samples: int) -> torch.Tensor:
    return torch.randn(2, num_samples, dtype=torch.float64, generator=torch.Generator().manual_seed(num_samples))


@pytest.mark.parametrize("num_samples", [12, 480, 4800])
def test_analysis_equals_stft(num_samples: int) -> None:
    signal = random_signal(num_samples)
    wanted = torch.stft(signal, SIZE, HOP, window=WINDOW, center=True, pad_mode="reflect", return_complex=True)
    actual = analyse(signal, SIZE, HOP, History.of_whole())
    assert torch.allclose(actual, torch.cat((wanted.real, wanted.imag), dim=1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("num_columns", [5, 121])
def test_resynthesis_equals_istft_of_any_spectrum(num_columns: int) -> None:
    """Also for spectra of no signal, as the network generates them."""
    spectrum = random_signal(18 * num_columns).view(2, 18, num_columns)
    real, imaginary = spectrum.chunk(2, dim=1)
    wanted = torch.istft(torch.complex(real, imaginary), SIZE, HOP, window=WINDOW)
    actual = resynthesise(spectrum, SIZE, HOP, History.of_whole())
    assert torch.allclose(actual, wanted, rtol=0, atol=1e-12)


@settings(max_examples=30)
@given(st.lists(st.integers(4, 30), min_size=1, max_size=6))
@example([4, 4])  # the shortest first chunk: three columns
def test_analysis_and_resynthesis_continue_across_any_chunks(chunk_hops: list[int]) -> None:
    """The inverse returns the signal for any chunks, including its end."""
    signal = random_signal(HOP * sum(chunk_hops))
    analysing, synthesising, actual = History(), History(), []
    for index, chunk in enumerate(signal.split([HOP * hops for hops in chunk_hops], dim=-1)):
        is_last = index == len(chunk_hops) - 1
        analysing.begin_chunk(is_last=is_last)
        synthesising.begin_chunk(is_last=is_last)
        actual.append(resynthesise(analyse(chunk, SIZE, HOP, analysing), SIZE, HOP, synthesising))
    assert torch.allclose(torch.cat(actual, dim=-1), signal, rtol=0, atol=1e-12)


def test_nothing_follows_the_last_chunk() -> None:
    history = History.of_whole()
    with pytest.raises(AssertionError):
        history.begin_chunk(is_last=False)
