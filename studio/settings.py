"""Declarations of all settings: title, help, default and range.

The settings dialog (``app/preferences``) and the file (``settings_store.py``) are derived from them. Titles and help
are marked for translation; this module does not import Qt.
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


def QT_TRANSLATE_NOOP(context: str, text: str) -> str:  # noqa: N802, ARG001 - the name Qt's tool looks for
    """Return ``text`` unchanged. Qt's tool collects it by this function's name; the dialog translates it."""
    return text


PAGE_TITLES = {
    Page.WINDOW: QT_TRANSLATE_NOOP("Settings", "Window"),
    Page.SCRIPT: QT_TRANSLATE_NOOP("Settings", "Script"),
    Page.SPEAKING: QT_TRANSLATE_NOOP("Settings", "Speech and playback"),
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
        Option("system", QT_TRANSLATE_NOOP("Settings", "Same as system")),
        Option("en", "English"),
        Option("zh_CN", "简体中文"),
    ),
)
COLOUR_SCHEME = Choice(
    key="colour-scheme",
    page=Page.WINDOW,
    title=QT_TRANSLATE_NOOP("Settings", "Colours"),
    help=QT_TRANSLATE_NOOP("Settings", "Light, dark, or the desktop's setting."),
    default="system",
    options=(
        Option("system", QT_TRANSLATE_NOOP("Settings", "Same as desktop")),
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
    title=QT_TRANSLATE_NOOP("Settings", "Split pasted or imported text"),
    help=QT_TRANSLATE_NOOP(
        "Settings",
        "Short lines are quicker to redo; paragraphs keep a natural intonation across sentences.",
    ),
    default="sentence",
    options=(
        Option("sentence", QT_TRANSLATE_NOOP("Settings", "One line per sentence")),
        Option("paragraph", QT_TRANSLATE_NOOP("Settings", "One line per paragraph")),
    ),
)
PAUSE_AFTER_SECONDS = Number(
    key="pause-after",
    page=Page.SCRIPT,
    title=QT_TRANSLATE_NOOP("Settings", "Pause after new lines"),
    help=QT_TRANSLATE_NOOP("Settings", "Silence before the next line when lines are played in sequence or joined."),
    default=0.3,
    low=0.0,
    high=10.0,
    step=0.1,
    unit=QT_TRANSLATE_NOOP("Settings", "s"),
)
AUTOSAVE_MINUTES = IntSetting(
    key="autosave-minutes",
    page=Page.SCRIPT,
    title=QT_TRANSLATE_NOOP("Settings", "Autosave interval"),
    help=QT_TRANSLATE_NOOP(
        "Settings",
        "For scripts saved to a file. After a crash, unsaved work can always be recovered at the next start.",
    ),
    default=0,
    low=0,
    high=60,
    unit=QT_TRANSLATE_NOOP("Settings", "min"),
    name_of_low=QT_TRANSLATE_NOOP("Settings", "Never"),
)

# Synthesis and playback.

OUTPUT_DEVICE = Device(
    key="output-device",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Output device"),
    help=QT_TRANSLATE_NOOP("Settings", "If it is disconnected, the system default is used."),
    default="",
)

KEEPS_LEADING_SILENCE = BoolSetting(
    key="keeps-leading-silence",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Keep leading silence"),
    help=QT_TRANSLATE_NOOP("Settings", "Keep up to 0.4 s of silence before the first word. New takes only."),
    default=False,
)
TAKES_AT_ONCE = IntSetting(
    key="takes-at-once",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Number of takes"),
    help=QT_TRANSLATE_NOOP("Settings", "Takes per line for “Speak several takes”, each with a different seed."),
    default=4,
    low=2,
    high=16,
)
COMPARES_BLINDLY = BoolSetting(key="compares-blindly", default=True)
MODEL = StringSetting(key="model", default="", may_be_empty=True)
SPEECH_LM_PRECISION = Choice(
    key="speech-lm-precision",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Language model precision"),
    help=QT_TRANSLATE_NOOP(
        "Settings",
        "Automatic uses the fastest precision that passes a quality check on this computer. You can override it.",
    ),
    default="auto",
    options=(
        Option("auto", QT_TRANSLATE_NOOP("Settings", "Automatic (fastest that passes)")),
        Option("float32", QT_TRANSLATE_NOOP("Settings", "32-bit float (reference)")),
        Option("bfloat16", QT_TRANSLATE_NOOP("Settings", "16-bit bfloat")),
        Option("float16", QT_TRANSLATE_NOOP("Settings", "16-bit float")),
        Option("int8", QT_TRANSLATE_NOOP("Settings", "8-bit integers")),
    ),
)
PLACE = StringSetting(
    key="place",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Run model on"),
    help=QT_TRANSLATE_NOOP(
        "Settings",
        "auto: the GPU with the most memory, otherwise the CPU. "
        "Other values: cpu, cuda, cuda:1, or part of a GPU's name.",
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
        "Faster engines are tested while the program is idle, and used only if their output matches the reference. "
        "See the Engines page for results.",
    ),
    default="improve",
    options=(
        Option("improve", QT_TRANSLATE_NOOP("Settings", "Find and use")),
        Option("proven", QT_TRANSLATE_NOOP("Settings", "Use verified engines only")),
        Option("plain", QT_TRANSLATE_NOOP("Settings", "Never")),
    ),
)
IDLE_RELEASE_MINUTES = IntSetting(
    key="idle-release",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Release memory when idle for"),
    help=QT_TRANSLATE_NOOP("Settings", "The model is loaded again for the next line."),
    default=0,
    low=0,
    high=600,
    unit=QT_TRANSLATE_NOOP("Settings", "min"),
    name_of_low=QT_TRANSLATE_NOOP("Settings", "Never"),
)
NUM_THREADS = IntSetting(
    key="threads",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "CPU threads"),
    help=QT_TRANSLATE_NOOP("Settings", "Fewer threads leave more CPU time for other programs."),
    default=0,
    low=0,
    high=64,
    name_of_low=QT_TRANSLATE_NOOP("Settings", "Automatic"),
)
VOICE_CACHE_GIBIBYTES = IntSetting(
    key="voice-cache",
    page=Page.SPEAKING,
    title=QT_TRANSLATE_NOOP("Settings", "Voice cache size"),
    help=QT_TRANSLATE_NOOP(
        "Settings",
        "Disk space for prepared voices, which start without delay. The least recently used are removed first.",
    ),
    default=8,
    low=1,
    high=500,
    unit=QT_TRANSLATE_NOOP("Settings", "GiB"),
)

# Models.

MODEL_SOURCE = Choice(
    key="model-source",
    page=Page.MODELS,
    title=QT_TRANSLATE_NOOP("Settings", "Download models from"),
    help=QT_TRANSLATE_NOOP("Settings", "Both offer the same files. ModelScope is often faster in China."),
    default="huggingface",
    options=(Option("huggingface", "Hugging Face"), Option("modelscope", "ModelScope")),
)
HUGGING_FACE_ENDPOINT = StringSetting(
    key="huggingface-endpoint",
    page=Page.MODELS,
    title=QT_TRANSLATE_NOOP("Settings", "Hugging Face address"),
    help=QT_TRANSLATE_NOOP("Settings", "A mirror such as https://hf-mirror.com, or empty for the default."),
    default="",
    may_be_empty=True,
    longest=300,
)
MODEL_SCOPE_ENDPOINT = StringSetting(
    key="modelscope-endpoint",
    page=Page.MODELS,
    title=QT_TRANSLATE_NOOP("Settings", "ModelScope address"),
    help=QT_TRANSLATE_NOOP("Settings", "A mirror, or empty for the default."),
    default="",
    may_be_empty=True,
    longest=300,
)
MODELS_FOLDER = Folder(
    key="models-folder",
    page=Page.MODELS,
    title=QT_TRANSLATE_NOOP("Settings", "Models folder"),
    help=QT_TRANSLATE_NOOP(
        "Settings", "Folder for newly installed models (3 to 7 GB each). Models already installed are not moved."
    ),
    default="",
    name_of_empty=QT_TRANSLATE_NOOP("Settings", "In the program's data folder"),
)
PREFERS_RL = BoolSetting(
    key="prefers-rl",
    page=Page.MODELS,
    title=QT_TRANSLATE_NOOP("Settings", "Prefer the RL-tuned language model"),
    help=QT_TRANSLATE_NOOP("Settings", "llm.rl.pt of Fun-CosyVoice3 (2 GB extra), used if it is installed."),
    default=False,
)
FIRST_RUN_IS_OVER = BoolSetting(key="first-run-is-over", default=False)

# Initial values of the export dialog.

EXPORT_FOLDER = Folder(
    key="export-folder",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Folder"),
    help=QT_TRANSLATE_NOOP("Settings", "Folder for exported audio files."),
    default="",
    name_of_empty=QT_TRANSLATE_NOOP("Settings", "Next to the script"),
)
EXPORT_FILES = Choice(
    key="export-files",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Files"),
    help=QT_TRANSLATE_NOOP("Settings", "Separate files suit video, one file suits podcasts."),
    default="lines",
    options=(
        Option("lines", QT_TRANSLATE_NOOP("Settings", "One per line")),
        Option("joined", QT_TRANSLATE_NOOP("Settings", "One for all lines")),
        Option("both", QT_TRANSLATE_NOOP("Settings", "Both")),
    ),
)
EXPORT_PATTERN = StringSetting(
    key="export-pattern",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "File name pattern"),
    help=QT_TRANSLATE_NOOP(
        "Settings", "Fields: {index}, {voice}, {text}, {style}, {project}. A slash creates a folder."
    ),
    default="{index} {voice} {text}",
    longest=200,
)
EXPORT_ENCODING = Choice(
    key="export-encoding",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Format"),
    help=QT_TRANSLATE_NOOP("Settings", "WAV and FLAC are lossless; MP3, Vorbis and Opus are smaller."),
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
    help=QT_TRANSLATE_NOOP("Settings", "The models generate 24 kHz. Video usually uses 48 kHz, music 44.1 kHz."),
    default=24_000,
    options=(Option(24_000, "24 kHz"), Option(44_100, "44.1 kHz"), Option(48_000, "48 kHz")),
)
EXPORT_HAS_ONE_PAUSE = BoolSetting(
    key="export-one-pause",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Same pause after every line"),
    help=QT_TRANSLATE_NOOP("Settings", "In a joined file. Otherwise each line keeps its own pause."),
    default=False,
)
EXPORT_PAUSE_SECONDS = Number(
    key="export-pause",
    page=Page.EXPORT,
    needs=EXPORT_HAS_ONE_PAUSE,
    title=QT_TRANSLATE_NOOP("Settings", "Pause between lines"),
    help=QT_TRANSLATE_NOOP("Settings", "Silence between one line and the next."),
    default=0.5,
    low=0.0,
    high=60.0,
    step=0.1,
    unit=QT_TRANSLATE_NOOP("Settings", "s"),
)
EXPORT_MATCHES_LOUDNESS = BoolSetting(
    key="export-matches-loudness",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Normalise loudness"),
    help=QT_TRANSLATE_NOOP("Settings", "Bring every file to the loudness below, without clipping."),
    default=False,
)
EXPORT_LUFS = Number(
    key="export-loudness",
    page=Page.EXPORT,
    needs=EXPORT_MATCHES_LOUDNESS,
    title=QT_TRANSLATE_NOOP("Settings", "Loudness"),
    help=QT_TRANSLATE_NOOP("Settings", "Typical: -16 for podcasts, -19 for audiobooks, -23 for broadcast."),
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
    title=QT_TRANSLATE_NOOP("Settings", "True-peak limit"),
    help=QT_TRANSLATE_NOOP("Settings", "Maximum true peak of exported audio; -1 is typical."),
    default=-1.0,
    low=-20.0,
    high=0.0,
    step=0.5,
    unit="dBTP",
)
EXPORT_IS_TRIMMED = BoolSetting(
    key="export-trims",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Trim silence"),
    help=QT_TRANSLATE_NOOP("Settings", "A short, faded part of the silence is kept."),
    default=False,
)
EXPORT_SUBTITLES = Choice(
    key="export-subtitles",
    page=Page.EXPORT,
    title=QT_TRANSLATE_NOOP("Settings", "Subtitles"),
    help=QT_TRANSLATE_NOOP("Settings", "Timing of each line in the joined audio."),
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
    title=QT_TRANSLATE_NOOP("Settings", "Write a manifest (CSV)"),
    help=QT_TRANSLATE_NOOP("Settings", "Text, voice and duration of each line."),
    default=False,
)


def _declared() -> tuple[Setting[Any], ...]:
    return tuple(value for value in globals().values() if isinstance(value, Setting))


SETTINGS: tuple[Setting[Any], ...] = _declared()
"""All settings, in the order of the dialog."""
