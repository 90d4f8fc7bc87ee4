"""What the site needs beyond Markdown (mkdocs.yml). Formulas become MathML while it is built: browsers draw it without a script and without the
network. Examples that pages link to are files of the site. Search works from a folder, without the network."""

import html
import pathlib
import re

import latex2mathml.converter
from mkdocs.structure.files import File

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
EXAMPLE = re.compile(r"\]\((?:\.\./)+(examples/[\w./-]+\.\w+)\)")
ROOT = pathlib.Path(__file__).resolve().parents[1]


def on_files(files, config):
    linked = {place for page in pathlib.Path(config.docs_dir).rglob("*.md") for place in EXAMPLE.findall(page.read_text())}
    for place in sorted(linked):
        files.append(File.generated(config, place, abs_src_path=str(ROOT / place)))
    # scripts/docs writes them afterwards.
    for place in ("api/index.html", "certify.html"):
        files.append(File.generated(config, place, content="<!DOCTYPE html><title>Surefoot</title>"))
    return files


def on_page_markdown(markdown, page, **_):
    up = "../" * page.file.src_uri.count("/")
    return EXAMPLE.sub(lambda place: f"]({up}{place[1]})", markdown)


def on_page_content(content, **_):
    def typeset(place):
        return latex2mathml.converter.convert(html.unescape(place[3]).strip(), display="block" if place[2] == "[" else "inline")

    return FORMULA.sub(typeset, content)


def on_post_page(output, page, **_):
    up = "../" * page.url.count("/")
    return output.replace("https://unpkg.com/iframe-worker/shim", f"{up}file_worker.js")
