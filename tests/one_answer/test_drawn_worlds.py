"""Small clusters and one manifest, drawn: every command gives the same answer about the same documents.

`make parity` tries many more, also on a cluster that runs.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from tests.one_answer.doors import differences
from tests.one_answer.worlds import draw_world
from tests.scale import examples
from tests.strategies.choices import Choices


@given(data=st.data())
@examples(150, least=30)
def test_all_commands_give_one_answer(data: st.DataObject) -> None:
    world = draw_world(Choices(data.draw))
    with TemporaryDirectory() as folder:
        assert differences(world.documents, world.target, Path(folder)) == []
