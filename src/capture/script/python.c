/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/script/python.h"

#include <dlfcn.h>
#include <string.h>

#include "capture/core/process.h"

/* Offsets of 64-bit builds. */
struct python_layout {
    uint8_t minor;        /* of version 3 */
    uint8_t thread_frame; /* in a thread's state: the frame, or what has it .. */
    int8_t inner_frame;   /* .. at this offset; -1: the frame itself */
    uint8_t frame_code;
    uint8_t frame_back;
    uint8_t frame_instruction;
    uint8_t index_bytes; /* 0: the instruction is an address; else an index of units of so many */
    uint8_t code_start;  /* in the code object: the first instruction */
    uint8_t code_line;
    uint8_t code_file;
    uint8_t code_name;
    uint8_t text_data; /* behind the head of a text of ASCII characters */
};

static const struct python_layout layouts[] = {
    {8, 24, -1, 32, 24, 104, 1, 0, 40, 104, 112, 48},
    {9, 24, -1, 32, 24, 104, 1, 0, 40, 104, 112, 48},
    {10, 24, -1, 32, 24, 96, 2, 0, 40, 104, 112, 48},
    {11, 56, 8, 32, 48, 56, 0, 184, 72, 112, 120, 48},
    {12, 56, 0, 0, 8, 56, 0, 192, 68, 112, 120, 40},
    {13, 72, -1, 0, 8, 56, 0, 200, 68, 112, 120, 40},
};

enum {
    OBJECT_TYPE = 8,
    TEXT_LENGTH = 16,
    TEXT_STATE = 32,
    TEXT_IS_COMPACT_ASCII = 0x60, /* of the state: bits `compact` and `ascii` */
    TEXT_MAX = 4096,
};

static struct {
    int (*is_alive)(void);                             /* Py_IsInitialized */
    const uint8_t *(*thread_state)(void);              /* PyGILState_GetThisThreadState */
    int (*line_of)(const uint8_t *code, int bytes_in); /* PyCode_Addr2Line */
    const uint8_t *code_type;                          /* PyCode_Type */
    const struct python_layout *layout;                /* NULL: no known version. Set last */
} python;

static const uint8_t *pointer_at(const uint8_t *object, unsigned offset)
{
    const uint8_t *value;
    memcpy(&value, object + offset, sizeof(value));
    return value;
}

static const struct python_layout *layout_of(const char *version)
{
    if (version == NULL || strncmp(version, "3.", 2) != 0) {
        return NULL;
    }
    unsigned minor = 0;
    for (version += 2; *version >= '0' && *version <= '9' && minor < 100; version++) {
        minor = 10 * minor + (unsigned)(*version - '0');
    }
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        if (layouts[i].minor == minor) {
            return &layouts[i];
        }
    }
    return NULL;
}

static bool find_symbol(const char *name, void *symbol_out)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(symbol_out, &found, sizeof(found));
    return found != NULL;
}

bool cap_python_find(void)
{
    const char *(*version)(void);
    const uint8_t *(*thread_state)(void);
    int (*is_alive)(void);
    int (*line_of)(const uint8_t *, int);
    const uint8_t *code_type;
    if (sizeof(void *) != 8 || !find_symbol("Py_GetVersion", &version) ||
        !find_symbol("Py_IsInitialized", &is_alive) ||
        !find_symbol("PyGILState_GetThisThreadState", &thread_state) ||
        !find_symbol("PyCode_Addr2Line", &line_of) || !find_symbol("PyCode_Type", &code_type)) {
        return false;
    }
    python.is_alive = is_alive;
    python.thread_state = thread_state;
    python.line_of = line_of;
    python.code_type = code_type;
    __atomic_store_n(&python.layout, layout_of(version()), __ATOMIC_RELEASE);
    return python.layout != NULL;
}

static const uint8_t *innermost(const struct python_layout *layout)
{
    /* Its end frees the states of other threads, which still find theirs. */
    const uint8_t *thread = python.is_alive() != 0 ? python.thread_state() : NULL;
    if (thread == NULL) {
        return NULL;
    }
    const uint8_t *frame = pointer_at(thread, layout->thread_frame);
    return frame != NULL && layout->inner_frame >= 0
               ? pointer_at(frame, (unsigned)layout->inner_frame)
               : frame;
}

/* Frames by which the interpreter calls itself have no code, or another object in its place. */
static bool is_code(const uint8_t *object)
{
    return object != NULL && ((uintptr_t)object & 7) == 0 &&
           pointer_at(object, OBJECT_TYPE) == python.code_type;
}

unsigned cap_python_frames(struct cap_python_frame *frames, unsigned max)
{
    const struct python_layout *layout = __atomic_load_n(&python.layout, __ATOMIC_ACQUIRE);
    const uint8_t *frame = layout != NULL ? innermost(layout) : NULL;
    unsigned count = 0;
    for (unsigned i = 0; i < 2 * max && frame != NULL && count < max; i++) {
        const uint8_t *code = pointer_at(frame, layout->frame_code);
        if (is_code(code)) {
            const uint8_t *at = pointer_at(frame, layout->frame_instruction);
            uint32_t first_line;
            memcpy(&first_line, code + layout->code_line, sizeof(first_line));
            frames[count++] = (struct cap_python_frame){
                .code = code,
                .instruction =
                    layout->index_bytes == 0 ? at : (const uint8_t *)((uintptr_t)at & UINT32_MAX),
                .file = pointer_at(code, layout->code_file),
                .name = pointer_at(code, layout->code_name),
                .first_line = first_line};
        }
        frame = pointer_at(frame, layout->frame_back);
    }
    return count;
}

unsigned cap_python_line(const struct cap_python_frame *frame)
{
    const struct python_layout *layout = python.layout;
    intptr_t in = layout->index_bytes == 0
                      ? frame->instruction - (frame->code + layout->code_start)
                      : (intptr_t)(int32_t)(uintptr_t)frame->instruction * layout->index_bytes;
    int line = in >= 0 && in < INT32_MAX ? python.line_of(frame->code, (int)in) : 0;
    return line > 0 ? (unsigned)line : 0;
}

static struct cap_python_text text_of(const uint8_t *object)
{
    struct cap_python_text text = {0};
    if (object == NULL || (object[TEXT_STATE] & TEXT_IS_COMPACT_ASCII) != TEXT_IS_COMPACT_ASCII) {
        return text;
    }
    memcpy(&text.bytes, object + TEXT_LENGTH, sizeof(text.bytes));
    if (text.bytes > 0 && text.bytes < TEXT_MAX) {
        text.data = (const char *)object + python.layout->text_data;
    }
    return text;
}

struct cap_python_text cap_python_file(const struct cap_python_frame *frame)
{
    return text_of(frame->file);
}

struct cap_python_text cap_python_function(const struct cap_python_frame *frame)
{
    return text_of(frame->name);
}
