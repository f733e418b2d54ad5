"""Who may talk to the server: certificates, tokens, kubeconfig."""

from reprieve.server.security.certificates import Authority
from reprieve.server.security.identity import ADMIN, READER, Authenticator, Identity
from reprieve.server.security.kubeconfig import kubeconfig, write_private

__all__ = ["ADMIN", "READER", "Authenticator", "Authority", "Identity", "kubeconfig", "write_private"]
