"""A certificate authority for one server: its own key, a serving certificate, client certificates on request.

Keys live in the data directory (mode 0600) so that a kubeconfig stays valid over restarts; without a data
directory they live in a temporary one and are deleted with the server.
"""

import datetime
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from reprieve.server.security.kubeconfig import write_private
from reprieve.server.storage import DataDirectoryUnusable

_DAYS = datetime.timedelta(days=365)
_SKEW = datetime.timedelta(minutes=5)
_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


class Authority:
    """Loads the authority of a directory, or makes one there."""

    def __init__(self, directory: Path, now: datetime.datetime) -> None:
        self._directory = directory
        self._now = now
        certificate, key = directory / "ca.crt", directory / "ca.key"
        if not certificate.exists():
            self._make(certificate, key)
        try:
            self.pem = certificate.read_bytes()
            self._certificate = x509.load_pem_x509_certificate(self.pem)
            self._key = _matching_key(self._certificate, key)
        except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
            raise DataDirectoryUnusable(
                f"{directory}: ca.crt and ca.key are damaged ({error}); put the old files back, or delete "
                "both: the next start makes new ones, and clients need the new kubeconfig"
            ) from error

    def _make(self, certificate: Path, key_path: Path) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "reprieve-ca")])
        usage = x509.KeyUsage(True, False, False, False, False, True, True, False, False)
        signed = (
            self._builder(name, name, key.public_key(), 10 * _DAYS)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        write_private(key_path, _pem(key))
        write_private(certificate, signed.public_bytes(serialization.Encoding.PEM))

    def _builder(
        self,
        subject: x509.Name,
        issuer: x509.Name,
        key: ec.EllipticCurvePublicKey,
        valid: datetime.timedelta,
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - _SKEW)
            .not_valid_after(self._now + valid)
        )

    def _issue(
        self, subject: x509.Name, extension: x509.ExtensionType, usage: x509.ObjectIdentifier
    ) -> tuple[bytes, bytes]:
        key = ec.generate_private_key(ec.SECP256R1())
        identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        certificate = (
            self._builder(subject, self._certificate.subject, key.public_key(), _DAYS)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(identifier, critical=False)
            .add_extension(extension, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        return certificate.public_bytes(serialization.Encoding.PEM), _pem(key)

    def client(self, user: str, groups: tuple[str, ...] = ()) -> tuple[bytes, bytes]:
        """Certificate and key (PEM) of a user."""
        names = [x509.NameAttribute(NameOID.COMMON_NAME, user)]
        names += [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        alternative = x509.SubjectAlternativeName([x509.DNSName("client.reprieve.invalid")])
        return self._issue(x509.Name(names), alternative, ExtendedKeyUsageOID.CLIENT_AUTH)

    def server_context(self, host: str) -> ssl.SSLContext:
        """TLS for the listener. Client certificates are optional, since tokens work too; a bad one fails."""
        alternatives: list[x509.GeneralName] = [x509.DNSName(name) for name in _NAMES]
        addresses = {"127.0.0.1", "::1"}
        try:
            addresses.add(str(ipaddress.ip_address(host)))
        except ValueError:
            alternatives.append(x509.DNSName(host))
        alternatives += [x509.IPAddress(ipaddress.ip_address(a)) for a in sorted(addresses)]
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "reprieve")])
        certificate, key = self._issue(
            name, x509.SubjectAlternativeName(alternatives), ExtendedKeyUsageOID.SERVER_AUTH
        )
        path = self._directory / "serving.pem"
        write_private(path, certificate + key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(path)
        context.load_verify_locations(cadata=self.pem.decode())
        context.verify_mode = ssl.CERT_OPTIONAL
        context.set_alpn_protocols(["http/1.1"])
        return context


def _matching_key(certificate: x509.Certificate, path: Path) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(path.read_bytes(), None)
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        raise ValueError("the key is not that of the certificate")
    return key


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
