"""Speakers, reasons and characters of short texts; corrections."""

from __future__ import annotations

import pytest

from studio.project.attribution.attribution import Attribution
from studio.project.attribution.attribution import attribute as attribute_evidence
from studio.project.attribution.evidence import Evidence
from studio.project.attribution.grammar import Gender
from studio.project.attribution.languages import gender_of_name


def attribute(paragraphs: list[str], corrections: dict[int, str | None] | None = None) -> Attribution:
    return attribute_evidence(Evidence(paragraphs), corrections)


def speakers(attribution: Attribution) -> list[tuple[str, str | None]]:
    return [(each.text, each.speaker) for each in attribution.quotations]


def test_reasons_are_words_of_the_text_or_refer_to_another_quotation() -> None:
    found = attribute(
        [
            "“Come in, Tom,” said Martha.",
            "“I can't stay,” Tom replied.",
            "“Why?”",
            "“Father is waiting,” he said. “He is cold.",
            "“And he is hungry.”",
        ]
    ).quotations
    assert [each.speaker for each in found] == ["Martha", "Tom", "Martha", "Tom", "Tom", "Tom"]
    assert [(each.reason, each.other) for each in found] == [
        ("said Martha", None),
        ("Tom replied", None),
        ("alternates with line {line}", 0),
        ("he said", None),
        ("same paragraph as line {line}", 3),
        ("continues line {line}", 4),
    ]
    assert all(0.9 < each.confidence <= 1.0 for each in found)


@pytest.mark.parametrize(
    "text",
    [
        "“Go,” said Ann.",
        "‘Go,’ said Ann.",
        '"Go," said Ann.',
        "'Go,' said Ann.",
        "«Go,» said Ann.",
        "»Go,« said Ann.",
        "„Go,“ said Ann.",
        "„Go,” said Ann.",
        "— Go, said Ann.",
        "–Go, said Ann.",
    ],
)
def test_all_quotation_marks_are_known(text: str) -> None:
    (found,) = attribute([text]).quotations
    assert found.speaker == "Ann"
    assert found.text.strip("“”‘’\"'«»„—– ,") == "Go"
    assert text[found.place.start : found.place.end].strip() == found.text


@pytest.mark.parametrize(
    "text", ["“走吧。”李梅说。", "「走吧。」李梅说。", "『走吧。』李梅说。", '"走吧。"李梅说。', "李梅说：“走吧。”"]
)
def test_all_chinese_quotation_marks_are_known(text: str) -> None:
    (found,) = attribute([text]).quotations
    assert (found.speaker, found.text[1:-1]) == ("李梅", "走吧。")


def test_an_apostrophe_ends_no_quotation() -> None:
    found = attribute(["‘It’s the boys’ boots,’ said Kit. ‘They’re wet.’"]).quotations
    assert [each.text for each in found] == ["‘It’s the boys’ boots,’", "‘They’re wet.’"]


def test_titles_signs_and_proverbs_are_not_spoken() -> None:
    assert not attribute(["He was reading “The Green Cravat” under a sign with the words “No Hawkers”."]).quotations
    assert not attribute(["桥头立着一块牌子，上面写着“闲人免进”。", "那座“大桥”是三根木头。"]).quotations


def test_a_signature_after_a_dash_is_not_spoken_in_a_book_with_quotation_marks() -> None:
    text = ["A letter lay on the step.", "Come at nine.", "— R.", "“Who is R.?” asked Ann.", "“Nobody,” said Ben."]
    assert [each.text for each in attribute(text).quotations] == ["“Who is R.?”", "“Nobody,”"]


def test_a_pronoun_means_the_person_named_last_before_it() -> None:
    text = [
        "“You’re early,” said Mrs. Pell.",
        "“The tide is early,” said Mr. Finch.",
        "The Lighthouse",
        "Dr. Rook waited at the top, naïve and cheerful.",
        "“Did you bring it?” she asked.",
        "“I brought it,” said Mr. Finch.",
    ]
    found = attribute(text).quotations[2]
    assert found.speaker == "Dr. Rook"


def test_titles_and_nicknames_are_aliases_but_relatives_are_not() -> None:
    found = attribute(
        [
            "“Good morning,” said Mr. Gill. “Is it?” said Mrs. Gill.",
            "“It was,” said Gill.",
            "“William Gill,” said his wife.",
            "“You may call me Bill,” said William Gill. “Bill it is,” said Mrs. Gill.",
        ]
    )
    gill = next(each for each in found.characters if "Gill" in each.aliases or each.name == "Gill")
    assert {"Mr. Gill", "William Gill", "Gill"} <= {gill.name, *gill.aliases}
    assert "Mrs. Gill" not in {gill.name, *gill.aliases}
    assert gill.gender is Gender.MALE


def test_a_corrected_name_belongs_to_the_character_in_the_whole_book() -> None:
    text = ["“Who is there?” said Holmes.", "“A friend,” said the stranger.", "It rained.", "“Sit,” said the stranger."]
    assert speakers(attribute(text))[1:] == [("“A friend,”", "the stranger"), ("“Sit,”", "the stranger")]
    corrected = attribute(text, {1: "Moriarty"})
    assert [each.speaker for each in corrected.quotations] == ["Holmes", "Moriarty", "Moriarty"]
    assert (corrected.quotations[1].reason, corrected.quotations[1].confidence) == ("corrected", 1.0)


def test_a_correction_of_one_quotation_does_not_merge_two_characters() -> None:
    text = ["“Who?” said Ann.", "“I,” said Ben.", "It rained.", "“So it does,” said Ann.", "“Yes,” said Ben."]
    corrected = attribute(text, {0: "Ben"})
    assert [each.speaker for each in corrected.quotations] == ["Ben", "Ben", "Ann", "Ben"]


def test_a_corrected_quotation_may_belong_to_the_narrator() -> None:
    quotation = attribute(["“Shut the door,” said Ann."], {0: None}).quotations[0]
    assert (quotation.speaker, quotation.is_doubtful, quotation.reason) == (None, False, "corrected")


def test_neighbours_follow_a_correction() -> None:
    text = ["Ann met Ben and Cora at the gate.", "“Well?”", "“Well what?”", "“The letter.”", "“What letter?”"]
    found = attribute(text, {0: "Cora", 1: "Ben"}).quotations
    assert [each.speaker for each in found] == ["Cora", "Ben", "Cora", "Ben"]


def test_a_text_without_dialogue_has_no_characters() -> None:
    assert attribute([]) == Attribution((), ())
    assert attribute(["", "It rained.", "“", "—", "'", "「"]).characters == ()


def test_genders_of_names() -> None:
    assert gender_of_name("Ada") is Gender.FEMALE
    assert gender_of_name("Mr. Evelyn") is Gender.MALE
    assert gender_of_name("Xyzzy") is None
    assert gender_of_name("Old Tom") is Gender.MALE
    assert gender_of_name("Guard Anna") is Gender.FEMALE
    assert gender_of_name("Old Guard") is None
    assert gender_of_name("王大娘") is Gender.FEMALE
