"""A network on which chosen requests go wrong, once each."""

from collections.abc import Sequence

from reprieve.kube import Request, Response, Transport
from tests.wrapped import Wrapped

REFUSAL = (
    b'{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"reason":"Forbidden","message":"no"}'
)


class Failing(Wrapped):
    """The first `times` writes to paths with one of these ends are refused for good."""

    def __init__(self, inner: Transport, paths: Sequence[str], times: int) -> None:
        super().__init__(inner)
        self._left = dict.fromkeys(paths, times)

    async def call(self, request: Request) -> Response:
        for path, left in self._left.items():
            if request.method != "GET" and request.path.endswith(path) and left:
                self._left[path] -= 1
                return Response(403, REFUSAL, {})
        return await super().call(request)
