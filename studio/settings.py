"""Every setting of the program, declared once: what it is called, what it is for, its default and its range.

The dialog (``app/preferences``) and the file (``settings_file.py``) follow from these declarations.
Titles and help are marked for Qt's translators, but nothing here knows Qt.
"""

from __future__ import annotations

from typing import Any

from studio.setting_kinds import (
    BoolSetting,
    Choice,
    Device,
    Folder,
    IntSetting,
    Number,
    Option,
    Page,
    Setting,
    ShortcutsSetting,
    StringSetting,
)


def QT_TRANSLATE_NOOP(context: str, text: str) -> str:  # noqa: N802, ARG001 - the name that Qt's tool looks for
    """``text`` as it is; the tool finds it by the name of this function, the dialog translates it."""
    return text


PAGE_TITLES = {
    Page.WINDOW: QT_TRANSLATE_NOOP("Settings", "Window"),
    Page.SCRIPT: QT_TRANSLATE_NOOP("Settings", "Script"),
    Page.SPEAKING: QT_TRANSLATE_NOOP("Settings", "Speaking and playing"),
    Page.MODELS: QT_TRANSLATE_NOOP("Settings", "Models"),
    Page.EXPORT: QT_TRANSLATE_NOOP("Settings", "Export"),
}

# The window.

LANGUAGE = Choice(
    key="language",
    page=Page.WINDOW,
    title=QT_TRANSLATE_NOOP("Settings", "Language"),
    help=QT_TRANSLATE_NOOP("Settings", "The language of menus and messages."),
    default="system",
    options=(
        Option("system", QT_TRANSLATE_NOOP("Settings", "As the system")),
        Option("en", "English"),
        Option("zh_CN", "简体中文"),
    ),
)
COLOUR_SCHEME = Choice(
    key="colour-scheme",
    page=Page.WINDOW,
    title=QT_TRANSLATE_NOOP("Settings", "Colours"),
    help=QT_TRANSLATE_NOOP("Settings", "Light or dark, or whichever the desktop asks for."),
    default="system",
    options=(
        Option("system", QT_TRANSLATE_NOOP("Settings", "As the desktop")),
        Option("light", QT_TRANSLATE_NOOP("Settings", "Light")),
        Option("dark", QT_TRANSLATE_NOOP("Settings", "Dark")),
    ),
)
SHORTCUTS = ShortcutsSetting(key="shortcuts")
WINDOW_GEOMETRY = StringSetting(key="window-geometry", default="", may_be_empty=True, longest=100_000)
WINDOW_LAYOUT = StringSetting(key="window-layout", default="", may_be_empty=True, longest=100_000)

# The script.

TEXT_SPLITTING = Choice(
    key="text-splitting",
    page=Page.SCRIPT,
    title=QT_TRANSLATE_NOOP("Settings", "Pasted or imported text becomes"),
    help=QT_TRANSLATE_NOOP(
        "Settings",
        "Short lines are quick to speak again; whole paragraphs keep their melody from sentence to sentence.",
    ),
    default="sentence",
    options=(
        Option("sentence", QT_TRANSLATE_NOOP("Settings", "A line for each sentence")),
        Option("paragraph", QT_TRANSLATE_NOOP("Settings", "A line for each paragraph")),
    ),
)
PAUSE_AFTER_SECONDS = Number(
    key="pause-after",
    page=Page.SCRIPT,
    title=QT_TRANSLATE_NOOP("Settings", "Pause after a new line"),
    help=QT_TRANSLATE_NOOP("Settings", "Silence between this line and the next, when several are played or joined."),
    default=0.3,
    low=0.0,
    high=10.0,
    step=0.1,
    unit=QT_TRANSLATE_NOOP("Settings", "s"),
)
AUTOSAVE_MINUTES = IntSetting(
    key="autosave-minutes",
    page=Page.SCRIPT,
    title=QT_TRANSLATE_NOOP("Settings", "Save the project by itself every"),
    help=QT_TRANSLATE_NOOP(
        "Settings",
        "Only a project that has a file. Whatever happens to the program, unsaved work is offered again at its next start.",
    ),
    default=0,
    low=0,
    high=60,
    unit=QT_TRANSLATE_NOOP("Settings", "min"),
    name_of_low=QT_TRANSLATE_NOOP("Settings", "Never"),
)

