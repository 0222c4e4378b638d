"""Signed manifests of whole files that the service sends. Audio that is sent while it is synthesised has none."""

from __future__ import annotations

from dataclasses import dataclass, field

from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    SynthesisReport,
    SynthesisRequest,
)
from studio.provenance.signing import EMBEDDING_FORMATS, FileSigner
from studio.provenance.statement import SYNTHETIC, AudioHash, spoken_statement

# Every answer with speech has this header.
SYNTHETIC_HEADER = (b"x-digital-source-type", SYNTHETIC.encode())


@dataclass(slots=True)
class RequestedFile:
    """The manifest of the speech of one request."""

    signer: FileSigner
    request: SynthesisRequest | ConversionRequest
    description: EngineDescription
    licence: str
    _audio: AudioHash = field(default_factory=AudioHash)

    def add(self, chunk: AudioChunk) -> None:
        self._audio.add(chunk.samples)

    def signed(self, content: bytes, format_name: str, report: SynthesisReport) -> bytes:
        """Return the file with its manifest, or unchanged if its format has no place for one. Raise ``CannotSign``."""
        suffix = f".{format_name}"
        if suffix not in EMBEDDING_FORMATS:
            return content
        statement = spoken_statement(self.request).completed(
            report, self.description, licence=self.licence, audio_sha256=self._audio.hexdigest()
        )
        return self.signer.sign_content(content, f"speech{suffix}", statement)
