"""Detects the generation of a model folder from its yaml, without loading the model."""

from __future__ import annotations

from pathlib import Path

from studio.errors import ModelNotFound, UnknownGeneration
from studio.model.generations import GENERATIONS, Generation
from studio.model.official_yaml import Document

_LONGEST_NAME = 60


def detect_generation(folder: Path) -> tuple[Generation, Document]:
    """Return the generation of a model folder and its yaml. No torch is needed.

    Class names in the yaml determine the generation, not file names: a folder may contain several
    yaml files, or one under an old name. Raise ``ModelNotFound``, ``UnknownGeneration``,
    ``BadModelSettings``.
    """
    if not folder.is_dir():
        raise ModelNotFound(
            "There is no model folder {folder}.",
            remedy="Give the folder that holds llm.pt, flow.pt and hift.pt.",
            folder=folder,
        )
    # Newest first: of several files, the newest determines the generation.
    paths = sorted(folder.glob("cosyvoice*.yaml"), reverse=True)
    if not paths:
        raise ModelNotFound(
            "{folder} is not a CosyVoice model folder: it has no cosyvoice*.yaml.",
            remedy="Give the folder that holds llm.pt, flow.pt and hift.pt.",
            folder=folder,
        )
    for path in paths:
        document = Document(path)
        names = tuple(document.root.class_name(key) for key in ("llm", "flow", "hift"))
        for generation in GENERATIONS:
            if names == (generation.speech_lm_class, generation.flow_class, generation.vocoder_class):
                _require_streaming_flow(generation, document)
                return generation, document
    described = ", ".join(str(name)[:_LONGEST_NAME] for name in names)
    raise UnknownGeneration(
        "{file} describes an unsupported model ({described}).",
        remedy="Use a CosyVoice2-0.5B or Fun-CosyVoice3-0.5B folder.",
        file=paths[-1].name,
        described=described,
    )


def _require_streaming_flow(generation: Generation, document: Document) -> None:
    """Raise ``UnknownGeneration`` for a first release, whose flow was not trained for streaming."""
    if generation.first_release_estimator is None:
        return
    if document.root.section("flow").section("decoder").class_name("estimator") == generation.first_release_estimator:
        raise UnknownGeneration(
            "{file} describes the first release of {generation}, whose flow cannot stream.",
            remedy="Download the newer release of {generation}, whose settings are in {newer}.",
            file=document.file_name,
            generation=generation.title,
            newer=generation.yaml_name,
        )
