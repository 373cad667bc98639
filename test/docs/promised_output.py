"""The output that a shell block of a document promises: `command   # OUTPUT`, with ", " between lines; a final "..." stands
for the rest."""

import re


def promised_in(block):
    return re.findall(r"[^ ] +# (.*)$", block, re.MULTILINE)


def assert_promised(case, block, printed):
    """What the block promises is in its output, in the same order."""
    rest = ", ".join(printed.splitlines())
    for text in promised_in(block):
        text = text.removesuffix("...")
        case.assertIn(text, rest, f"after{block}")
        rest = rest[rest.index(text) + len(text) :]
