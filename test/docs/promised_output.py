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


def assert_python_promised(test, block, output):
    """Each print() of a block has what it prints beside it, from its beginning."""
    printed = output.splitlines()
    promised = [line.split("# ")[1] for line in block.splitlines() if line.lstrip().startswith("print(")]
    test.assertEqual(len(printed), len(promised), f"{block}{output}")
    for got, promise in zip(printed, promised):
        test.assertRegex(promise, f"^{re.escape(got)}($|[:,] )")
