# SPDX-License-Identifier: Apache-2.0
"""Terminal pictures for the README: runs each command on a terminal of its own and draws what it shows as an SVG.

python docs/pictures/make.py [NAME ...]: all pictures, or only those named. Needs `make demo` to have run.
"""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COLUMNS, LINE, ADVANCE, MARGIN = 100, 17, 7.83, 14
INK, PAPER, FAINT = "#d8d8d2", "#22211f", "#8b8a84"
COLOURS = {31: "#e2725b", 32: "#8fbf6f", 33: "#e0b45c", 34: "#7aa6d8", 35: "#c08fc9", 36: "#6fbdb5"}
SEQUENCE = r"\x1b\[[0-9;?]*[A-Za-z]"
STYLE = f"font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:13px;fill:{INK};white-space:pre"

DIGITS = "models/digits/digits.onnx"
# Name, command as a reader would type it, first and last line of its output to draw.
PICTURES = [
    ("demo", "sardonyx demo", 0, 11),
    ("info", f"sardonyx info {DIGITS}", 0, 60),
    ("explain", f"sardonyx explain {DIGITS}", 0, 40),
    ("profile", f"sardonyx profile {DIGITS}", 0, 40),
]


def shown(command: str) -> list[str]:
    """What the command writes on a terminal of COLUMNS columns, colours and all."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    environment = {**os.environ, "PATH": f"{ROOT / 'build'}:{os.environ['PATH']}", "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    child = subprocess.Popen(
        command.split(), cwd=ROOT, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        text += piece
    os.close(ours)
    if child.wait() != 0:
        raise SystemExit(f"{command} ended with {child.returncode}:\n{text.decode()}")
    return text.decode().replace("\r\n", "\n").rstrip("\n").split("\n")


def spans(line: str) -> str:
    """One line as tspans: SGR sequences become colours, a carriage return starts the line again."""
    parts, style, column = [], {}, 0
    for token in re.split(f"({SEQUENCE})", line.split("\r")[-1]):
        if token.startswith("\x1b["):
            if token.endswith("m"):
                style = restyled(style, token[2:-1])
        elif token:
            look = "".join(f' {name}="{value}"' for name, value in style.items())
            x = MARGIN + column * ADVANCE
            parts.append(
                f'<tspan x="{x:.1f}" textLength="{len(token) * ADVANCE:.1f}"{look}>{escape(token)}</tspan>'
            )
            column += len(token)
    return "".join(parts)


def restyled(style: dict[str, str], codes: str) -> dict[str, str]:
    style = dict(style)
    for code in map(int, filter(None, codes.split(";") if codes else ["0"])):
        if code == 0:
            style.clear()
        elif code == 1:
            style["font-weight"] = "bold"
        elif code == 2:
            style["fill"] = FAINT
        elif code in COLOURS or code - 60 in COLOURS:
            style["fill"] = COLOURS.get(code, COLOURS.get(code - 60, INK))
    return style


def picture(command: str, lines: list[str]) -> str:
    lines = [f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m", "", *lines]
    columns = max(60, *(len(re.sub(SEQUENCE, "", line.split("\r")[-1])) for line in lines))
    width, height = columns * ADVANCE + 2 * MARGIN, len(lines) * LINE + 2 * MARGIN
    rows = [
        f'<text xml:space="preserve" y="{MARGIN + LINE * (i + 0.75):.1f}">{spans(line)}</text>'
        for i, line in enumerate(lines)
        if line
    ]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" style="{STYLE}">'
    )
    return "\n".join([head, f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>', *rows, "</svg>", ""])


def main() -> None:
    for name, command, first, last in PICTURES:
        if not sys.argv[1:] or name in sys.argv[1:]:
            (HERE / f"{name}.svg").write_text(picture(command, shown(command)[first:last]))


if __name__ == "__main__":
    main()
