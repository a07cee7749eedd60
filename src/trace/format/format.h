/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers of docs/FORMAT.md sections 3 and 4 (segments), for its readers and writers.
 */
#ifndef WIO_TRACE_FORMAT_FORMAT_H
#define WIO_TRACE_FORMAT_FORMAT_H

#include <stdint.h>

/* FORMAT.md#segment */
#define WIO_SEGMENT_MAGIC "\x89WIOSEG\n"
#define WIO_SEGMENT_VERSION 1u
#define WIO_SEGMENT_HEADER_BYTES 80u
#define WIO_SEGMENT_TRAILER_BYTES 24u
#define WIO_SEGMENT_TRAILER_MAGIC 0x444e4557u /* "WEND" */
#define WIO_BOOT_ID_BYTES 40u

/* FORMAT.md#block */
#define WIO_BLOCK_MAGIC 0x4b4c4257u /* "WBLK" */
#define WIO_BLOCK_HEAD_BYTES 24u
#define WIO_BLOCK_ZSTD 1u
#define WIO_BLOCK_MAX_BYTES (64u << 20)

enum wio_block_kind {
    WIO_BLOCK_META = 1,
    WIO_BLOCK_STRINGS = 2,
    WIO_BLOCK_CALLS = 3,
    WIO_BLOCK_SOURCES = 4,
    WIO_BLOCK_PROCESSES = 5,
    WIO_BLOCK_STREAMS = 6,
    WIO_BLOCK_FILES = 7,
    WIO_BLOCK_EVENTS = 8,
    WIO_BLOCK_INDEX = 9,
    /* FORMAT.md#transactions */
    WIO_BLOCK_TXN_ROWS = 16,
    WIO_BLOCK_TXN_SERVERS = 17,
    WIO_BLOCK_TXN_ORIGINS = 18,
    WIO_BLOCK_TXN_FILES = 19,
    /* FORMAT.md#edges */
    WIO_BLOCK_EDGES_META = 32,
    WIO_BLOCK_OBJECTS = 33,
    WIO_BLOCK_EDGES_IN = 34,
    WIO_BLOCK_EDGES_OUT = 35,
    WIO_BLOCK_MEMBERS = 36,
    WIO_BLOCK_COLLECTIVES = 37,
    WIO_BLOCK_WAITS = 38,
    WIO_BLOCK_CLOCKS = 39,
    WIO_BLOCK_EDGES_INDEX = 40,
};

/* FORMAT.md#edges */
#define WIO_EDGES_NAME "trace.edges"
#define WIO_HELD_NAME "trace.held"
#define WIO_EDGES_MAGIC "\x89WIOEDG\n"
#define WIO_EDGES_ROWS_MAX 4096u /* in a block */

enum wio_edges_meta {
    WIO_EDGES_META_SEGMENTS = 1,
    WIO_EDGES_META_SENDS = 2, /* that met no receive; decimal */
    WIO_EDGES_META_RECEIVES = 3,
    WIO_EDGES_META_READ_BYTES = 4,
    WIO_EDGES_META_COLLECTIVES = 5,
    WIO_EDGES_META_NOTES = 6,  /* lines for a person */
    WIO_EDGES_META_TOTALS = 7, /* decimals, separated by blanks */
    WIO_EDGES_META_HELD = 8,   /* length and checksum of trace.held */
    WIO_EDGES_META_MARKS =
        9, /* lines: name, length, checksum and number of streams of each segment */
    WIO_EDGES_META_ONLY = 10, /* of trace.held, "1": nothing is taken from what was observed */
};

/* FORMAT.md#processes */
enum wio_process_tag {
    WIO_PROCESS_PID = 1,
    WIO_PROCESS_PPID = 2,
    WIO_PROCESS_RANK = 3,
    WIO_PROCESS_RANKS = 4,
    WIO_PROCESS_START = 5,
    WIO_PROCESS_END_NS = 6,
    WIO_PROCESS_HOST = 7,
    WIO_PROCESS_JOB = 8,
    WIO_PROCESS_EXE = 9,
    WIO_PROCESS_ARGV = 10,
    WIO_PROCESS_CWD = 11,
    WIO_PROCESS_PARENT = 12,
    WIO_PROCESS_END = 13,
    WIO_PROCESS_END_STATUS = 14,
    WIO_PROCESS_DROPPED = 15,
    WIO_PROCESS_UNSEEN = 16, /* + kind */
    WIO_PROCESS_EXPECTED = 256,
    WIO_PROCESS_EVICTED = 257,
    WIO_PROCESS_OPENED = 258,
};
#define WIO_UNSEEN_MAX 64u

/* FORMAT.md#events */
#define WIO_EVENTS_MAX 16384u      /* events in a block that a reader accepts */
#define WIO_EVENTS_PER_BLOCK 4096u /* that our writer makes */
#define WIO_SLOT_COUNT 64u         /* predictor slots */
#define WIO_INDEX_PATHS_MAX 256u   /* paths listed per block */

enum wio_column_id {
    WIO_COL_CALL = 1,
    WIO_COL_SHAPE = 2,
    WIO_COL_GAP = 3,
    WIO_COL_DURATION = 4,
    WIO_COL_FD = 5,
    WIO_COL_PATH = 6,
    WIO_COL_OFFSET = 7,
    WIO_COL_SIZE = 8,
    WIO_COL_RESULT = 9,
    WIO_COL_ERROR = 10,
    WIO_COL_SOURCE = 11,
    WIO_COL_FLAGS = 12,
    WIO_COL_PATH2 = 13,
    WIO_COL_FD2 = 14,
    WIO_COL_OFFSET2 = 15,
    WIO_COL_ARG0 = 16,
    WIO_COL_ARG1 = 17,
    WIO_COL_ARG2 = 18,
    WIO_COL_ARG3 = 19,
    WIO_COL_GAP_CPU = 20,
    WIO_COL_DUR_CPU = 21,
    WIO_COL_COUNT = 22,
};

enum wio_shape {
    WIO_SHAPE_FD = 1 << 0,
    WIO_SHAPE_OFFSET = 1 << 1,
    WIO_SHAPE_SIZE = 1 << 2,
    WIO_SHAPE_RESULT_MASK = 3 << 3,
    WIO_SHAPE_RESULT_SIZE = 0 << 3,    /* result = size, or 0 where there is none */
    WIO_SHAPE_RESULT_VALUE = 1 << 3,   /* in column RESULT */
    WIO_SHAPE_RESULT_PENDING = 2 << 3, /* WIO_RESULT_PENDING */
    WIO_SHAPE_RESULT_FAILED = 3 << 3,  /* -1 */
    WIO_SHAPE_ERROR = 1 << 5,
    WIO_SHAPE_SECOND = 1 << 6, /* path2, fd2 or offset2 is not none */
    WIO_SHAPE_ARGS = 1 << 7,   /* an arg is not 0 */
};

enum wio_encoding {
    WIO_ENCODING_CONST = 0,
    WIO_ENCODING_VARINT = 1,
    WIO_ENCODING_PLANES = 2,
    WIO_ENCODING_RUNS = 3,
    WIO_ENCODING_COUNT = 4,
};
#define WIO_ENCODING_ZSTD 0x80u

#endif
