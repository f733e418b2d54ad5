"""The image of `deploy/Dockerfile`: it builds, runs as nobody, and has no installer in it."""

import re

import pytest

from tests.deploy.image import Images, download
from tests.docs.pages import ROOT
from tests.shared import made_once

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    return Images(made_once(tmp_path_factory, "images", build))


def build(folder):
    images = Images(folder)
    images.build(images.base(), download(folder / "wheels"))


@pytest.fixture(scope="module")
def image(images):
    return images.built


@pytest.fixture(scope="module")
def container(images, image):
    return images("from", "--pull-never", image).stdout.strip()


def test_the_program_runs_in_the_image_as_nobody(images, container):
    examples = f"{ROOT / 'examples/01-first-plan'}:/first:ro"
    plan = ("reprieve", "plan", "-f", "/first", "--for", "PodGroup/ml/train")
    answer = images("run", "--isolation", "chroot", "--volume", examples, container, "--", *plan)
    assert "fits if others make way" in answer.stdout
    assert images("run", "--isolation", "chroot", container, "--", "id", "-u").stdout.strip() == "65532"


def test_spans_can_be_sent_from_it(images, container):
    """Without another image: the module refuses to load where OpenTelemetry is missing."""
    load = ("python3", "-c", "import reprieve.runtime.tracing")
    images("run", "--isolation", "chroot", container, "--", *load)


def test_it_starts_from_what_was_compiled_once(images, container):
    """And the same sources are compiled to the same bytes: no time is written into them."""
    look = (
        "import pathlib, aiohttp.client, reprieve.cli as ours; "
        "print(*{pathlib.Path(each.__cached__).read_bytes()[4] for each in (ours, aiohttp.client)})"
    )
    flags = images("run", "--isolation", "chroot", container, "--", "python3", "-c", look).stdout.split()
    assert flags == ["1"]  # by hash, and it is not looked at again


def test_it_begins_as_a_controller(images, image):
    settings = images.settings(image)
    assert settings["User"] == "65532:65532"
    assert settings["Entrypoint"] == ["reprieve"]
    assert settings["Cmd"][0] == "run"


def test_nobody_can_install_or_change_anything_in_it(images, container):
    def run(*words: str) -> int:
        return images("run", "--isolation", "chroot", container, "--", *words, check=False).returncode

    assert run("python3", "-c", "import reprieve") == 0
    assert run("/opt/reprieve/bin/python3", "-m", "pip", "--version") != 0
    assert run("python3", "-c", "open('/opt/reprieve/bin/reprieve', 'a')") != 0


def test_base_and_packages_are_pinned():
    text = (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"^ARG BASE=\S+@sha256:[0-9a-f]{64}$", text, re.M)
    assert set(re.findall(r"^FROM (\S+)", text, re.M)) == {"${BASE}"}
    assert "--require-hashes" in text


def test_what_an_image_is_made_of_leaves_out_the_rest_of_the_tree():
    kept = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    copied = re.findall(
        r"^COPY (?!--from)(.+) \S+$", (ROOT / "deploy/Dockerfile").read_text(encoding="utf-8"), re.M
    )
    wanted = {name.rstrip("/") for line in copied for name in line.split()}
    assert {word.lstrip("!") for word in kept if word.startswith("!")} == wanted
