"""Who may look at the page and at the decisions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest
from click.testing import CliRunner

from reprieve.cli import main
from reprieve.dashboard.guard import COOKIE, Access
from reprieve.objects.errors import ReprieveError
from reprieve.records import RunningController
from reprieve.runtime.endpoints import TOKEN_VARIABLE, read_token
from tests.dashboard.scenes import crowd, decisions
from tests.dashboard.serving import serving

TOKEN = "correct-horse-battery-staple"
SECRETS = (
    "/",
    "/api/state",
    "/api/decisions",
    "/api/decisions/1",
    "/api/nodes/h100-0",
    "/api/history",
    "/api/when?for=pod/default/a",
    "/api/stream",
)


@asynccontextmanager
async def visitor(access: Access, **session: object) -> AsyncIterator[tuple[aiohttp.ClientSession, str]]:
    jar = aiohttp.CookieJar(unsafe=True)
    async with (
        serving(crowd(1), decisions(3), access=access) as url,
        aiohttp.ClientSession(cookie_jar=jar, **session) as visit,  # type: ignore[arg-type]
    ):
        yield visit, url


async def test_on_this_machine_no_token_is_needed():
    async with visitor(Access("127.0.0.1")) as (visit, url), visit.get(f"{url}/api/state") as response:
        assert response.status == 200


@pytest.mark.parametrize("host", ["evil.example:8080", "evil.example", "127.0.0.1.evil.example"])
async def test_a_page_from_elsewhere_cannot_borrow_the_viewers_browser(host: str):
    async with (
        visitor(Access("127.0.0.1")) as (visit, url),
        visit.get(f"{url}/api/state", headers={"Host": host}) as response,
    ):
        assert response.status == 403
        assert "not a name of this machine" in (await response.json())["message"]


@pytest.mark.parametrize("host", ["localhost:1", "[::1]:1", "127.8.8.8"])
async def test_every_name_of_this_machine_for_itself_will_do(host: str):
    async with (
        visitor(Access("127.0.0.1")) as (visit, url),
        visit.get(f"{url}/api/state", headers={"Host": host}) as response,
    ):
        assert response.status == 200


@pytest.mark.parametrize("path", SECRETS)
async def test_without_a_token_other_machines_see_nothing(path: str):
    async with visitor(Access("0.0.0.0")) as (visit, url), visit.get(f"{url}{path}") as response:
        assert response.status == 403
        assert "--token-file" in (await response.json())["message"]


@pytest.mark.parametrize("access", [Access("0.0.0.0"), Access("0.0.0.0", TOKEN)])
async def test_probes_need_no_token(access: Access):
    async with visitor(access) as (visit, url), visit.get(f"{url}/readyz") as response:
        assert response.status == 200


@pytest.mark.parametrize("path", SECRETS)
@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer wrong"}, {"Cookie": f"{COOKIE}={TOKEN}"}])
async def test_without_the_token_nothing_is_shown(path: str, headers: dict[str, str]):
    async with (
        visitor(Access("0.0.0.0", TOKEN)) as (visit, url),
        visit.get(f"{url}{path}", headers=headers) as response,
    ):
        assert response.status == 401
        assert "train" not in await response.text()


async def test_with_the_token_requests_are_answered():
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        visitor(Access("0.0.0.0", TOKEN)) as (visit, url),
        visit.get(f"{url}/api/decisions", headers=headers) as response,
    ):
        assert len((await response.json())["items"]) == 3


async def test_the_login_form_gives_a_cookie_that_scripts_and_other_sites_cannot_use():
    async with visitor(Access("0.0.0.0", TOKEN)) as (visit, url):
        async with visit.post(f"{url}/login", data={"token": TOKEN}, allow_redirects=False) as response:
            assert response.status == 303
            cookie = response.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert TOKEN not in cookie
        async with visit.get(f"{url}/api/state") as response:
            assert response.status == 200
        async with visit.post(f"{url}/logout", allow_redirects=False):
            pass
        async with visit.get(f"{url}/api/state") as response:
            assert response.status == 401


async def test_a_wrong_token_is_answered_with_a_sentence(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reprieve.dashboard.guard.WRONG_TOKEN_SECONDS", 0.0)
    async with (
        visitor(Access("0.0.0.0", TOKEN)) as (visit, url),
        visit.post(f"{url}/login", data={"token": "no"}) as response,
    ):
        assert response.status == 401
        assert "That is not the token of this controller." in await response.text()
        assert "unsafe" not in response.headers["Content-Security-Policy"]


FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("media", "body"),
    [
        (f"{FORM}; charset=nosuch", b"token=x"),
        (FORM, b"token=\xff"),
        (FORM, b"a&" * 100_000),
        (FORM, b"token=" + TOKEN.encode() + b"&a" * 100),
        ("multipart/form-data; boundary=x", b"--y\r\n"),
        ("multipart/form-data", b'--x\r\nContent-Disposition: form-data; name="token"\r\n\r\n1\r\n--x--\r\n'),
    ],
)
async def test_whatever_is_sent_as_a_login_is_a_wrong_token_and_no_line_in_the_log(
    media: str, body: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """Strangers made a traceback in the log of every request that could not be read."""
    monkeypatch.setattr("reprieve.dashboard.guard.WRONG_TOKEN_SECONDS", 0.0)
    async with (
        visitor(Access("0.0.0.0", TOKEN)) as (visit, url),
        visit.post(f"{url}/login", data=body, headers={"Content-Type": media}) as response,
    ):
        assert response.status == 401
        assert "That is not the token of this controller." in await response.text()
    assert not caplog.records


async def test_explain_gives_the_controller_its_token_and_repeats_a_refusal():
    async with visitor(Access("0.0.0.0", TOKEN)) as (_, url):
        assert len(await RunningController(url, TOKEN).decisions()) == 1
        with pytest.raises(ReprieveError, match="asks for its token"):
            await RunningController(url, "something-else-entirely").decisions()


def test_a_page_for_other_machines_does_not_start_without_a_token(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    result = CliRunner().invoke(main, ["run", "--dashboard", "--listen", "0.0.0.0:0"])
    assert result.exit_code == 2
    assert "would show every namespace to everybody" in result.output
    assert "--token-file" in result.output


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "it is empty"), ("short\n", "at least 16"), ("two words are not one word", "one word")],
)
def test_a_token_that_is_none_is_refused(tmp_path, text: str, problem: str):
    (tmp_path / "token").write_text(text)
    with pytest.raises(ReprieveError, match=problem):
        read_token(tmp_path / "token")


def test_a_token_comes_from_the_file_or_from_the_environment(tmp_path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    monkeypatch.setenv(TOKEN_VARIABLE, "another-token-entirely")
    assert read_token(tmp_path / "token") == TOKEN
    assert read_token(None) == "another-token-entirely"
    with pytest.raises(ReprieveError, match="cannot be read"):
        read_token(tmp_path / "nowhere")
