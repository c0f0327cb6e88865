#!/usr/bin/env python3
"""How much of a part of a picture is black, in percent: black.py FILE.png X Y WIDTH HEIGHT. Nothing but the standard library is needed."""

import struct
import sys
import zlib

# No ground, no button and no shadow on grass is as dark as this in all three colours.
BLACK = 0x20


def rows(path):
    """The rows of a picture with four bytes for each pixel."""
    data = open(path, "rb").read()
    at, packed, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            size = struct.unpack(">IIBB", body[:10])
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    width, height, depth, colour = size
    assert (depth, colour) == (8, 6), f"{path}: not the kind of picture that the program saves"
    raw, step = zlib.decompress(packed), 4 * width
    above = bytearray(step)
    for y in range(height):
        start = y * (step + 1)
        how, row = raw[start], bytearray(raw[start + 1 : start + 1 + step])
        for x in range(step) if how else ():
            left, up = row[x - 4] if x > 3 else 0, above[x]
            corner = above[x - 4] if x > 3 else 0
            if how == 4:
                guess = left + up - corner
                away = [abs(guess - one) for one in (left, up, corner)]
                predicted = (left, up, corner)[away.index(min(away))]
            else:
                predicted = (0, left, up, (left + up) // 2)[how]
            row[x] = (row[x] + predicted) & 0xFF
        above = row
        yield row


def main(path, left, top, width, height):
    seen = dark = 0
    for y, row in enumerate(rows(path)):
        if top <= y < top + height:
            part = row[4 * left : 4 * (left + width)]
            pixels = list(zip(part[0::4], part[1::4], part[2::4]))
            seen += len(pixels)
            dark += sum(max(pixel) < BLACK for pixel in pixels)
    print(round(100 * dark / seen, 1))


main(sys.argv[1], *map(int, sys.argv[2:6]))
