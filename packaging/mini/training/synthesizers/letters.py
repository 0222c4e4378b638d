"""The letter of each phone in the respellings of the model that is bundled now."""

from __future__ import annotations

LETTER_OF_PHONE = {
    "P": "P", "B": "B", "T": "T", "D": "D", "K": "K", "G": "G", "F": "F", "V": "V", "S": "S", "Z": "Z", "M": "M",
    "N": "N", "L": "L", "R": "R", "W": "W", "HH": "H", "Y": "Y", "JH": "J", "CH": "C", "TH": "Þ", "DH": "Ð",
    "SH": "Ş", "ZH": "Ž", "NG": "Ŋ",
    "AA": "A", "AE": "Æ", "AH": "U", "AH0": "X", "AO": "O", "AW": "Â", "AY": "Á", "EH": "E", "ER": "Ë", "EY": "Ê",
    "IH": "I", "IY": "Í", "OW": "Ó", "OY": "Ô", "UH": "Û", "UW": "Ú",
}  # fmt: skip
PHONE_OF_LETTER = {letter: phone for phone, letter in LETTER_OF_PHONE.items()}
