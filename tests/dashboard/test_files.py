"""The page's own files: its scripts joined into one, and sent only to those who do not have them."""

import aiohttp
import pytest

from reprieve.dashboard.files import Files
from reprieve.dashboard.inventory import Inventory
from reprieve.dashboard.linking import CannotLink, link
from tests.dashboard.serving import serving


def test_modules_are_joined_in_the_order_in_which_they_need_each_other():
    joined = link(
        {
            "app.js": 'import { shown } from "./views/map.js";\nimport { html as h } from "./vendor/x.js";\n',
            "views/map.js": 'import { html } from "../vendor/x.js";\nexport const shown = html;\n'
            'import("./late.js");\n',
            "vendor/x.js": "const a = 1;export{a as html};\n",
        },
        "app.js",
    )
    places = [joined.index(f"// {name}\n") for name in ("vendor/x.js", "views/map.js", "app.js")]
    assert places == sorted(places)
    assert "const {html: h} = module0;" in joined
    assert "return {html: a};" in joined
    assert "return {shown: shown};" in joined
    assert 'import("./views/late.js")' in joined  # from where the one script is
    assert joined.count("\nexport") == joined.count("\nimport {") == 0


@pytest.mark.parametrize(
    ("sources", "problem"),
    [
        ({"a.js": 'import { b } from "./b.js";\n'}, "a.js imports b.js, which is not there"),
        (
            {"a.js": 'import { b } from "./b.js";\n', "b.js": 'import { a } from "./a.js";\n'},
            "imports itself: a.js -> b.js -> a.js",
        ),
        ({"a.js": "export default 1;\n"}, "a.js imports or exports in a form that is not known"),
        ({"a.js": 'import * as b from "./b.js";\n'}, "in a form that is not known"),
    ],
)
def test_what_cannot_be_joined_is_refused(sources: dict[str, str], problem: str):
    with pytest.raises(CannotLink, match=problem):
        link(sources, "a.js")


async def test_a_file_is_sent_once_squeezed_if_wanted_and_nothing_else_is_there():
    async with serving(Inventory()) as url, aiohttp.ClientSession(auto_decompress=False) as session:

        async def get(path: str, **headers: str) -> tuple[int, bytes, str]:
            async with session.get(f"{url}/static/{path}", headers=headers) as reply:
                return reply.status, await reply.read(), reply.headers.get("ETag", "")

        status, plain, tag = await get("app.js", **{"Accept-Encoding": "identity"})
        _, squeezed, _ = await get("app.js", **{"Accept-Encoding": "gzip, deflate"})
        assert (status, b"function App()" in plain) == (200, True)
        assert 0 < len(squeezed) < len(plain) / 2
        assert (await get("app.js", **{"If-None-Match": tag}))[:2] == (304, b"")
        assert (await get("style.css"))[0] == 200
        for missing in ("nothing.js", "..%2Fapp.py", "../app.py", "views"):
            assert (await get(missing))[0] == 404, missing


def test_every_script_of_the_page_can_be_joined():
    Files()