# How lines are spoken, and where they are heard.

OUTPUT_DEVICE = Device(
    key="output-device",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Play on"),
    help=QT_TRANSLATE_NOOP("Settings", "Where takes are heard. If it is unplugged, the system's own device is used."),
    default="",
)

KEEPS_LEADING_SILENCE = BoolSetting(
    key="keeps-leading-silence",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Keep leading silence"),
    help=QT_TRANSLATE_NOOP("Settings", "The silence before the first word of a take, up to 0.4 s. New takes only."),
    default=False,
)
TAKES_AT_ONCE = IntSetting(
    key="takes-at-once",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Takes at once"),
    help=QT_TRANSLATE_NOOP("Settings", "How many “Speak several takes” makes of a line, each with a seed of its own."),
    default=4,
    low=2,
    high=16,
)
COMPARES_BLINDLY = BoolSetting(key="compares-blindly", default=True)
MODEL = StringSetting(key="model", default="", may_be_empty=True)
SPEECH_LM_PRECISION = Choice(
    key="speech-lm-precision",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Precision of the language model"),
    help=QT_TRANSLATE_NOOP(
        "Settings", "The fastest precision that passes its quality check on this computer, unless you know better."
    ),
    default="auto",
    options=(
        Option("auto", QT_TRANSLATE_NOOP("Settings", "Fastest that is good enough")),
        Option("float32", QT_TRANSLATE_NOOP("Settings", "32-bit float (reference)")),
        Option("bfloat16", QT_TRANSLATE_NOOP("Settings", "16-bit bfloat")),
        Option("float16", QT_TRANSLATE_NOOP("Settings", "16-bit float")),
        Option("int8", QT_TRANSLATE_NOOP("Settings", "8-bit integers")),
    ),
)
PLACE = StringSetting(
    key="place",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Run the model on"),
    help=QT_TRANSLATE_NOOP(
        "Settings",
        "auto is the graphics card with most memory, or the processor where there is none. "
        "Also: cpu, cuda, cuda:1, or part of a card's name.",
    ),
    default="auto",
    longest=100,
)
ENGINES = Choice(
    key="engines",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Faster engines"),
    help=QT_TRANSLATE_NOOP(
        "Settings",
        "Other ways to run the model are tried while nobody speaks, and used only where they are proven right. "
        "The page of engines says what was found.",
    ),
    default="improve",
    options=(
        Option("improve", QT_TRANSLATE_NOOP("Settings", "Look for them, and use them")),
        Option("proven", QT_TRANSLATE_NOOP("Settings", "Use those that are known")),
        Option("plain", QT_TRANSLATE_NOOP("Settings", "Never")),
    ),
)
IDLE_RELEASE_MINUTES = IntSetting(
    key="idle-release",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Give memory back when idle for"),
    help=QT_TRANSLATE_NOOP("Settings", "The next line then waits until the model is loaded again."),
    default=0,
    low=0,
    high=600,
    unit=QT_TRANSLATE_NOOP("Settings", "min"),
    name_of_low=QT_TRANSLATE_NOOP("Settings", "Never"),
)
NUM_THREADS = IntSetting(
    key="threads",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Processor threads"),
    help=QT_TRANSLATE_NOOP(
        "Settings", "How much of the processor speaking may take; fewer leave more to other programs."
    ),
    default=0,
    low=0,
    high=64,
    name_of_low=QT_TRANSLATE_NOOP("Settings", "Automatic"),
)
VOICE_CACHE_GIBIBYTES = IntSetting(
    key="voice-cache",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Disk space for prepared voices"),
    help=QT_TRANSLATE_NOOP(
        "Settings", "Prepared voices speak at once. Those not used for longest make room for new ones."
    ),
    default=8,
    low=1,
    high=500,
    unit=QT_TRANSLATE_NOOP("Settings", "GiB"),
)

