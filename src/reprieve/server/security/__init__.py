"""Who may talk to the server: certificates, tokens, kubeconfig."""

from reprieve.server.security.certificates import Authority
from reprieve.server.security.identity import ADMIN, READER, Authenticator, Identity
from reprieve.server.security.impersonation import impersonated
from reprieve.server.security.kubeconfig import kubeconfig, write_private
from reprieve.server.security.reviews import Reviews
from reprieve.server.security.rights import Rights

__all__ = [
    "ADMIN",
    "READER",
    "Authenticator",
    "Authority",
    "Identity",
    "Reviews",
    "Rights",
    "impersonated",
    "kubeconfig",
    "write_private",
]
