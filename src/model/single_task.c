/* SPDX-License-Identifier: Apache-2.0 */
#include "model/single_task.h"

#include <math.h>

#include "base/cleanup.h"
#include "model/model_internal.h"

#define ROOM_FIRST 16

void wio_single_task_fini(struct wio_model *model)
{
    model->alloc.put(model->alloc.context, model->serial.waiting);
    model->serial = (struct wio_single_task){0};
}

static struct wio_model_done *at(const struct wio_single_task *serial, size_t place)
{
    return &serial->waiting[(serial->head + place) & (serial->room - 1)];
}

static enum wio_status make_room(struct wio_model *model)
{
    struct wio_single_task *serial = &model->serial;
    if (serial->count < serial->room) {
        return WIO_OK;
    }
    size_t room = serial->room > 0 ? serial->room * 2 : ROOM_FIRST;
    struct wio_model_done *waiting =
        model->alloc.get(model->alloc.context, room * sizeof(*waiting));
    if (waiting == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (size_t i = 0; i < serial->count; i++) {
        waiting[i] = *at(serial, i);
    }
    model->alloc.put(model->alloc.context, serial->waiting);
    serial->waiting = waiting;
    serial->room = room;
    serial->head = 0;
    return WIO_OK;
}

enum wio_status wio_single_task_begin(struct wio_model *model, uint32_t task,
                                      const struct wio_model_op *op)
{
    struct wio_single_task *serial = &model->serial;
    struct wio_model_op now = *op;
    for (size_t i = 0; i < serial->count; i++) {
        if (at(serial, i)->task == task) {
            return WIO_ERR_USAGE;
        }
    }
    WIO_TRY(make_room(model));
    struct wio_model_done *done = at(serial, serial->count);
    *done = (struct wio_model_done){.task = task, .result = {.state = WIO_MODEL_STATE_NONE}};
    double start_s = fmax(serial->time_s, serial->free_s);
    now.delay_s = start_s - serial->free_s;
    WIO_TRY(model->class->step(model, &now, &done->result));
    serial->free_s = start_s + done->result.cost_s;
    done->result.cost_s = serial->free_s - serial->time_s;
    done->result.time_s = serial->free_s;
    serial->count++;
    return WIO_OK;
}

enum wio_status wio_single_task_run(struct wio_model *model, double until_s,
                                    struct wio_model_done *done)
{
    struct wio_single_task *serial = &model->serial;
    if (serial->count == 0 || at(serial, 0)->result.time_s > until_s) {
        serial->time_s = until_s < HUGE_VAL ? fmax(serial->time_s, until_s) : serial->time_s;
        return WIO_END;
    }
    *done = *at(serial, 0);
    serial->head = (serial->head + 1) & (serial->room - 1);
    serial->count--;
    serial->time_s = fmax(serial->time_s, done->result.time_s);
    return WIO_OK;
}

double wio_single_task_next(const struct wio_model *model)
{
    return model->serial.count == 0 ? HUGE_VAL : at(&model->serial, 0)->result.time_s;
}
