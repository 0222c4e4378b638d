"""Marks and signed manifests of whole files that the service sends. Audio that is sent while it is synthesised has none."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from studio.audio.resampling import Samples
from studio.pipeline.request import (
    AudioChunk,
    ConversionRequest,
    EngineDescription,
    SynthesisReport,
    SynthesisRequest,
)
from studio.provenance.mark import Marker
from studio.provenance.signing import EMBEDDING_FORMATS, FileSigner, mark_code
from studio.provenance.statement import MARKED, SYNTHETIC, AudioHash, hash_text, spoken_statement

# Every answer with speech has this header.
SYNTHETIC_HEADER = (b"x-digital-source-type", SYNTHETIC.encode())


@dataclass
class RequestedFile:
    """The mark and the manifest of the speech of one request. Without ``signer``, it gets no manifest."""

    signer: FileSigner | None
    is_marked: bool
    request: SynthesisRequest | ConversionRequest
    description: EngineDescription
    licence: str
    _audio: AudioHash = field(default_factory=AudioHash)
    _marker: Marker | None = None

    @cached_property
    def _code(self) -> str:
        text = self.request.text if isinstance(self.request, SynthesisRequest) else ""
        return mark_code(self.signer, hash_text(text), f"{self.request.seed}")

    def add(self, chunk: AudioChunk) -> Samples:
        """Return the samples of the file."""
        self._audio.add(chunk.samples)
        if not self.is_marked:
            return chunk.samples
        self._marker = self._marker or Marker(chunk.sample_rate, code=self._code)
        return self._marker(chunk.samples)

    def signed(self, content: bytes, format_name: str, report: SynthesisReport) -> bytes:
        """Return the file with its manifest, or unchanged if its format has no place for one. Raise ``CannotSign``."""
        suffix = f".{format_name}"
        if self.signer is None or suffix not in EMBEDDING_FORMATS:
            return content
        statement = spoken_statement(self.request).completed(
            report, self.description, licence=self.licence, audio_sha256=self._audio.hexdigest()
        )
        if self.is_marked:
            statement = replace(statement, edits=(MARKED,), mark_code=self._code)
        return self.signer.sign_content(content, f"speech{suffix}", statement)
