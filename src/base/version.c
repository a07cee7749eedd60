/* SPDX-License-Identifier: Apache-2.0 */
#include <whyio/version.h>

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

const char *wio_version(void)
{
    return TEXT(WIO_VERSION_MAJOR) "." TEXT(WIO_VERSION_MINOR) "." TEXT(WIO_VERSION_PATCH);
}
