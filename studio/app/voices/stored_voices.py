"""Import of the voices in an official ``spk2info.pt``. The worker reads the file, as this needs torch."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from studio.app.background import in_background
from studio.errors import CannotWrite, ModelNotFound, StudioError
from studio.messages import Message
from studio.model.generations import detect_generation
from studio.voices.library import Voice, VoiceLibrary
from studio.voices.voice import suggest_name
from studio.worker.client import WorkerClient
from studio.worker.process import Worker


async def import_spk2info(
    path: Path, library: VoiceLibrary, *, start_worker: Callable[[], Worker], model_folder: Path | None
) -> tuple[list[Voice], list[Message]]:
    """Import all voices; return those added to the library, and a message for each that could not be imported.

    Stored features fit only the model they were made with: the one in the file's folder, else ``model_folder``.
    Raises ``ModelNotFound`` if there is neither, and the errors of the worker.
    """
    folder = _model_of(path, model_folder)
    try:
        destination = tempfile.TemporaryDirectory(prefix="timbre-import-")
    except OSError as error:
        raise CannotWrite(
            "Temporary files cannot be written ({reason}).", remedy="Free some space and try again.", reason=error
        ) from error
    with destination as place:
        async with WorkerClient(folder, start_worker=start_worker) as client:
            written = await client.import_stored_voices(path, Path(place))
        voices, refused = [], list(written.refused)
        for stored in written.voices:
            try:
                wanted = suggest_name(stored.name, path.stem)
                name = await in_background(library.unique_name, wanted)
                addition = await in_background(
                    library.add, stored.features, name, stored.transcript, generation=stored.generation
                )
            except StudioError as error:
                refused.append(error.full_message)
            else:
                voices.append(addition.voice)
    return voices, refused


def _model_of(path: Path, fallback: Path | None) -> Path:
    try:
        detect_generation(path.parent)
    except StudioError as error:
        if fallback is None:
            raise ModelNotFound(
                "{file} is not in a model folder, and no model is selected.",
                remedy="Select the model it was stored with, then import it again.",
                file=path.name,
            ) from error
        return fallback
    return path.parent
