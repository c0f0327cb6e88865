#!/usr/bin/env python3
"""How much of a part of a picture is black, in percent: black.py FILE.png X Y WIDTH HEIGHT. Nothing but the standard library is needed."""

import struct
import sys
import zlib

# No ground, no button and no shadow on grass is as dark as this in all three colours.
BLACK = 0x20
IS_DARK = bytes(value < BLACK for value in range(256))


def unfiltered(how, row, above):
    """One colour of a row, from what the file has of it and from the row above. (Pixel by pixel with all colours it took seven times as long.)"""
    if how == 0:
        return row
    if how == 2:
        return bytes((value + up) & 0xFF for value, up in zip(row, above))
    left = corner = 0
    out = bytearray()
    for value, up in zip(row, above):
        if how == 1:
            guess = left
        elif how == 3:
            guess = (left + up) // 2
        else:
            # How far the guess left + up - corner is from each of them.
            across, down = abs(up - corner), abs(left - corner)
            both = abs(left + up - 2 * corner)
            guess = left if across <= down and across <= both else up if down <= both else corner
        left, corner = (value + guess) & 0xFF, up
        out.append(left)
    return out


def rows(path):
    """The rows of a picture with four bytes for each pixel: red, green and blue apart."""
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
    above = [bytes(width)] * 3
    for start in range(0, height * (step + 1), step + 1):
        row = raw[start + 1 : start + 1 + step]
        above = [unfiltered(raw[start], row[colour::4], above[colour]) for colour in range(3)]
        yield above


def main(path, left, top, width, height):
    seen = dark = 0
    for y, row in enumerate(rows(path)):
        if top <= y < top + height:
            part = [bytes(colour[left : left + width]).translate(IS_DARK) for colour in row]
            red, green, blue = (int.from_bytes(colour, "big") for colour in part)
            seen += len(part[0])
            dark += bin(red & green & blue).count("1")
    print(round(100 * dark / seen, 1))


main(sys.argv[1], *map(int, sys.argv[2:6]))
