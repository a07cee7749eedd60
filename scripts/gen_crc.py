#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the tables of CRC32C for slicing by 8 (src/base/crc.c) as a C header.

usage: gen_crc.py OUTPUT
"""
import sys

POLYNOMIAL = 0x82F63B78  # Castagnoli, reflected


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


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        out.write("/* Made by scripts/gen_crc.py. */\n")
        out.write("static const uint32_t crc_table[8][256] = {\n")
        for row in tables():
            out.write("{" + ",".join(f"0x{value:08x}u" for value in row) + "},\n")
        out.write("};\n")


if __name__ == "__main__":
    main()
