"""Writes the outlines of the fonts in crates/robust-td-report/fonts into the files that the report crate embeds.

    pip install fonttools
    python scripts/outlines.py

A file has, little-endian: the units per em (u16), the number of characters (u16), per character, in increasing order, its code (u32),
its advance (u16) and the end of its outline (u32), then the outlines. Character 0 is the box for those that are missing. An outline is
a sequence of letters, each with its points: m (1), l (1), c (3), z (0). A point is x and y relative to the point before, or to the origin,
as zigzag integers of seven bits per byte, the low ones first.
"""

import pathlib
import struct

from fontTools.pens.recordingPen import RecordingPen
from fontTools.ttLib import TTFont

LETTERS = {"moveTo": b"m", "lineTo": b"l", "curveTo": b"c", "closePath": b"z"}


def number(value):
    assert value == int(value)
    rest, data = (int(value) << 1) ^ (int(value) >> 31), b""
    while rest > 127:
        data += bytes([rest & 127 | 128])
        rest >>= 7
    return data + bytes([rest])


def outline(glyph):
    pen = RecordingPen()
    glyph.draw(pen)
    data, (last_x, last_y) = b"", (0, 0)
    for name, points in pen.value:
        data += LETTERS[name]
        for x, y in points:
            data += number(x - last_x) + number(y - last_y)
            last_x, last_y = x, y
    return data


def convert(font):
    glyphs, names = font.getGlyphSet(), {0: font.getGlyphOrder()[0], **font.getBestCmap()}
    head, data = b"", b""
    for code in sorted(names):
        data += outline(glyphs[names[code]])
        head += struct.pack("<IHI", code, font["hmtx"][names[code]][0], len(data))
    return struct.pack("<HH", font["head"].unitsPerEm, len(names)) + head + data


if __name__ == "__main__":
    folder = pathlib.Path(__file__).parent.parent / "crates/robust-td-report/fonts"
    for path in sorted(folder.glob("*.otf")):
        path.with_suffix(".outlines").write_bytes(convert(TTFont(path)))
