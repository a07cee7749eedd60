/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine says of itself that bounds a program's I/O: dirty limits, memory, the memory
 * group. R-META-1 has the names. */
#ifndef WIO_RECORD_MACHINE_H
#define WIO_RECORD_MACHINE_H

#define WIO_MACHINE_TEXT 1024

/* Lines of NAME NUMBER; what cannot be read has none. */
void wio_machine_read(char text[WIO_MACHINE_TEXT]);

#endif
