"""Names of voices that clients send instead of those of the library."""

# OpenAI's voices, which clients send that cannot be configured, and bundled voices of a similar character.
OPENAI_VOICES = {
    "alloy": "Ada",
    "ash": "Max",
    "ballad": "Angus",
    "cedar": "Miles",
    "coral": "Linda",
    "echo": "Max",
    "fable": "Angus",
    "marin": "Linda",
    "nova": "Ada",
    "onyx": "Miles",
    "sage": "Linda",
    "shimmer": "Ada",
    "verse": "Max",
}
