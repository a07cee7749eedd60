/* SPDX-License-Identifier: Apache-2.0 */
/* A server and a client of store/link in a simulation, and what was said between them. */
#ifndef WIO_TESTS_STORE_LINK_SCENE_H
#define WIO_TESTS_STORE_LINK_SCENE_H

#include "base/buf.h"
#include "sim/sim.h"
#include "store/link/server.h"

#define SCENE_SERVER "unix:server"

struct scene {
    struct wio_sim *sim;
    struct wio_io *server_io;
    struct wio_io *client_io;
    struct wio_link_config server_config;
    struct wio_link_config client_config;
    struct wio_link_server *server;
    struct wio_link *client;
    struct wio_link *served; /* the server's end; NULL: none is open */
    struct wio_wire_welcome welcome;
    struct wio_wire_hello known; /* the client, as the server has it */
    struct wio_blob came[2];     /* data of messages at the server, at the client */
    unsigned messages[2];
    uint64_t transfer_ns[2]; /* of the last message */
    unsigned opened[2];
    unsigned closed[2];
    enum wio_link_end why[2];
    bool refuses;  /* to admit */
    bool is_quiet; /* the server answers nothing; else it sends all data back */
};

/* Both open, with default limits; change the configurations before scene_listen. */
void scene_begin(struct scene *scene, uint64_t seed);
void scene_with_key(struct scene *scene);
void scene_listen(struct scene *scene);
void scene_connect(struct scene *scene);
void scene_end(struct scene *scene);

/* Until no more than `ns` of virtual time have passed. */
void scene_run(struct scene *scene, uint64_t ns);
/* A WRITE with that data. */
enum wio_status scene_send(struct scene *scene, const void *data, uint32_t bytes);
uint64_t scene_ends(const struct scene *scene, enum wio_link_end why);

/* A connection that says what it is told to, and hears all. */
struct stranger {
    struct wio_io *io;
    struct wio_io_conn *conn;
    const void *says;
    size_t bytes;
    struct wio_blob heard;
    uint8_t room[4096];
    bool is_closed;
};
void scene_stranger(struct scene *scene, struct stranger *stranger, const void *says, size_t bytes);
void stranger_end(struct stranger *stranger);

#endif