# Where models come from, and where they are kept.

MODEL_SOURCE = Choice(
    key="model-source",
    page=Page.MODELS,
    title=QT_TRANSLATE_NOOP("Settings", "Download models from"),
    help=QT_TRANSLATE_NOOP("Settings", "Both have the same files. ModelScope is often faster in China."),
    default="huggingface",
    options=(Option("huggingface", "Hugging Face"), Option("modelscope", "ModelScope")),
)
HUGGING_FACE_ENDPOINT = StringSetting(
    key="huggingface-endpoint",
    page=Page.MODELS,
    title=QT_TRANSLATE_NOOP("Settings", "Address of Hugging Face"),
    help=QT_TRANSLATE_NOOP("Settings", "A mirror, like https://hf-mirror.com; empty for Hugging Face itself."),
    default="",
    may_be_empty=True,
    longest=300,
)
MODEL_SCOPE_ENDPOINT = StringSetting(
    key="modelscope-endpoint",
    page=Page.MODELS,
    title=QT_TRANSLATE_NOOP("Settings", "Address of ModelScope"),
    help=QT_TRANSLATE_NOOP("Settings", "A mirror; empty for ModelScope itself."),
    default="",
    may_be_empty=True,
    longest=300,
)
MODELS_FOLDER = Folder(
    key="models-folder",
    page=Page.MODELS,
    title=QT_TRANSLATE_NOOP("Settings", "Folder of models"),
    help=QT_TRANSLATE_NOOP(
        "Settings", "Where models are kept from now on; a model takes 3 to 7 GB. Those that are elsewhere stay there."
    ),
    default="",
    name_of_empty=QT_TRANSLATE_NOOP("Settings", "With the program's data"),
)
PREFERS_RL = BoolSetting(
    key="prefers-rl",
    page=Page.MODELS,
    title=QT_TRANSLATE_NOOP("Settings", "Prefer the language model after reinforcement learning"),
    help=QT_TRANSLATE_NOOP(
        "Settings", "llm.rl.pt, which Fun-CosyVoice3 has: 2 GB of its own. Used where it is installed."
    ),
    default=False,
)
FIRST_RUN_IS_OVER = BoolSetting(key="first-run-is-over", default=False)

# What the export dialog begins with.

