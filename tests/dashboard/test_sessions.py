"""Sessions of the page live on the server: random, ended by their viewer or by time, never without number."""

import aiohttp

from reprieve.dashboard.guard import COOKIE, Access
from reprieve.dashboard.sessions import LIFETIME_SECONDS, MOST, Sessions
from tests.dashboard.scenes import crowd, decisions
from tests.dashboard.serving import serving

TOKEN = "correct-horse-battery-staple"


async def test_a_cookie_is_of_no_use_after_its_viewer_logged_out() -> None:
    async with serving(crowd(1), decisions(1), access=Access("0.0.0.0", TOKEN)) as url:
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar) as viewer:
            await viewer.post(f"{url}/login", data={"token": TOKEN})
            (kept,) = (cookie.value for cookie in jar if cookie.key == COOKIE)
            async with viewer.get(f"{url}/api/state") as response:
                assert response.status == 200
            await viewer.post(f"{url}/logout")
        async with (
            aiohttp.ClientSession(headers={"Cookie": f"{COOKIE}={kept}"}) as thief,
            thief.get(f"{url}/api/state") as response,
        ):
            assert response.status == 401


def test_no_two_sessions_share_a_name_and_each_ends_alone() -> None:
    sessions = Sessions(lambda: 0.0)
    first, second = sessions.begin(), sessions.begin()
    assert first != second
    sessions.end(first)
    assert (sessions.knows(first), sessions.knows(second)) == (False, True)


def test_a_session_ends_by_itself() -> None:
    now = 100.0
    sessions = Sessions(lambda: now)
    name = sessions.begin()
    now += LIFETIME_SECONDS - 1
    assert sessions.knows(name)
    now += 1
    assert not sessions.knows(name)


def test_the_oldest_session_ends_when_there_are_too_many() -> None:
    sessions = Sessions(lambda: 0.0)
    names = [sessions.begin() for _ in range(MOST + 1)]
    assert not sessions.knows(names[0])
    assert all(sessions.knows(name) for name in names[1:])


def test_nobody_is_logged_in_by_an_empty_name() -> None:
    assert not Sessions(lambda: -1.0).knows("")
