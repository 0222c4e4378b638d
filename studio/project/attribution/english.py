"""English: speech verbs, names with titles, pronouns and forms of address."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import regex

from studio.project.attribution.english_names import FEMALE_NAMES, MALE_NAMES, NICKNAMES
from studio.project.attribution.grammar import Cue, Gender, Reference, ReferenceKind, word_set

_SPEECH_VERBS = (
    "say ask reply answer cry call shout whisper murmur mutter exclaim inquire enquire add continue remark observe return"
    " rejoin retort demand declare announce begin repeat admit agree insist protest gasp groan moan sigh sob snap snarl"
    " growl grumble bark hiss roar scream shriek yell bellow boom bawl beg plead urge warn promise suggest propose offer"
    " explain object argue complain confess concede correct command order echo interrupt interpose interject ejaculate"
    " respond state venture volunteer wonder think muse reflect breathe croak stammer stutter falter tell wail whimper"
    " pursue resume conclude chime hazard assure caution chide scold tease joke quip drawl persist counter counsel advise"
    " acknowledge affirm assent burst coax comment confide deny implore intone lie mumble note plead proclaim pronounce"
    " rasp read recite remind sing speak squeak splutter thunder vow whine quoth saith"
)
_IRREGULAR = {
    "say": "said says saying", "begin": "began begins beginning", "think": "thought thinks thinking",
    "tell": "told tells telling", "burst": "burst bursts", "sing": "sang sings singing", "read": "read reads reading",
    "speak": "spoke speaks speaking", "cry": "cried cries crying", "reply": "replied replies replying",
    "deny": "denied denies", "quoth": "quoth", "saith": "saith",
}  # fmt: skip
_DOUBLED = ("beg", "admit", "sob", "snap", "quip", "chat")
_ADVERB = (
    r"(?:\w+ly|then|at last|at length|at once|again|instantly|also|only|now|suddenly|still|thus|once more|never|aloud)"
)
_TITLES = {
    "mr": Gender.MALE, "mister": Gender.MALE, "sir": Gender.MALE, "lord": Gender.MALE, "master": Gender.MALE,
    "uncle": Gender.MALE, "father": Gender.MALE, "brother": Gender.MALE, "king": Gender.MALE, "prince": Gender.MALE,
    "count": Gender.MALE, "baron": Gender.MALE, "duke": Gender.MALE, "grandpa": Gender.MALE, "monsieur": Gender.MALE,
    "herr": Gender.MALE, "don": Gender.MALE, "signor": Gender.MALE, "abbé": Gender.MALE, "squire": Gender.MALE,
    "mrs": Gender.FEMALE, "miss": Gender.FEMALE, "ms": Gender.FEMALE, "lady": Gender.FEMALE, "aunt": Gender.FEMALE,
    "mother": Gender.FEMALE, "sister": Gender.FEMALE, "queen": Gender.FEMALE, "princess": Gender.FEMALE,
    "countess": Gender.FEMALE, "baroness": Gender.FEMALE, "duchess": Gender.FEMALE, "grandma": Gender.FEMALE,
    "madame": Gender.FEMALE, "mademoiselle": Gender.FEMALE, "frau": Gender.FEMALE, "fräulein": Gender.FEMALE,
    "dame": Gender.FEMALE, "señora": Gender.FEMALE,
    "dr": None, "doctor": None, "professor": None, "captain": None, "colonel": None, "major": None, "general": None,
    "lieutenant": None, "sergeant": None, "corporal": None, "admiral": None, "inspector": None, "constable": None,
    "sheriff": None, "detective": None, "officer": None, "judge": None, "reverend": None, "president": None,
    "private": None, "commander": None, "marshal": None, "governor": None, "bishop": None, "deacon": None,
}  # fmt: skip
_FULL_TITLES = {"dr": "doctor", "mister": "mr"}
# Nouns for people, by gender. Those in _GENERIC often refer to a character who also has a name.
_NOUNS = {
    Gender.MALE: "man gentleman boy fellow lad father son husband brother uncle grandfather nephew king prince duke"
    " lord butler parson priest vicar monk waiter footman papa dad squire knight miller gaoler host chap",
    Gender.FEMALE: "woman lady girl mother daughter wife sister aunt grandmother niece queen princess duchess widow maid"
    " nurse governess landlady hostess mamma mama mum witch waitress nun housekeeper countess ladyship",
}
_PROFESSIONS = word_set(
    "conductor witness driver clerk lawyer teacher cook servant guard soldier sailor mate pilot porter landlord innkeeper"
    " shopkeeper baker farmer smith barber tailor student pupil coachman policeman fisherman judge patient prisoner thief"
    " guest author editor reporter secretary steward sentry gardener keeper magistrate surgeon attorney engineer"
)
_GENDER_OF_NOUN = {noun: gender for gender, nouns in _NOUNS.items() for noun in nouns.split()}
_GENERIC = word_set(
    "man gentleman boy fellow lad chap woman lady girl husband wife ladyship other stranger visitor child old young"
    " friend companion brother sister aunt uncle cousin son daughter"
)
# Words before a name, such as Old Tom and Guard Anna.
_BEFORE_NAME = _PROFESSIONS | word_set(
    "old young little big fat mad poor blind brave lazy tall the npc hero villain ghost"
)
_PRONOUNS = {"he": Gender.MALE, "she": Gender.FEMALE}
_ADDRESS = {
    "sir": Gender.MALE, "madam": Gender.FEMALE, "ma'am": Gender.FEMALE, "ma’am": Gender.FEMALE, "miss": Gender.FEMALE,
    "mademoiselle": Gender.FEMALE, "my lord": Gender.MALE, "my lady": Gender.FEMALE, "lady": Gender.FEMALE,
}  # fmt: skip
# Words that begin sentences or speeches, and are no names.
_WORDS = word_set(
    "a about above after again all although am an and another any are as at back be because before behind below beside"
    " both but by can certainly come could dare dear did do does don't down each either enough even every everybody"
    " everyone everything few finally first for from get give go god good goodbye had has have he heads heaven hello her"
    " here hers hey hi him his hold how hum humph hush i if in indeed inside instead into is it its just keep kneel last"
    " later let like listen look many may maybe me mind more morning most much must my name near nay never next no nobody none"
    " nonsense nor not nothing now of off oh on once one only onto or other ought our out outside over perhaps please poor"
    " pray quite rather really rubbish said saw say see seven shall she should since so some somebody someone something"
    " somewhere soon speaking still such suddenly sure take talk tell ten than thank thanks that the their them then there"
    " these they think this those three through till to today tomorrow tonight too toward twelve twice two under until up"
    " upon us very wait was we well were what whatever when where whether which while who whom whose why will with within"
    " without won't would yes yesterday yet you your monday tuesday wednesday thursday friday saturday sunday january"
    " february march april june july august september october november december christmas english french german spanish"
    " russian chinese american british chapter nature"
)
_CAPITAL = r"\p{Lu}\p{L}*(?:-\p{L}+|['’](?!s\b)\p{L}+)*"
_TITLE = "(?:" + "|".join(title.capitalize() for title in _TITLES) + r")\b\.?"
_NAME = rf"(?:{_TITLE}\s+)?(?:{_CAPITAL}|\p{{Lu}}\.)(?:\s+(?:of|de|von|van|du|la|le)\s+{_CAPITAL}|\s+(?:{_CAPITAL}|\p{{Lu}}\.)){{0,3}}"
_DETERMINER = r"(?:[Tt]he|[Aa]n?|[Mm]y|[Hh]is|[Hh]er|[Oo]ur|[Tt]heir|[Oo]ne|[Aa]nother)"
_POSSESSIVE = rf"{_CAPITAL}['’]s"
_ROLE = rf"(?:{_DETERMINER}|{_POSSESSIVE})(?:\s+[\p{{L}}][\p{{L}}'’-]*){{1,4}}?"
_STOP_WORDS = word_set(
    "in with from to of and as who at on but for by into over under when while without after before then again upon"
    " looking putting turning very quite almost one some beside behind through that was is had has were which"
)


def _forms(verb: str) -> list[str]:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb].split()
    stem = verb.removesuffix("e")
    if verb in _DOUBLED:
        stem += verb[-1]
    third = verb + ("es" if verb.endswith(("ss", "sh", "ch")) else "s")
    return [f"{stem}ed", third, f"{stem}ing"]


_VERBS = frozenset(form for verb in _SPEECH_VERBS.split() for form in _forms(verb))
_VERB = "(?:" + "|".join(sorted((form for form in _VERBS if not form.endswith("ing")), key=len, reverse=True)) + r")\b"
_ANY_VERB = "(?:" + "|".join(sorted(_VERBS, key=len, reverse=True)) + r")\b"
_OTHERS = rf"\b(?:[Hh]e|[Ss]he|I|[Tt]hey|[Ss]ome(?:one|body))\b|{_NAME}"
_PERSON = rf"(?P<person>{_OTHERS}|{_ROLE})"
_LONG_PERSON = rf"(?P<person>{_OTHERS}|{_ROLE.removesuffix('?')})"
_ADVERBS = rf"(?:\s+{_ADVERB}|\s+(?:had|has|would|could|did|not))*"
_VERB_FIRST = regex.compile(
    rf"(?:and\s+|[Ss]o\s+)?(?:{_VERB}|[Ss]aid|[Cc]ried|[Aa]sked)(?:\s+{_ADVERB})?\s+{_LONG_PERSON}(?=[^\p{{L}}'’]|['’](?!s)|$)"
)
_PERSON_FIRST = regex.compile(
    rf"(?:[Aa]nd\s+|[Tt]hen\s+|[Bb]ut\s+)?{_PERSON}(?:,[^,.;!?]{{2,50}},)?{_ADVERBS}"
    rf"\s+(?P<verb>{_VERB}|went on|put in|cut in|broke in|wanted to know)"
)
_NOUN_OF_SPEECH = "(?:reply|answer|response|question|comment|remark|words|verdict|advice)"
_WAS_REPLY = regex.compile(
    rf"(?:was|were|came)\s+(?:the\s+)?(?P<person>his|her|my|{_POSSESSIVE})\s+(?:\w+\s+)?{_NOUN_OF_SPEECH}\b"
)
_SUBJECT = regex.compile(
    r"(?:(?:[Aa]nd|[Bb]ut|[Tt]hen|[Ss]o|[Aa]t last|[Aa]t length|[Hh]ere|[Pp]resently|[Ff]inally|[Ss]uddenly),?\s+)?"
    + rf"(?P<person>{_ROLE}|{_OTHERS})"
)
_VERB_BEFORE = regex.compile(rf"\b{_ANY_VERB}|\b(?:went on|wondered|crying|turned)\b")
_SENTENCES = regex.compile(r"(?<=[.!?…])(?<!\b(?:Mr|Mrs|Ms|Dr|St)\.)[\"”’']*\s+(?=[\p{Lu}“‘\"'(])")
_MENTION = regex.compile(
    r"\b(?:so-called|called|named|entitled|titled|titles?|words?|sign|board|saying|proverb|motto|label(?:led)?|marked|phrase"
    r"|term|known as|inscribed|spelled|spelt|reading|novel|book|song|ballad|poem|chapter|expression|nickname)\b"
    r"(?:\s+(?:in|on|of|that|the|is|was|read|a)\b|\s+in the \w+|[,:])*[\s,:]*$",
    regex.IGNORECASE,
)
_MAX_MENTION_WORDS = 4
_NAMED = regex.compile(_NAME)
_BEFORE_PLACE = regex.compile(r"\b(?:in|at|from|to|of|near|for|towards?|through|into|on|by|rue|over)\s+(?:the\s+)?$")
_BEFORE_PERSON = regex.compile(r"\b(?:told|asked|answered|said to|beside)\s+$")
_AFTER_NAME = regex.compile(r"['’]s\s+\w+|\s+(?:\w+ly\s+)?(?:\w+ed|was|had|is|has|sat|took|stood|came|went|threw|put|knelt|leaned|drew|made|did|shook"
    r"|looked|ran|rose|fell|got|gave|held|kept|left|let|met|saw|set|told|felt|found|knew|spoke|bent|broke|turned|hung|"
    r"lay|led|read|sent|thought|wrote|swung|spat|stared|sits|closes|opens|stares|looks|takes|turns|began|bit|blew|brought|burst|caught|crept|drank|drove|ate|fled|flung|forgot|froze|hid|hit|hurried|paid|rang|rode|seized|shot"
    r"|shut|slept|slid|sprang|struck|swept|swore|tore|understood|wept|woke|wore|comes|goes|sits|takes|stands|walks|smiles|nods|shakes"
    r"|puts|picks|laughs|runs|gets|leans|shrugs|sighs|does|could|would|might)\b|\s+and\b|,\s+who\b"
    rf"|\s+{_VERB}"
)  # fmt: skip
_VOCATIVE = regex.compile(
    rf"(?:^|(?<=[,;!?.—–-])\s*|\b(?:[Oo]h|[Yy]es|[Nn]o|[Ww]ell|[Aa]h|[Mm]y|[Dd]ear|[Oo]ld|[Pp]oor|[Ll]ittle|[Ss]weet|[Hh]ello|[Mm]orning"
    rf"|[Tt]hank you|[Gg]oodbye|[Nn]ight|you)\s+)(?P<name>my l(?:ord|ady)|[Ss]ir|[Mm]a['’]?d?am|[Mm]iss|[Mm]ademoiselle|"
    rf"[Dd]octor|[Cc]aptain|[Cc]olonel|[Ss]ergeant|[Ii]nspector|lady|{_NAME})(?=\s*(?:[,.!?;…—–]|--|$))"
)


class English:
    """Implements ``Grammar``."""

    first_person = "I"
    names_are_marked = True

    def cue_after(self, text: str) -> Cue | None:
        stripped = text.lstrip(" \t\n,;—–-")
        if stripped.startswith("."):
            return None
        for pattern in (_VERB_FIRST, _PERSON_FIRST):
            match = pattern.match(stripped)
            if match is not None and (person := _reference(match["person"])) is not None:
                return Cue(person, " ".join(match.group().split()).lstrip())
        match = _WAS_REPLY.match(stripped)
        if match is not None:
            owner = match["person"]
            gender = {"his": Gender.MALE, "her": Gender.FEMALE}.get(owner)
            if owner == "my":
                return Cue(Reference("I", ReferenceKind.PRONOUN), match.group())
            kind = ReferenceKind.PRONOUN if gender else ReferenceKind.NAME
            return Cue(Reference(owner.removesuffix("'s").removesuffix("’s"), kind, gender), match.group())
        sentence = _first_sentence(stripped)
        return _beat(sentence) if sentence[:1].isupper() else None

    def cue_before(self, text: str) -> Cue | None:
        stripped = text.rstrip()
        if not stripped:
            return None
        sentence = _last_sentence(stripped.rstrip(" ,:;—–-"))
        ends = stripped[-1] in ",:—–-" or stripped[-1].isalpha()
        verbs = list(_VERB_BEFORE.finditer(sentence)) if ends else []
        if verbs:
            inverted = _VERB_FIRST.search(sentence)
            direct = [match for match in _PERSON_FIRST.finditer(sentence) if match.end() >= verbs[-1].start()]
            found = inverted if inverted is not None and inverted.start() < 5 else direct[-1] if direct else None
            if found is not None and (person := _reference(found["person"])) is not None:
                return Cue(person, " ".join(found.group().split()))
            cue = _beat(sentence)
            return None if cue is None else Cue(cue.person, cue.reason)
        return _beat(sentence)

    def find_inquit(self, text: str, start: int) -> tuple[int, int] | None:
        for mark in regex.finditer(r"[,.!?…»”]\s*(?:[—–]\s*|--\s*)?", text, pos=start):
            rest = text[mark.end() :]
            if (_VERB_FIRST.match(rest) or _PERSON_FIRST.match(rest)) and not rest.startswith("I "):
                end = regex.search(r"[.!?]\s+(?:[—–]\s*)?|[,;]?\s*[—–]\s*|$", rest)
                assert end is not None
                return mark.end(), mark.end() + end.end()
        return None

    def is_mention(self, before: str, words: str, after: str) -> bool:
        if _MENTION.search(before):
            return self.cue_after(after) is None
        is_short = len(words.split()) <= _MAX_MENTION_WORDS
        return (
            is_short
            and words[:1].islower()
            and not before.rstrip().endswith((",", ":", "-", "—", "–"))
            and bool(before.strip())
        )

    def find_people(self, narration: str) -> Iterator[Reference]:
        for match in _NAMED.finditer(narration):
            name = _without_words(match.group())
            if not name:
                continue
            before, after = narration[: match.start()], narration[match.end() :]
            before, after = narration[: match.start()], narration[match.end() :]
            is_person = _has_title(name) or name.partition(" ")[0].casefold() in _FIRST_NAMES
            is_person = is_person or _BEFORE_PERSON.search(before) is not None
            if is_person or (_AFTER_NAME.match(after) and not _BEFORE_PLACE.search(before)):
                yield Reference(name, ReferenceKind.NAME, self.gender_of_name(name))
        for sentence in _SENTENCES.split(narration):
            cue = _beat(sentence)
            if cue is not None and cue.person.kind in (ReferenceKind.ROLE, ReferenceKind.GENERIC):
                yield cue.person

    def find_addressed(self, speech: str) -> Iterator[Reference]:
        for match in _VOCATIVE.finditer(speech):
            name = match["name"]
            if name.casefold() in _ADDRESS:
                yield Reference(name, ReferenceKind.PRONOUN, _ADDRESS[name.casefold()])
            elif _plain(name) in ("mr", "mrs", "ms", "dr"):  # a name, whose point is no end
                continue
            elif name.casefold() in _TITLES:
                yield Reference(name.casefold(), ReferenceKind.ROLE, _TITLES[name.casefold()])
            elif name := _without_words(name):
                yield Reference(name, ReferenceKind.NAME, self.gender_of_name(name))

    def same_person(self, name: str, other: str) -> bool:
        return _same_person(name, other) or _same_person(other, name)

    def is_contradiction(self, name: str, other: str) -> bool:
        (title, first), (other_title, other_first) = _title_and_first_name(name), _title_and_first_name(other)
        if title and other_title and title != other_title:
            return True
        if (title or other_title) and first != other_first and {first, other_first} & NICKNAMES.keys():
            return bool(first and other_first)
        return bool(first and other_first) and NICKNAMES.get(first, first) != NICKNAMES.get(other_first, other_first)

    def gender_of_name(self, name: str) -> Gender | None:
        words = [_plain(word) for word in name.split()]
        for word in words[:-1] if len(words) > 1 else words:
            if _TITLES.get(word) is not None:
                return _TITLES[word]
        first = next((word for word in words if word not in _TITLES and word not in _BEFORE_NAME), "")
        if first in FEMALE_NAMES:
            return Gender.FEMALE
        return Gender.MALE if first in MALE_NAMES else _GENDER_OF_NOUN.get(words[-1])


_FIRST_NAMES = FEMALE_NAMES | MALE_NAMES


def _plain(word: str) -> str:
    return word.casefold().strip(".,'’")


def _has_title(name: str) -> bool:
    return " " in name and _plain(name.partition(" ")[0]) in _TITLES


def _without_words(name: str) -> str:
    """Return ``name`` without words at its ends that are no names; empty if nothing remains."""
    words = name.split()
    while words and _plain(words[0]) in _WORDS:
        words = words[1:]
    while words and _plain(words[-1]) in _WORDS:
        words = words[:-1]
    return "" if len(words) == 1 and _plain(words[0]) in ("mr", "mrs", "ms", "dr") else " ".join(words)


def _reference(words: str) -> Reference | None:
    """Return the person that the subject of a verb refers to; None if it is no person."""
    words = " ".join(words.split())
    lower = words.casefold()
    if lower in _PRONOUNS:
        return Reference(words, ReferenceKind.PRONOUN, _PRONOUNS[lower])
    if words == "I":
        return Reference(words, ReferenceKind.PRONOUN)
    if lower in ("they", "someone", "somebody"):
        return Reference(words, ReferenceKind.NOBODY)
    first, *rest = words.split()
    is_possessive = first.endswith(("'s", "’s"))
    if regex.fullmatch(_DETERMINER, first) or is_possessive:
        return _role(first, rest, is_possessive=is_possessive)
    name = _without_words(words)
    if not name:
        return None
    return Reference(name, ReferenceKind.NAME, ENGLISH.gender_of_name(name))


def _role(determiner: str, rest: list[str], *, is_possessive: bool) -> Reference | None:
    kept: list[str] = []
    for word in rest:
        if word.casefold() in _STOP_WORDS or word.endswith("ly") or (kept and word.casefold() in _VERBS):
            break
        kept.append(word)
    if not kept:
        return None
    noun = _plain(kept[-1])
    if noun in _FIRST_NAMES and kept[-1][:1].isupper():  # poor Harriet
        return Reference(kept[-1], ReferenceKind.NAME, ENGLISH.gender_of_name(kept[-1]))
    if noun == "other":
        return Reference("the other", ReferenceKind.PRONOUN)
    if kept[0][:1].isupper() and determiner.casefold() == "the":
        gender = _TITLES.get(noun) or _GENDER_OF_NOUN.get(noun)
        return Reference("the " + " ".join(kept), ReferenceKind.ROLE, gender)
    is_generic = noun in _GENERIC and not is_possessive
    kind = ReferenceKind.GENERIC if is_generic else ReferenceKind.ROLE
    owner = determiner if is_possessive else determiner.casefold()
    if owner in ("a", "an", "one", "another"):
        owner = "the"
    return Reference(f"{owner} {' '.join(kept)}", kind, _GENDER_OF_NOUN.get(noun, _TITLES.get(noun)))


def _first_sentence(text: str) -> str:
    return _SENTENCES.split(text, 1)[0]


def _last_sentence(text: str) -> str:
    return _SENTENCES.split(text)[-1]


def _beat(sentence: str) -> Cue | None:
    """Return the subject of a sentence next to a quotation, who probably speaks."""
    match = _SUBJECT.match(sentence.lstrip())
    if match is None:
        return None
    words = match["person"]
    if regex.fullmatch(_ROLE, words):  # the shortest match, which may end before the noun
        words = _through_noun(sentence.lstrip()[match.start("person") :].split()[:5])
    person = _reference(words) if words else None
    if person is None:
        return None
    shown = " ".join(sentence.split()[:6]).rstrip(".,;:")
    return Cue(person, shown, is_speech=False)


def _through_noun(words: list[str]) -> str:
    """Return the words up to and including the first noun for a person, or the first name; empty if there is neither."""
    for number, word in enumerate(words[1:], 1):
        plain = _plain(word)
        if plain in _GENDER_OF_NOUN or plain in _PROFESSIONS or plain in _TITLES or plain == "other":
            return " ".join(words[: number + 1]).rstrip(".,;:!?")
        if word[:1].isupper():
            capitals = itertools.takewhile(lambda each: each[:1].isupper(), words[number:])
            return " ".join([*words[:number], *capitals]).rstrip(".,;:!?")
        if not word[-1].isalpha():
            break
    return ""


def _title_and_first_name(name: str) -> tuple[str, str]:
    words = [_plain(word) for word in name.split()]
    title = _FULL_TITLES.get(words[0], words[0]) if len(words) > 1 and words[0] in _TITLES else ""
    proper = [word for word in words if word not in _TITLES]
    first = proper[0] if proper and (len(proper) > 1 or proper[0] in _FIRST_NAMES) and proper[0] != "the" else ""
    return title, first


def _same_person(name: str, other: str) -> bool:
    """Return whether ``other`` is a longer form of ``name``, or a nickname of it."""
    words, others = ([_plain(word) for word in each.split()] for each in (name, other))
    titles, other_titles = ([_FULL_TITLES.get(w, w) for w in each if w in _TITLES] for each in (words, others))
    proper, other_proper = (
        [w for w in each if w not in _TITLES and w not in ("the", "de", "von")] for each in (words, others)
    )
    if titles and other_titles and titles[0] != other_titles[0]:
        return False
    if not proper:  # the captain
        return titles[-1:] == other_titles[:1] and (words[0] == "the" or len(words) == 1)
    if not other_proper or proper == other_proper:
        return bool(other_proper)
    if words[0] == "the" or others[0] == "the":  # the old miller, the miller
        return proper[-1] == other_proper[-1] and set(proper) < set(other_proper)
    return _is_shorter_form(proper, other_proper, titles, other_titles)


def _is_shorter_form(proper: list[str], other: list[str], titles: list[str], other_titles: list[str]) -> bool:
    """Return whether names without titles are of one person: by first name or surname, or by a nickname."""
    is_nickname = NICKNAMES.get(proper[0], proper[0]) == NICKNAMES.get(other[0], other[0])
    if len(proper) == 1 and len(other) > 1:
        return titles in ([], other_titles) if proper[0] == other[0] else proper[0] == other[-1]
    if len(proper) == len(other) == 1:
        return is_nickname and not titles and not other_titles
    return is_nickname and proper[-1] == other[-1]


ENGLISH = English()