EXPORT_FOLDER = Folder(
    key="export-folder",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Folder"),
    help=QT_TRANSLATE_NOOP("Settings", "Where sound files are written."),
    default="",
    name_of_empty=QT_TRANSLATE_NOOP("Settings", "Beside the project"),
)
EXPORT_FILES = Choice(
    key="export-files",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Files"),
    help=QT_TRANSLATE_NOOP("Settings", "Single lines for a video, one file for a podcast."),
    default="lines",
    options=(
        Option("lines", QT_TRANSLATE_NOOP("Settings", "One for each line")),
        Option("joined", QT_TRANSLATE_NOOP("Settings", "One for all lines")),
        Option("both", QT_TRANSLATE_NOOP("Settings", "Both")),
    ),
)
EXPORT_PATTERN = StringSetting(
    key="export-pattern",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Names of files"),
    help=QT_TRANSLATE_NOOP(
        "Settings", "{index}, {voice}, {text}, {style} and {project} are filled in; a slash makes a folder."
    ),
    default="{index} {voice} {text}",
    longest=200,
)
EXPORT_ENCODING = Choice(
    key="export-encoding",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Format"),
    help=QT_TRANSLATE_NOOP("Settings", "WAV and FLAC keep every detail; MP3, Vorbis and Opus are small."),
    default="wav16",
    options=(
        Option("wav16", QT_TRANSLATE_NOOP("Settings", "WAV, 16 bit")),
        Option("wav24", QT_TRANSLATE_NOOP("Settings", "WAV, 24 bit")),
        Option("wav32f", QT_TRANSLATE_NOOP("Settings", "WAV, 32-bit float")),
        Option("flac16", QT_TRANSLATE_NOOP("Settings", "FLAC, 16 bit")),
        Option("flac24", QT_TRANSLATE_NOOP("Settings", "FLAC, 24 bit")),
        Option("mp3", "MP3"),
        Option("ogg", "OGG Vorbis"),
        Option("opus", "OGG Opus"),
    ),
)
EXPORT_SAMPLE_RATE = Choice(
    key="export-sample-rate",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Sample rate"),
    help=QT_TRANSLATE_NOOP("Settings", "The models speak at 24 kHz; 48 kHz is usual for video, 44.1 kHz for music."),
    default=24_000,
    options=(Option(24_000, "24 kHz"), Option(44_100, "44.1 kHz"), Option(48_000, "48 kHz")),
)
EXPORT_HAS_ONE_PAUSE = BoolSetting(
    key="export-one-pause",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "The same pause after every line"),
    help=QT_TRANSLATE_NOOP("Settings", "Between the lines of a joined file; otherwise each line's own pause."),
    default=False,
)
EXPORT_PAUSE_SECONDS = Number(
    key="export-pause",
    page=Page.EXPORT,
    needs=EXPORT_HAS_ONE_PAUSE,
    title=QT_TRANSLATE_NOOP("Settings", "Pause between lines"),
    help=QT_TRANSLATE_NOOP("Settings", "Silence from the end of one line to the beginning of the next."),
    default=0.5,
    low=0.0,
    high=60.0,
    step=0.1,
    unit=QT_TRANSLATE_NOOP("Settings", "s"),
)
EXPORT_MATCHES_LOUDNESS = BoolSetting(
    key="export-matches-loudness",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Make all files equally loud"),
    help=QT_TRANSLATE_NOOP("Settings", "Each file is brought to the loudness below, without clipping."),
    default=False,
)
EXPORT_LUFS = Number(
    key="export-loudness",
    page=Page.EXPORT,
    needs=EXPORT_MATCHES_LOUDNESS,
    title=QT_TRANSLATE_NOOP("Settings", "Loudness"),
    help=QT_TRANSLATE_NOOP("Settings", "-16 is usual for podcasts, -19 for audiobooks, -23 for broadcasting."),
    default=-16.0,
    low=-40.0,
    high=-5.0,
    step=0.5,
    unit="LUFS",
)
EXPORT_TRUE_PEAK = Number(
    key="export-true-peak",
    page=Page.EXPORT,
    needs=EXPORT_MATCHES_LOUDNESS,
    title=QT_TRANSLATE_NOOP("Settings", "Highest peak"),
    help=QT_TRANSLATE_NOOP("Settings", "No peak of the finished sound is higher than this; -1 is usual."),
    default=-1.0,
    low=-20.0,
    high=0.0,
    step=0.5,
    unit="dBTP",
)
EXPORT_IS_TRIMMED = BoolSetting(
    key="export-trims",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Cut silence off both ends"),
    help=QT_TRANSLATE_NOOP("Settings", "A breath of it stays, softly faded."),
    default=False,
)
EXPORT_SUBTITLES = Choice(
    key="export-subtitles",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Subtitles"),
    help=QT_TRANSLATE_NOOP("Settings", "When each line is heard in the joined sound."),
    default="none",
    options=(
        Option("none", QT_TRANSLATE_NOOP("Settings", "None")),
        Option("srt", "SRT"),
        Option("vtt", "WebVTT"),
        Option("both", QT_TRANSLATE_NOOP("Settings", "Both")),
    ),
)
EXPORT_HAS_MANIFEST = BoolSetting(
    key="export-manifest",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Add a table of all files"),
    help=QT_TRANSLATE_NOOP("Settings", "A CSV file with the text, voice and length of each line."),
    default=False,
)


def _declared() -> tuple[Setting[Any], ...]:
    return tuple(value for value in globals().values() if isinstance(value, Setting))


SETTINGS: tuple[Setting[Any], ...] = _declared()
"""All of them, in the order in which the dialog shows them."""
