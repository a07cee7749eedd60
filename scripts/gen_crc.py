#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the tables of CRC32C (src/base/crc.c) as a C header: for slicing by 8, and for runs of bytes side by side.

usage: gen_crc.py OUTPUT
"""
import sys

POLYNOMIAL = 0x82F63B78  # Castagnoli, reflected
LANE = 256  # bytes


def step(crc):
    """One zero byte through the register."""
    for _ in range(8):
        crc = crc >> 1 ^ (POLYNOMIAL if crc & 1 else 0)
    return crc


def tables():
    rows = [[step(byte) for byte in range(256)]]
    for _ in range(7):
        rows.append([value >> 8 ^ rows[0][value & 0xFF] for value in rows[-1]])
    return rows


def past_zeros():
    """[k][byte]: the register behind LANE zero bytes that had the byte as its k-th one; linear, so by single bits."""
    bits = []
    for bit in range(32):
        crc = 1 << bit
        for _ in range(LANE):
            crc = step(crc)
        bits.append(crc)
    rows = [[0] * 256 for _ in range(4)]
    for k in range(4):
        for byte in range(256):
            for bit in range(8):
                rows[k][byte] ^= bits[8 * k + bit] if byte >> bit & 1 else 0
    return rows


def write(out, name, rows):
    out.write(f"static const uint32_t {name}[{len(rows)}][256] = {{\n")
    for row in rows:
        out.write("{" + ",".join(f"0x{value:08x}u" for value in row) + "},\n")
    out.write("};\n")


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write("/* Made by scripts/gen_crc.py. */\n")
        write(out, "crc_table", tables())
        out.write(f"#if defined(__x86_64__)\nenum {{ CRC_LANE = {LANE} }};\n")
        write(out, "crc_past_lane", past_zeros())
        out.write("#endif\n")


if __name__ == "__main__":
    main()
