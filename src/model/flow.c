/* SPDX-License-Identifier: Apache-2.0 */
/* Which way the bytes of an operation go. */
#include "model/model.h"

enum wio_model_flow wio_model_flow(enum wio_model_method method)
{
    switch (method) {
    case WIO_MODEL_READ:
    case WIO_MODEL_READ_DIRECT:
        return WIO_MODEL_MOVES_IN;
    case WIO_MODEL_WRITE:
    case WIO_MODEL_DIRECT:
    case WIO_MODEL_DIRECT_NOSYNC:
    case WIO_MODEL_SYNC:
    case WIO_MODEL_FWRITE:
        return WIO_MODEL_MOVES_OUT;
    case WIO_MODEL_FFLUSH:
    case WIO_MODEL_FSYNC:
    case WIO_MODEL_FDATASYNC:
    case WIO_MODEL_TRUNCATE:
    case WIO_MODEL_SYNCFS:
    case WIO_MODEL_WRITE_OUT:
    case WIO_MODEL_FORGET:
    case WIO_MODEL_METHOD_COUNT:
        break;
    }
    return WIO_MODEL_MOVES_NOTHING;
}
