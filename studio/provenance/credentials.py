"""The key and certificate that sign files: one made on first use, or the user's own.

A self-made key proves that a file has not changed since this installation signed it. It does not prove who the person
is, because no authority has checked it.
"""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from studio import paths
from studio.errors import UnusableCertificate
from studio.messages import message
from studio.storage.atomic_file import new_part
from studio.storage.disk import disk_errors, require_regular_file

SELF_MADE_NAME = "Timbre Studio, self-made key"
_MAX_BYTES = 1 << 20
_YEARS = 30
_ALGORITHM_OF_CURVE = {"secp256r1": "es256", "secp384r1": "es384", "secp521r1": "es512"}


@dataclass(frozen=True, slots=True)
class Credentials:
    """A private key and the certificates of its public key, in PEM. ``algorithm`` is C2PA's name of the signature."""

    certificates: bytes
    private_key: bytes
    algorithm: str


def self_made_path() -> Path:
    return paths.data_folder() / "signing-key.pem"


def load_credentials(own: Path | None) -> Credentials:
    """Return the key in ``own``, or else the self-made one, which is created if necessary.

    Raise ``UnusableCertificate``, ``CannotWrite``, ``DiskFull``.
    """
    path = own or self_made_path()
    if own is None and not path.exists():
        _make(path)
    try:
        require_regular_file(path)
        if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise UnusableCertificate(
                "Other users can read the signing key {path}.", remedy="Restrict it: chmod 600 {path}.", path=path
            )
        with path.open("rb") as file:
            return _credentials(file.read(_MAX_BYTES))
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UnusableCertificate(
            "The signing key {path} cannot be used ({reason}).",
            remedy=message("Use a PEM file with a private key without a password, followed by its certificates.")
            if own
            else message("Remove the file; another key is then made."),
            path=path,
            reason=error,
        ) from error


def _credentials(content: bytes) -> Credentials:
    """Raise ``ValueError`` if ``content`` is not a private key with its certificate."""
    key = serialization.load_pem_private_key(content, password=None)
    certificates = x509.load_pem_x509_certificates(content)
    if certificates[0].public_key() != key.public_key():
        raise ValueError("the first certificate belongs to another key")
    if certificates[0].not_valid_after_utc < datetime.now(UTC):
        raise ValueError("the certificate has expired")
    if isinstance(key, ec.EllipticCurvePrivateKey):
        algorithm = _ALGORITHM_OF_CURVE.get(key.curve.name, "")
    else:
        kinds = {"ed25519": ed25519.Ed25519PrivateKey, "ps256": rsa.RSAPrivateKey}
        algorithm = next((name for name, kind in kinds.items() if isinstance(key, kind)), "")
    if not algorithm:
        raise ValueError("C2PA does not allow this kind of key")
    return Credentials(
        b"".join(each.public_bytes(serialization.Encoding.PEM) for each in certificates), _pem(key), algorithm
    )


def _make(path: Path) -> None:
    """Write a new key with a certificate of its own, readable by this user only. Keep one that appears meanwhile."""
    key = ec.generate_private_key(ec.SECP256R1())
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, SELF_MADE_NAME),
            x509.NameAttribute(NameOID.COMMON_NAME, f"{SELF_MADE_NAME} {identifier.digest.hex()[:8]}"),
        ]
    )
    now = datetime.now(UTC)
    others = "content_commitment key_encipherment data_encipherment key_agreement key_cert_sign crl_sign encipher_only"
    usage = dict.fromkeys([*others.split(), "decipher_only"], False)
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))  # for clocks that are slow
        .not_valid_after(now + timedelta(days=365 * _YEARS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.KeyUsage(digital_signature=True, **usage), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]), critical=False)  # C2PA needs one
        .add_extension(identifier, critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier), critical=False)
        .sign(key, hashes.SHA256())
    )
    content = _pem(key) + certificate.public_bytes(serialization.Encoding.PEM)
    if_refused = message("Check the permissions of its folder.")
    with disk_errors(path, if_full=message("Free some space and try again."), if_refused=if_refused):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = new_part(path.parent)
        try:
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(part, path)
        finally:
            part.unlink(missing_ok=True)


def _pem(key: PrivateKeyTypes) -> bytes:
    pem: bytes = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return pem
