# SPDX-License-Identifier: Apache-2.0
"""The files of examples/activation as they are installed, with other paths."""

import os

DIRECTORY = os.path.join(os.environ["WHYIO_SOURCE"], "examples", "activation")


def install(name, place, library="", base="/tmp"):
    """Write the file into `place`; its path. Every path in it is one of the test's own."""
    with open(os.path.join(DIRECTORY, name + ".in"), encoding="ascii") as file:
        text = file.read()
    text = text.replace("@LIBRARY@", library).replace("@WHYIO@", os.environ["WHYIO"])
    assert "@" not in text.replace('"$@"', ""), name
    if name.endswith(".sh"):
        assert text.count("\nbase=/tmp ") == 1, name
        text = text.replace("\nbase=/tmp ", f"\nbase={base} ")
    path = os.path.join(place, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(path, 0o755)
    return path
