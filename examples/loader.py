#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A data loader, as machine learning has them: forked workers read small files in random order.

The parent makes a data set of many small samples, then for each epoch shuffles it and hands
batches to its workers (fork), which open, read and close one file per sample and send back a
sum. The order is shuffled but always the same, so every run prints the same line.

    python3 loader.py --dir=/scratch --samples=200 --workers=3 --epochs=2
"""
import argparse
import multiprocessing
import os
import random
import zlib


def sample_path(directory, number):
    return os.path.join(directory, f"sample-{number % 10}", f"{number:05d}.bin")


def make_data_set(directory, samples, size):
    for number in range(samples):
        path = sample_path(directory, number)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(random.Random(number).randbytes(size))


def load_batch(paths):
    """What a worker does: read each sample of a batch, return one sum over all of them."""
    total = 0
    for path in paths:
        with open(path, "rb") as file:
            total = zlib.crc32(file.read(), total)
    return total


def batches(directory, samples, batch, epoch):
    order = list(range(samples))
    random.Random(epoch).shuffle(order)
    for start in range(0, samples, batch):
        yield [sample_path(directory, number) for number in order[start:start + batch]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", default="loader.data", help="where the samples are made")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--size", type=int, default=6000, help="bytes of one sample")
    parser.add_argument("--batch", type=int, default=16, help="samples of one batch")
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()

    make_data_set(options.dir, options.samples, options.size)
    with multiprocessing.get_context("fork").Pool(options.workers) as pool:
        for epoch in range(options.epochs):
            work = batches(options.dir, options.samples, options.batch, epoch)
            sums = pool.imap(load_batch, work)
            print(f"epoch {epoch}: {zlib.crc32(repr(list(sums)).encode()):08x}", flush=True)
        pool.close()
        pool.join()


if __name__ == "__main__":
    main()
