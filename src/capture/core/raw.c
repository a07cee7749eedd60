/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/core/raw.h"

bool cap_is_confined;
