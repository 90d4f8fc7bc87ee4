"""Examples in docstrings (>>> ...) become blocks of code in the reference of the Python package (mkdocs.yml)."""

import re

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


class DoctestFences(griffe.Extension):
    def on_object(self, *, obj, **_):
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(lambda example: f"\n```pycon\n{example[0]}\n```\n", obj.docstring.value)
