/* SPDX-License-Identifier: Apache-2.0 */
/* The limit that the system says of the device below a directory: `told_limit DIR`. */
#include <stdio.h>

#include "calibrate/system/device.h"

int main(int argc, char **argv)
{
    struct wio_calibration calibration = wio_calibration_unknown();
    struct wio_error err = WIO_ERROR_INIT;
    if (argc != 2 || wio_device_describe(argv[1], &calibration, &err) != WIO_OK) {
        return 1;
    }
    return printf("%.0f\n", calibration.rate_limit) < 0 ? 1 : 0;
}
